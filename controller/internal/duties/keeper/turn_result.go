package keeper

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"hark/agent/wire"
	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/ui/view"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/plan"
)

// TurnResult is a view that shows nothing and notes of each host what a turn made of it. Its methods but Of are called
// as those of all views.
type TurnResult struct {
	mu    sync.Mutex
	hosts map[string]*tally // guarded by mu
}

// tally is one host's.
type tally struct {
	Outcome
	results     int
	items       string // the diffs of the items of the step that it is at
	unreachable string
}

// NewTurnResult returns an empty one.
func NewTurnResult() *TurnResult { return &TurnResult{hosts: map[string]*tally{}} }

// Of returns the result of a turn on a host; it is empty for a host that no play was for.
func (a *TurnResult) Of(host string) Outcome {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.hosts[host]
	if t == nil {
		return Outcome{Status: Done}
	}
	o := t.Outcome
	switch {
	case t.unreachable != "" && t.results == 0:
		o.Status, o.Why = Away, t.unreachable
	case t.unreachable != "":
		o.Status, o.Why = Lost, t.unreachable
	case len(o.Failed) > 0:
		o.Status = Broke
	default:
		o.Status, o.Why = Done, ""
	}
	return o
}

// Clean reports whether every host went through without a change that the job does not take for noise.
func (a *TurnResult) Clean(j *Job) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	agents := map[string]string{}
	for _, h := range j.Hosts {
		agents[h.Name] = h.Agent
	}
	for name, t := range a.hosts {
		tells := func(c dutystate.Change) bool { return !j.Looks && !slices.Contains(j.Noise[agents[name]], c.Task) }
		if t.unreachable != "" || len(t.Failed) > 0 || slices.ContainsFunc(t.Changes, tells) {
			return false
		}
	}
	return true
}

// Away returns the hosts on which nothing was done since they were not there, sorted.
func (a *TurnResult) Away() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []string
	for name, t := range a.hosts {
		if t.unreachable != "" && t.results == 0 {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// The results.

// Done notes the result of a step.
func (a *TurnResult) Done(r view.Result) {
	if r.Outcome == nil || r.Task.Kind == plan.Meta {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.of(r.Host)
	defer func() { t.items = "" }()
	name := label(r.Task)
	switch r.Outcome.Status {
	case wire.StatusUnreachable:
		t.unreachable = message(r.Outcome.Said())
		return
	case wire.StatusFailed:
		if !r.Outcome.Ignored && !r.Outcome.Rescued {
			t.Failed = append(t.Failed, name)
			t.Why = name + ": " + message(r.Outcome.Said())
		}
	case wire.Changed:
		t.Changes = append(t.Changes, dutystate.Change{Task: name, Diff: cut(t.items+diffOf(r), longestDiff)})
	case wire.Skipped:
		if r.Task.Check && unseen(r.Outcome.Said()) && !slices.Contains(t.Blind, name) {
			t.Blind = append(t.Blind, name)
		}
	}
	t.results++
	t.Tasks++
}

// ItemDone notes what items would change, and those at which check mode did not look: their task shows less.
func (a *TurnResult) ItemDone(r view.Result) {
	if r.Outcome == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	t, name := a.of(r.Host), label(r.Task)
	if r.Outcome.Status == wire.Changed && len(t.items) < longestDiff {
		t.items += diffOf(r)
	}
	if r.Outcome.Status == wire.Skipped && r.Task.Check && unseen(r.Outcome.Said()) && !slices.Contains(t.Blind, name) {
		t.Blind = append(t.Blind, name)
	}
}

// of returns the tally of a host. It assumes mu held.
func (a *TurnResult) of(host string) *tally {
	if a.hosts[host] == nil {
		a.hosts[host] = &tally{}
	}
	return a.hosts[host]
}

// label returns a task as people know it: as its banner has it.
func label(t view.Task) string {
	name := t.Name
	if name == "" {
		name = t.Action
	}
	if t.Role != "" {
		name = t.Role + " : " + name
	}
	return name
}

// The limits of what a state takes.
const (
	longestMessage = 500
	longestDiff    = 4 << 10
)

// message returns what a result says of its failure.
func message(said *result.Result) string {
	msg, _ := said.Get("msg")
	if msg == nil { // include_vars has another name for it
		msg, _ = said.Get("message")
	}
	text, ok := value.Text(msg)
	if !ok && msg != nil && !value.IsNone(msg) {
		text = value.JSONText(msg, value.JSONOptions{})
	}
	if text == "" {
		text = said.Text("stderr")
	}
	return cut(strings.TrimSpace(text), longestMessage)
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " ..."
}

// unseen reports whether a result was skipped because of check mode: what a condition or an empty loop skips says so.
func unseen(said *result.Result) bool {
	return !slices.ContainsFunc([]string{"skip_reason", "skipped_reason", "results", "false_condition"}, said.Has)
}

// temporary are the names of files that hold the content of a copy: they are others each time, and for each host.
var temporary = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\S*/ansible-local-\w+/tmp\w+`) })

// diffOf returns what a result shows of its changes. Results under no_log are censored before.
func diffOf(r view.Result) string {
	if r.Outcome.NoLog || r.Task.NoLog {
		return ""
	}
	return cut(temporary().ReplaceAllString(view.DiffText(r), "(content)"), longestDiff)
}

// What is no result.

// PlaybookStart implements view.View, and so do those below: they note nothing.
func (a *TurnResult) PlaybookStart(string)             {}
func (a *TurnResult) PlayStart(view.Play)              {}
func (a *TurnResult) NoHostsMatched()                  {}
func (a *TurnResult) NoHostsRemaining()                {}
func (a *TurnResult) TaskStart(view.Task)              {}
func (a *TurnResult) HostStart(view.Task, string)      {}
func (a *TurnResult) Retry(view.Result)                {}
func (a *TurnResult) Included(view.Task, view.Include) {}
func (a *TurnResult) Notified(string, string)          {}
func (a *TurnResult) Progress(view.Result)             {}
func (a *TurnResult) AsyncDone(view.Result)            {}
func (a *TurnResult) Stats(view.Stats)                 {}
func (a *TurnResult) Close() error                     { return nil }
