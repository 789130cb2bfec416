package view

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	"hark/agent/wire"
	"hark/modules/py/value"
)

// unixy prints a run like the log of a machine that starts: a line for each task and for each host.
type unixy struct {
	*defaultView
	d    *Display
	dump dumper
}

func newUnixy(o Options) (View, error) {
	return &unixy{defaultView: newDefaultView(o), d: o.Display, dump: o.dumper()}, nil
}

func (v *unixy) PlaybookStart(path string) {
	v.d.Print(NoColor, "Executing playbook "+filepath.Base(path))
	v.flags()
}

func (v *unixy) PlayStart(p Play) {
	if name := strings.TrimSpace(p.Name); name != "" && p.Pattern != "" {
		v.d.Print(NoColor, "\n- "+name+" on hosts: "+p.Pattern+" -")
		return
	}
	v.d.Print(NoColor, "---")
}

func (v *unixy) NoHostsMatched()   { v.d.Print(ColorDebug, "  No hosts found!") }
func (v *unixy) NoHostsRemaining() { v.d.Print(ColorError, "  Ran out of hosts!") }

func (v *unixy) TaskStart(t Task) {
	name := t.Title()
	name = name[strings.LastIndex(name, " : ")+1:]
	name = strings.TrimPrefix(name, ": ")
	switch {
	case strings.HasPrefix(name, "include"):
	case t.Handler:
		v.d.Print(NoColor, name+" (via handler)... ")
	default:
		v.d.Print(NoColor, name+"...")
	}
}

func (v *unixy) Done(r Result)     { v.result(prepare(r)) }
func (v *unixy) ItemDone(r Result) { v.result(prepare(r)) }

// result prints the line of a host, or of one of its items.
func (v *unixy) result(s shown) {
	v.d.exception(s, ColorError, v.o.FailedToStderr)
	v.warnings(s)
	label := ""
	if item, ok := s.label(); ok {
		label = " | item: " + item
	}
	switch s.Outcome.Status {
	case wire.Skipped:
		if !v.o.HideSkipped {
			v.line(s, "skipped", ColorSkip, false)
		}
	case wire.StatusFailed:
		v.line(s, "failed"+label, ColorError, v.o.FailedToStderr)
	case wire.StatusUnreachable:
		v.line(s, "unreachable", ColorUnreachable, v.o.FailedToStderr)
	default:
		v.fileDiff(s)
		switch {
		case s.res.True("changed"):
			v.line(s, "done"+label, ColorChanged, false)
		case !v.o.HideOK:
			v.line(s, "ok", ColorOK, false)
		}
	}
}

func (v *unixy) fileDiff(s shown) {
	diff, _ := s.res.Get("diff")
	if s.Task.Diff && value.IsTrue(diff) && s.res.True("changed") {
		if text := (differ{v.d, v.o.DiffContext, v.diffText}).text(diff); text != "" {
			v.d.Print(NoColor, text)
		}
	}
}

func (v *unixy) line(s shown, state string, c Color, stderr bool) {
	text := "  " + s.Host + " " + state
	if s.verbose(v.d.Verbosity(), 0) {
		text += ": " + v.dump.dump(s, 4)
	} else {
		if to := s.delegate(); to != "" {
			text = "  " + s.Host + " -> " + to + " " + state
		}
		for _, name := range []string{"msg", "stdout", "stderr"} {
			if said, _ := s.res.Get(name); value.IsTrue(said) && pyText(said) != "All items completed" {
				text += " | " + name + ": " + pyText(said)
			}
		}
	}
	v.d.show(message{text: text, color: c, stderr: stderr})
}

func (v *unixy) Retry(r Result) {
	s := prepare(r)
	text := fmt.Sprintf("  Retrying... (%d of %d)", s.Outcome.Attempts, s.Outcome.Retries)
	if s.verbose(v.d.Verbosity(), 0) {
		text += "Result was: " + v.dump.dump(s, -1)
	}
	v.d.Print(ColorDebug, text)
}

// HostStart is nothing here.
func (v *unixy) HostStart(Task, string) {}

func (v *unixy) Stats(s Stats) {
	v.d.show(message{text: "\n- Play recap -", screenOnly: true})
	hosts := append([]string(nil), s.Hosts...)
	sort.Strings(hosts)
	for _, host := range hosts {
		v.d.show(message{text: "  " + v.d.shortRecap(host, s.Counts[host], true), screenOnly: true})
		v.d.show(message{text: "  " + v.d.shortRecap(host, s.Counts[host], false), logOnly: true})
	}
	if v.o.CustomStats {
		v.customStats(s.Custom)
	}
}

// shortRecap returns the line of the recap without what was skipped.
func (d *Display) shortRecap(host string, c Counts, colored bool) string {
	line := d.recapLine(host, c, colored)
	skipped := fmt.Sprintf("skipped=%-4d", c.Skipped)
	if c.Skipped != 0 && colored {
		skipped = d.Paint(ColorSkip, skipped)
	}
	return strings.Replace(line, skipped+" ", "", 1)
}
