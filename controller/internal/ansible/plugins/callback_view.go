package plugins

import (
	"encoding/json"
	"strings"

	"hark/controller/internal/ui/view"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// callbackView feeds some of the callbacks: those of others from first to end, the one on the screen if first is -1.
type callbackView struct {
	view.Silent // nothing is to be closed: the callbacks are when all of their views were
	c           *Callbacks
	first, end  int
	begun       map[string]bool // hosts that were reported to begin a task
}

func (c *Callbacks) view(first, end int) callbackView {
	return callbackView{c: c, first: first, end: end, begun: map[string]bool{}}
}

// Screen returns the view of the callback that has the screen.
func (c *Callbacks) Screen() view.View { return c.view(-1, 0) }

// OnScreen reports whether one of them has the screen.
func (c *Callbacks) OnScreen() bool { return c.o.Stdout != "" }

// Second is the view of callbacks beside the screen: count of them, beginning with the one at first.
func (c *Callbacks) Beside(first, count int) view.View { return c.view(first, first+count) }

// event is what callback.py is told; which of the fields there are depends on the kind.
type event struct {
	Kind  string     `json:"kind"`
	First int        `json:"first"`
	End   int        `json:"end"`
	Hosts []hostData `json:"hosts,omitempty"` // those that it does not know yet
	Task  *taskData  `json:"task,omitempty"`  // if it does not know the task, or it begins
	ID    string     `json:"id"`
	Host  string     `json:"host"`

	*resultData
	*playData
	*includeData
	Path    string         `json:"path"` // of a playbook
	Handler string         `json:"handler"`
	Counts  map[string]any `json:"counts"`
	Custom  any            `json:"custom"`
	Args    []any          `json:"args"`
}

func (v callbackView) tell(kind string, e event) {
	e.Kind, e.First, e.End = kind, v.first, v.end
	v.c.tell(e)
}

// about returns an event of a task, with what has to be known of it and of hosts.
func (v callbackView) about(t view.Task, hosts ...string) event {
	e := event{ID: string(t.ID), Hosts: v.c.unknown(hosts)}
	if !v.c.tasks[t.ID] {
		v.c.tasks[t.ID] = true
		e.Task = newTask(t)
	}
	if len(hosts) == 1 {
		e.Host = hosts[0]
	}
	return e
}

func (v callbackView) PlaybookStart(path string) { v.tell("playbook", event{Path: path}) }

func (v callbackView) PlayStart(p view.Play) {
	clear(v.c.tasks)
	v.c.vars = p.Vars
	e := event{ID: p.ID, playData: &playData{
		Name: p.Name, Pattern: strings.Split(p.Pattern,
			","), Strategy: p.Strategy, Check: p.Check, Tags: p.Tags, Place: p.Path,
	}}
	if p.Tasks != nil {
		e.Tasks = p.Tasks()
	}
	v.tell("play", e)
}

func (v callbackView) NoHostsMatched()   { v.tell("no_hosts_matched", event{}) }
func (v callbackView) NoHostsRemaining() { v.tell("no_hosts_remaining", event{}) }

func (v callbackView) TaskStart(t view.Task) {
	e := v.about(t)
	e.Task = newTask(t) // its name may be another one by now
	v.tell("task", e)
}

func (v callbackView) HostStart(t view.Task, host string) {
	v.begun[host] = true
	v.tell("start", v.about(t, host))
}

func (v callbackView) result(kind string, r view.Result) {
	// Agents say nothing of the begin of what is over at once.
	if !v.begun[r.Host] && r.Task.Kind != plan.Meta {
		v.HostStart(r.Task, r.Host)
	}
	if kind == "done" {
		delete(v.begun, r.Host)
	}
	e := v.about(r.Task, r.Host)
	e.resultData = newResult(r)
	v.tell(kind, e)
}

func (v callbackView) ItemDone(r view.Result)  { v.result("item", r) }
func (v callbackView) Retry(r view.Result)     { v.result("retry", r) }
func (v callbackView) Done(r view.Result)      { v.result("done", r) }
func (v callbackView) Progress(r view.Result)  { v.result("poll", r) }
func (v callbackView) AsyncDone(r view.Result) { v.result("async", r) }

func (v callbackView) Included(t view.Task, in view.Include) {
	e := v.about(t, in.Hosts...)
	e.includeData = &includeData{File: in.Path, Label: in.Label, Names: in.Hosts}
	v.tell("include", e)
}

func (v callbackView) Notified(handler, host string) {
	v.tell("notify", event{Handler: handler, Host: host, Hosts: v.c.unknown([]string{host})})
}

// VarsPrompt announces the prompt for a variable, with the arguments that callbacks get.
func (c *Callbacks) VarsPrompt(args ...any) {
	if c.OnScreen() {
		c.view(-1, 0).tell("prompt", event{Args: args})
	}
	c.view(0, len(c.Order)).tell("prompt", event{Args: args})
}

func (v callbackView) Stats(s view.Stats) {
	counts := map[string]any{}
	for host, n := range s.Counts {
		counts[host] = map[string]int{
			"ok": n.OK, "changed": n.Changed, "dark": n.Unreachable, "failures": n.Failed, "skipped": n.Skipped,
			"rescued": n.Rescued, "ignored": n.Ignored,
		}
	}
	e := event{Counts: counts}
	custom := value.NewDict()
	for host, stats := range s.Custom {
		custom.Set(host, value.FromGo(stats, value.KindStr))
	}
	if raw, err := value.Encode(custom); err == nil {
		e.Custom = json.RawMessage(raw)
	}
	v.tell("stats", e)
}
