package play

import (
	"encoding/json"
	"strings"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/view"
	"hark/playbook/plan"
)

// show hands one event to the view.
func (o *order) show(l *lane, e wire.Event) {
	if e.Kind == wire.Warning {
		if o.early = append(o.early, e.Text); e.Step != o.step || o.task.ID != "" {
			o.warnEarly()
		}
		return
	}
	if e.Adopted || e.Step == "" {
		return
	}
	t := o.banner(e)
	r := view.Result{Task: t, Host: e.Host, Name: e.Name, Outcome: e.Outcome, Start: l.start, End: e.Time}
	switch e.Kind {
	case wire.Started:
		l.start = e.Time
		o.view.HostStart(t, e.Host)
	case wire.Item:
		o.view.ItemDone(r)
		l.start = e.Time
	case wire.Retry:
		o.view.Retry(r)
	case wire.Progress:
		if e.Text == "" {
			o.view.Progress(r)
		} else {
			o.view.AsyncDone(r)
		}
	case wire.Notified:
		o.view.Notified(e.Text, e.Host)
	case wire.Done:
		o.done(l, r)
	}
}

// visible is an outcome as views and records get it: without its effects, which hold the values of no_log tasks too.
func visible(o *wire.Outcome) *wire.Outcome {
	if o == nil || o.Effects == nil {
		return o
	}
	shown := *o
	shown.Effects = nil
	return &shown
}

// banner announces the step on the screen with its first event. A meta step is announced for each of its hosts,
// as Ansible does in linear plays; in free ones a view announces a step with its results.
func (o *order) banner(e wire.Event) view.Task {
	fresh := o.task.ID == ""
	if fresh {
		o.task = o.tasks.shown(e)
	}
	if fresh || o.task.Kind == plan.Meta && e.Kind == wire.Done && !o.free {
		o.view.TaskStart(o.task)
	}
	o.warnEarly()
	return o.task
}

// warnEarly shows the warnings that waited for the banner of their step.
func (o *order) warnEarly() {
	for _, text := range o.early {
		o.warn(text)
	}
	o.early = nil
}

// announce shows the banner of a step whose results will never come.
func (o *order) announce(e wire.Event) {
	o.drain()
	if o.step != e.Step {
		o.turnTo(e.Step)
	}
	o.banner(e)
}

// done shows the end of a step on a host.
func (o *order) done(l *lane, r view.Result) {
	if r.Outcome == nil {
		return
	}
	l.start = time.Time{}
	if r.Outcome.Shown {
		l.halted = nil
	}
	o.redone(l)
	if r.Task.Kind == plan.Meta {
		o.verbose(2, "META: "+metaText(r.Outcome))
		if r.Outcome.Status == wire.Skipped {
			o.view.Done(r)
		}
		return
	}
	if r.Task.Kind == plan.Include && !o.tasks.tagged && lostRole(r) {
		return // the error was shown; Ansible neither shows a result nor counts one
	}
	o.recap.add(r.Host, r.Outcome, r.Task.Kind == plan.Include)
	o.recap.addCustom(r.Host, r.Outcome)
	if !r.Outcome.Shown {
		o.view.Done(r)
	}
	l.included = append(l.included, r.Outcome.Included...)
	o.included = o.included || len(l.included) > 0
}

// metaText is what -vv tells of a meta step.
func metaText(o *wire.Outcome) string {
	var result struct {
		Msg        string
		SkipReason string `json:"skip_reason"`
	}
	if json.Unmarshal(o.Result, &result) == nil && o.Status == wire.Skipped && result.SkipReason != "" {
		return result.SkipReason
	}
	return result.Msg
}

// lostRole tells whether an include_role failed because the role cannot be had.
func lostRole(r view.Result) bool {
	if r.Outcome.Status != wire.StatusFailed || !strings.HasSuffix(r.Task.Action, "include_role") {
		return false
	}
	var result map[string]json.RawMessage
	return json.Unmarshal(r.Outcome.Result, &result) == nil && result["reason"] != nil
}

// closeStep ends the step on the screen: all its results are there, so the files that it included can be told with
// all their hosts.
func (o *order) closeStep() {
	if !o.included {
		return
	}
	o.included = false
	type file struct {
		wire.Included
		hosts []string
	}
	var files []*file
	byIndex := map[int]*file{}
	for _, l := range o.lanes {
		for _, in := range l.included {
			f := byIndex[in.Index]
			if f == nil {
				f = &file{Included: in}
				byIndex[in.Index] = f
				files = append(files, f)
			}
			f.hosts = append(f.hosts, l.host)
			o.recap.of(l.host).OK++
		}
		l.included = nil
	}
	for _, f := range files {
		o.view.Included(o.task, view.Include{Path: f.Path, Label: f.Label, Hosts: f.hosts})
	}
}
