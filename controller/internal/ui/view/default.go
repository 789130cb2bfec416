package view

import (
	"fmt"
	"path/filepath"
	"strings"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// defaultView is what ansible-playbook prints when nobody asks for anything else.
type defaultView struct {
	o    Options
	d    *Display
	dump func(s shown, indent int) string
	// diffText prints a mapping that is one side of a diff.
	diffText func(v value.Value) string

	noSkips  bool // results that skipped are not shown
	lockstep bool
	banner   plan.ID // of the step whose banner was printed last; "" at the start of a play
	current  Task    // the step that was started last
}

func newDefault(o Options) (View, error) { return newDefaultView(o), nil }

func newDefaultView(o Options) *defaultView {
	d := o.dumper()
	return &defaultView{o: o, d: o.Display, dump: d.dump, diffText: d.diffText}
}

func (v *defaultView) PlaybookStart(path string) {
	if v.d.Verbosity() > 1 {
		v.d.Banner("PLAYBOOK: " + filepath.Base(path))
	}
	v.flags()
	if v.o.Check && v.o.CheckMarkers {
		v.d.Banner("DRY RUN")
	}
}

// flags shows the options of the command line at -vvvv.
func (v *defaultView) flags() {
	if v.d.Verbosity() > 3 {
		for _, f := range v.o.Flags {
			v.d.show(message{text: f.Name + ": " + f.Value, color: ColorVerbose, screenOnly: true})
		}
	}
}

func (v *defaultView) PlayStart(p Play) {
	v.lockstep = Lockstep(p.Strategy)
	v.banner, v.current = "", Task{}
	text := "PLAY"
	if name := strings.TrimSpace(p.Name); name != "" {
		text += " [" + name + "]"
	}
	v.d.Banner(text + v.checkMark(p.Check))
}

// Lockstep reports whether a strategy starts a task for all hosts at once.
func Lockstep(strategy string) bool {
	name := strategy[strings.LastIndex(strategy, ".")+1:]
	return name != "free" && name != "host_pinned"
}

func (v *defaultView) checkMark(check bool) string {
	if check && v.o.CheckMarkers {
		return " [CHECK MODE]"
	}
	return ""
}

func (v *defaultView) NoHostsMatched()   { v.d.Print(ColorSkip, "skipping: no hosts matched") }
func (v *defaultView) NoHostsRemaining() { v.d.Banner("NO MORE HOSTS LEFT") }

func (v *defaultView) TaskStart(t Task) {
	v.current = t
	if v.lockstep && !v.o.HideSkipped && !v.o.HideOK {
		v.printBanner(t)
	}
}

// showBanner prints the banner of a step if another's is the last on the screen.
func (v *defaultView) showBanner(t Task) {
	if v.banner == "" || v.banner != t.ID {
		v.printBanner(t)
	}
}

func (v *defaultView) printBanner(t Task) {
	name := t
	if v.lockstep && v.current.ID == t.ID {
		name = v.current
	}
	text := "TASK"
	if t.Handler {
		text = "RUNNING HANDLER"
	}
	text += " [" + name.Title() + v.args(t) + "]" + v.checkMark(t.Check)
	v.d.Banner(text)
	if v.d.Verbosity() >= 2 {
		v.printPath(t)
	}
	v.banner = t.ID
}

// Title returns the name of a step in banners: "role : name", or the action if it has no name.
func (t Task) Title() string {
	name := t.Name
	if name == "" {
		name = t.Action
	}
	if t.Role != "" {
		name = t.Role + " : " + name
	}
	return strings.TrimSpace(name)
}

// retryName returns the name of a step where it is tried again: there the role is left out.
func (t Task) retryName() string {
	if t.Name != "" {
		return t.Name
	}
	return t.Title()
}

// args returns the arguments for display_args_to_stdout.
func (v *defaultView) args(t Task) string {
	if t.NoLog || !v.o.ShowArgs {
		return ""
	}
	return " " + argsText(t)
}

// argsText returns the arguments of a step as name=value.
func argsText(t Task) string {
	var parts []string
	if args, err := value.Decode(t.Args, value.KindStr); err == nil {
		if d, ok := args.(*value.Dict); ok {
			d.Each(func(k, item value.Value) bool {
				parts = append(parts, pyText(k)+"="+pyText(item))
				return true
			})
		}
	}
	return strings.Join(parts, ", ")
}

func (v *defaultView) printPath(t Task) {
	if t.Place != "" {
		v.d.Print(ColorDebug, "task path: "+t.Place)
	}
}

func (v *defaultView) HostStart(t Task, host string) {
	if v.o.HostStarts {
		kind := "TASK"
		if t.Handler {
			kind = "HANDLER"
		}
		v.d.Print(ColorOK, fmt.Sprintf(" [started %s: %s on %s]", kind, t.Title(), host))
	}
}

func (v *defaultView) Done(r Result) {
	s := prepare(r)
	v.notices(s)
	switch s.Outcome.Status {
	case wire.StatusFailed:
		v.failed(s)
	case wire.StatusUnreachable:
		v.unreachable(s)
	case wire.Skipped:
		v.skipped(s)
	default:
		v.ok(s)
	}
}

func (v *defaultView) failed(s shown) {
	s.cleanDebug(v.o.Origin != nil)
	v.showBanner(s.Task)
	looped := s.res.Has("results") || v.causes() && s.Outcome.NoLog && s.Outcome.Said().Has("results")
	if !s.loop || len(s.events) > 0 { // a loop that failed by its items was shown with them
		v.d.failure(s, v.o)
	}
	v.d.exception(s, ColorError, v.o.FailedToStderr)
	v.warnings(s)
	if !s.loop || !looped {
		if v.d.Verbosity() < 2 && v.o.PathOnFailure {
			v.printPath(s.Task)
		}
		v.printFailure(ColorError, "fatal: ["+s.host()+"]: FAILED! => "+v.dump(s, -1))
	}
	if s.Outcome.Ignored {
		v.d.Print(ColorSkip, "...ignoring")
	}
}

// causes reports whether failures are shown as in ansible-core 2.19.
func (v *defaultView) causes() bool { return v.o.Origin != nil }

// item returns the label of an item.
func (v *defaultView) item(s shown) string {
	if v.causes() && s.Outcome.NoLog {
		return "(censored due to no_log)"
	}
	return s.item()
}

func (v *defaultView) printFailure(c Color, text string) {
	v.d.show(message{text: text, color: c, stderr: v.o.FailedToStderr})
}

func (v *defaultView) unreachable(s shown) {
	v.showBanner(s.Task)
	if v.causes() {
		if s.events == nil {
			s.events = []event{{msg: "Task failed."}, {msg: textOf(s.res, "msg")}}
		}
		v.d.failure(s, v.o)
		if msg := textOf(s.res, "msg"); msg != "" && !strings.HasPrefix(msg, "Task failed") {
			s.res.Set("msg", value.Str("Task failed: "+msg))
		}
	}
	v.printFailure(ColorUnreachable, "fatal: ["+s.host()+"]: UNREACHABLE! => "+v.dump(s, -1))
	if s.Outcome.Ignored {
		v.d.Print(ColorSkip, "...ignoring")
	}
}

func (v *defaultView) skipped(s shown) {
	if v.o.HideSkipped || v.noSkips {
		return
	}
	s.cleanDebug(v.o.Origin != nil)
	v.showBanner(s.Task)
	if s.loop {
		drop(s.res, "results")
	}
	v.printResult(s, "skipping: ["+s.Host+"]", ColorSkip)
}

func (v *defaultView) ok(s shown) {
	if s.Task.Diff {
		v.diff(s)
	}
	if s.Task.Kind == plan.Include {
		v.showBanner(s.Task)
		return
	}
	state, color, show := v.state(s)
	if !show {
		return
	}
	v.showBanner(s.Task)
	v.warnings(s)
	if _, ok := s.res.Get("results"); s.loop && (ok || v.causes()) {
		return
	}
	s.cleanDebug(v.o.Origin != nil)
	v.printResult(s, state+": ["+s.host()+"]", color)
}

// state returns how a result that is fine is called, and whether it is shown at all.
func (v *defaultView) state(s shown) (string, Color, bool) {
	if s.res.True("changed") {
		return "changed", ColorChanged, true
	}
	return "ok", ColorOK, !v.o.HideOK
}

// printResult prints a line, with the result behind it if the verbosity asks for it.
func (v *defaultView) printResult(s shown, line string, c Color) {
	if s.verbose(v.d.Verbosity(), 0) {
		line += " => " + v.dump(s, -1)
	}
	v.d.Print(c, line)
}

func (v *defaultView) ItemDone(r Result) {
	s := prepare(r)
	switch s.Outcome.Status {
	case wire.StatusFailed, wire.StatusUnreachable:
		v.itemFailed(s)
	case wire.Skipped:
		v.itemSkipped(s)
	default:
		v.itemOK(s)
	}
}

func (v *defaultView) itemFailed(s shown) {
	v.showBanner(s.Task)
	s.cleanDebug(v.o.Origin != nil)
	v.d.failure(s, v.o)
	v.d.exception(s, ColorError, v.o.FailedToStderr)
	v.warnings(s)
	v.printFailure(ColorError, "failed: ["+s.host()+"] (item="+v.item(s)+") => "+v.dump(s, -1))
}

func (v *defaultView) itemSkipped(s shown) {
	if v.o.HideSkipped || v.noSkips {
		return
	}
	v.showBanner(s.Task)
	s.cleanDebug(v.o.Origin != nil)
	v.printResult(s, "skipping: ["+s.Host+"] => (item="+v.item(s)+") ", ColorSkip)
}

func (v *defaultView) itemOK(s shown) {
	if s.Task.Diff {
		v.diff(s)
	}
	if s.Task.Kind == plan.Include {
		return
	}
	state, color, show := v.state(s)
	if !show {
		return
	}
	v.showBanner(s.Task)
	line := state + ": [" + s.host() + "] => (item=" + v.item(s) + ")"
	s.cleanDebug(v.o.Origin != nil)
	v.printResult(s, line, color)
}

func (v *defaultView) Retry(r Result) {
	s := prepare(r)
	left := s.Outcome.Retries - s.Outcome.Attempts
	line := fmt.Sprintf("FAILED - RETRYING: [%s]: %s (%d retries left).", s.host(), s.Task.retryName(), left)
	if s.verbose(v.d.Verbosity(), 2) {
		line += "Result was: " + v.dump(s, -1)
	}
	v.d.Print(ColorDebug, line)
}

func (v *defaultView) Included(t Task, in Include) {
	if v.o.HideIncluded {
		return
	}
	line := "included: " + in.Path + " for " + strings.Join(in.Hosts, ", ")
	if in.Label != "" {
		line += " => (item=" + in.Label + ")"
	}
	v.d.Print(ColorSkip, line)
}

func (v *defaultView) Notified(handler, host string) {
	if v.d.Verbosity() > 1 {
		text := "NOTIFIED HANDLER " + handler + " for " + host
		v.d.show(message{text: text, color: ColorVerbose, screenOnly: true})
	}
}

func (v *defaultView) Progress(r Result) {
	s := prepare(r)
	field := func(name string) string {
		if item, ok := s.res.Get(name); ok {
			return pyText(item)
		}
		return "None"
	}
	v.d.Print(ColorDebug, fmt.Sprintf("ASYNC POLL on %s: jid=%s started=%s finished=%s",
		s.Host, field("ansible_job_id"), field("started"), field("finished")))
}

func (v *defaultView) AsyncDone(r Result) {
	s := prepare(r)
	if s.Outcome.Status == wire.OK || s.Outcome.Status == wire.Changed {
		v.d.Print(ColorDebug, "ASYNC OK on "+s.Host+": jid="+jobID(s.res))
		return
	}
	v.d.Print(ColorDebug, "ASYNC FAILED on "+s.Host+": jid="+jobID(s.res))
}

// jobID returns the id of a job; of one that ran out of time it is inside async_result.
func jobID(res *value.Dict) string {
	if id := textOf(res, "ansible_job_id"); id != "" {
		return id
	}
	inner, _ := res.Get("async_result")
	if d, ok := inner.(*value.Dict); ok {
		if id := textOf(d, "ansible_job_id"); id != "" {
			return id
		}
	}
	return "None"
}

func (v *defaultView) Stats(s Stats) {
	v.recap(s)
	if v.o.CustomStats {
		v.customStats(s.Custom)
	}
	if v.o.Check && v.o.CheckMarkers {
		v.d.Banner("DRY RUN")
	}
}

func (v *defaultView) Close() error { return nil }
