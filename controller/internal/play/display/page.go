package display

import (
	"strings"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/ui/view"
	"hark/playbook/plan"
)

// page is what is on the screen: one step, with its task once that is announced.
type page struct {
	Config
	step plan.ID
	task view.Task
	// included says that hosts have included files there.
	included bool
	// early are warnings of the step that came before its banner could.
	early []string
}

// show hands one event to the view.
func (p *page) show(l *lane, e wire.Event) {
	if e.Kind == wire.Warning {
		if p.early = append(p.early, e.Text); e.Step != p.step || p.task.ID != "" {
			p.warnEarly()
		}
		return
	}
	if e.Adopted || e.Step == "" {
		return
	}
	t := p.banner(e)
	r := view.Result{Task: t, Host: e.Host, Name: e.Name, Outcome: e.Outcome, Start: l.start, End: e.Time}
	switch e.Kind {
	case wire.Started:
		l.start = e.Time
		p.View.HostStart(t, e.Host)
	case wire.Item:
		p.View.ItemDone(r)
		l.start = e.Time
	case wire.Retry:
		p.View.Retry(r)
	case wire.Progress:
		if e.Text == "" {
			p.View.Progress(r)
		} else {
			p.View.AsyncDone(r)
		}
	case wire.Notified:
		p.View.Notified(e.Text, e.Host)
	case wire.Done:
		p.done(l, r)
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
func (p *page) banner(e wire.Event) view.Task {
	fresh := p.task.ID == ""
	if fresh {
		p.task = p.Steps.Shown(e)
	}
	if fresh || p.task.Kind == plan.Meta && e.Kind == wire.Done && !p.Free {
		p.View.TaskStart(p.task)
	}
	p.warnEarly()
	return p.task
}

// warnEarly shows the warnings that waited for the banner of their step.
func (p *page) warnEarly() {
	for _, text := range p.early {
		p.Warn(text)
	}
	p.early = nil
}

// done shows the end of a step on a host.
func (p *page) done(l *lane, r view.Result) {
	if r.Outcome == nil {
		return
	}
	l.start = time.Time{}
	if r.Outcome.Shown {
		l.halted = nil
	}
	p.redone(l)
	if r.Task.Kind == plan.Meta {
		p.Verbose(2, "META: "+metaText(r.Outcome))
		if r.Outcome.Status == wire.Skipped {
			p.View.Done(r)
		}
		return
	}
	if r.Task.Kind == plan.Include && !p.Steps.Tagged && lostRole(r) {
		return // the error was shown; Ansible neither shows a result nor counts one
	}
	p.Recap.add(r.Host, r.Outcome, r.Task.Kind == plan.Include)
	p.Recap.addCustom(r.Host, r.Outcome)
	if !r.Outcome.Shown {
		p.View.Done(r)
	}
	l.included = append(l.included, r.Outcome.Included...)
	p.included = p.included || len(l.included) > 0
}

// metaText is what -vv tells of a meta step.
func metaText(o *wire.Outcome) string {
	said := o.Said()
	if why := said.Text("skip_reason"); o.Status == wire.Skipped && why != "" {
		return why
	}
	return said.Text("msg")
}

// lostRole reports whether an include_role failed because the role cannot be had.
func lostRole(r view.Result) bool {
	return r.Outcome.Status == wire.StatusFailed && strings.HasSuffix(r.Task.Action, "include_role") && r.Outcome.Said().Reason() != ""
}

// closeStep ends the step on the screen: all its results are there, so the files that it included can be told with
// all their hosts.
func (p *page) closeStep(lanes []*lane) {
	if !p.included {
		return
	}
	p.included = false
	type file struct {
		wire.Included
		hosts []string
	}
	var files []*file
	byIndex := map[int]*file{}
	for _, l := range lanes {
		for _, in := range l.included {
			f := byIndex[in.Index]
			if f == nil {
				f = &file{Included: in}
				byIndex[in.Index] = f
				files = append(files, f)
			}
			f.hosts = append(f.hosts, l.host)
			p.Recap.Of(l.host).OK++
		}
		l.included = nil
	}
	for _, f := range files {
		p.View.Included(p.task, view.Include{Path: f.Path, Label: f.Label, Hosts: f.hosts})
	}
}

// redone takes a result that the debugger has shown out of the count: the step was done anew. Like Ansible it takes
// an ok of the host's away with it, also when the result was none.
func (p *page) redone(l *lane) {
	if was := l.halted; was != nil && was.Status != wire.OK && was.Status != wire.Changed {
		c := p.Recap.Of(l.host)
		c.OK = max(0, c.OK-1)
	}
	l.halted = nil
}
