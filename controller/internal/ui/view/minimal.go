package view

import (
	"strings"

	"hark/agent/wire"
	"hark/modules/py/value"
)

// minimal is what ad-hoc commands print: a line for each host, and the output of commands as it is.
type minimal struct {
	Silent
	o    Options
	d    *Display
	dump dumper
}

func newMinimal(o Options) (View, error) {
	return &minimal{o: o, d: o.Display, dump: o.dumper()}, nil
}

func (v *minimal) Done(r Result) {
	s := prepare(r)
	switch s.Outcome.Status {
	case wire.StatusFailed:
		v.failed(s)
	case wire.StatusUnreachable:
		v.d.Print(ColorUnreachable, s.Host+" | UNREACHABLE! => "+v.dump.dump(s, 4))
	case wire.Skipped:
		v.d.Print(ColorSkip, s.Host+" | SKIPPED")
	default:
		v.ok(s)
	}
}

// ItemDone shows what an item changed in files; all else comes with the whole result.
func (v *minimal) ItemDone(r Result) {
	s := prepare(r)
	if s.Outcome.Status == wire.OK || s.Outcome.Status == wire.Changed {
		v.diff(s)
	}
}

func (v *minimal) diff(s shown) {
	if diff, _ := s.res.Get("diff"); s.Task.Diff && value.IsTrue(diff) {
		v.d.Print(NoColor, differ{v.d, v.o.DiffContext, v.dump.diffText}.text(diff))
	}
}

func (v *minimal) failed(s shown) {
	v.d.failure(s, v.o)
	v.d.exception(s, ColorError, false)
	v.warnings(s)
	if _, broke := s.res.Get("module_stderr"); noJSON(s.Task.Action) && !broke {
		v.d.Print(ColorError, commandOutput(s, "FAILED"))
		return
	}
	v.d.Print(ColorError, s.Host+" | FAILED! => "+v.dump.dump(s, 4))
}

func (v *minimal) warnings(s shown) {
	if !v.o.QuietResults {
		v.d.resultWarnings(s.res)
	}
}

func (v *minimal) ok(s shown) {
	v.diff(s)
	s.cleanDebug(v.o.Origin != nil)
	v.warnings(s)
	state, color := successState(s)
	if _, job := s.res.Get("ansible_job_id"); noJSON(s.Task.Action) && !job {
		v.d.Print(color, commandOutput(s, state))
		return
	}
	v.d.Print(color, s.Host+" | "+state+" => "+v.dump.dump(s, 4))
}

func successState(s shown) (string, Color) {
	if s.res.True("changed") {
		return "CHANGED", ColorChanged
	}
	return "SUCCESS", ColorOK
}

// noJSON reports whether people want to read the output of an action rather than its result.
func noJSON(action string) bool {
	name := action[strings.LastIndex(action, ".")+1:]
	prefix := strings.TrimSuffix(action, name)
	switch name {
	case "command", "shell", "raw":
		return prefix == "" || prefix == "ansible.builtin." || prefix == "ansible.legacy."
	case "win_command", "win_shell":
		return prefix == "" || prefix == "ansible.builtin." || prefix == "ansible.legacy." || prefix == "ansible.windows."
	}
	return false
}

// commandOutput returns the output of a command below a line that says how it ended.
func commandOutput(s shown, caption string) string {
	return s.Host + " | " + caption + " | rc=" + exitStatus(s.res) + " >>\n" +
		textOf(s.res, "stdout") + textOf(s.res, "stderr") + textOf(s.res, "msg") + "\n"
}

func exitStatus(res *value.Dict) string {
	rc, ok := res.Get("rc")
	if !ok {
		return "-1"
	}
	return pyText(rc)
}

// oneline is minimal with one line for each host.
type oneline struct {
	Silent
	d    *Display
	dump dumper
}

func newOneline(o Options) (View, error) {
	return &oneline{d: o.Display, dump: o.dumper()}, nil
}

func (v *oneline) Done(r Result) {
	s := prepare(r)
	switch s.Outcome.Status {
	case wire.StatusFailed:
		v.failed(s)
	case wire.StatusUnreachable:
		v.d.Print(ColorUnreachable, s.Host+" | UNREACHABLE!: "+textOf(s.res, "msg"))
	case wire.Skipped:
		v.d.Print(ColorSkip, s.Host+" | SKIPPED")
	default:
		v.ok(s)
	}
}

func (v *oneline) failed(s shown) {
	if _, ok := s.res.Get("exception"); ok {
		if _, broke := s.res.Get("module_stderr"); noJSON(s.Task.Action) && !broke {
			v.d.Print(ColorError, commandLine(s, "FAILED"))
		} else {
			v.exception(s)
		}
	}
	v.d.Print(ColorError, s.Host+" | FAILED! => "+v.line(s))
}

func (v *oneline) exception(s shown) {
	trace := textOf(s.res, "exception")
	if v.d.Verbosity() < 3 {
		v.d.Print(ColorError, exceptionText+"To see the full traceback, use -vvv. The error was: "+lastLine(trace))
		return
	}
	v.d.Print(ColorError, exceptionText+"The full traceback is:\n"+strings.ReplaceAll(trace, "\n", ""))
}

func (v *oneline) ok(s shown) {
	state, color := successState(s)
	if _, job := s.res.Get("ansible_job_id"); noJSON(s.Task.Action) && !job {
		v.d.Print(color, commandLine(s, state))
		return
	}
	v.d.Print(color, s.Host+" | "+state+" => "+v.line(s))
}

func (v *oneline) line(s shown) string { return strings.ReplaceAll(v.dump.dump(s, 0), "\n", "") }

// commandLine returns the output of a command on one line.
func commandLine(s shown, caption string) string {
	escape := strings.NewReplacer("\n", `\n`, "\r", `\r`)
	line := s.Host + " | " + caption + " | rc=" + exitStatus(s.res) + " | (stdout) " +
		escape.Replace(textOf(s.res, "stdout"))
	if stderr := textOf(s.res, "stderr"); stderr != "" {
		line += " (stderr) " + escape.Replace(stderr)
	}
	return line
}
