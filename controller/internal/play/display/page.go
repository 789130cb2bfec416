package display

import (
	"strings"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/ui/view"
	"hark/playbook/plan"
)

// page is what is on the screen: one step, with its task once the banner is printed.
type page struct {
	Config
	step plan.ID
	task view.Task
	// included says that hosts have included files there.
	included bool
	// early are warnings of the step that came before its banner.
	early []string
	// named are the names of steps in free plays: the first host that comes to a step names it for all.
	named map[plan.ID]string
}

// show passes one event to the view.
func (p *page) show(l *hostQueue, e wire.Event) {
	if e.Kind == wire.Warning {
		if p.early = append(p.early, e.Text); e.Step != p.step || p.task.ID != "" {
			p.warnEarly()
		}
		return
	}
	if e.Adopted || e.Step == "" {
		return
	}
	if e.Kind == wire.Notified && p.task.ID == "" && p.Steps.ViewTask(e).Kind == plan.Meta {
		p.View.Notified(e.Text, e.Host) // a name has waited for this flush, which only its handlers announce
		return
	}
	t := p.banner(e)
	r := view.Result{Task: t, Host: e.Host, Name: e.Name, Outcome: e.Outcome, Start: l.start, End: e.Time}
	if told := e.Kind == wire.Item || e.Kind == wire.Retry ||
		e.Kind == wire.Done; told && l.start.IsZero() && t.Kind != plan.Meta {
		p.View.HostStart(t, e.Host) // a host that skips a task, or its first item, begins it too
	}
	switch e.Kind {
	case wire.Started:
		if l.start.IsZero() {
			p.View.HostStart(t, e.Host)
		}
		l.start = e.Time
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

// visible returns an outcome for views and records: without its effects, which hold the values of no_log tasks too.
func visible(o *wire.Outcome) *wire.Outcome {
	if o == nil || o.Effects == nil {
		return o
	}
	shown := *o
	shown.Effects = nil
	return &shown
}

// banner announces the step on the screen with its first event. A meta step is announced for each of its hosts, as
// Ansible does in linear plays. In free ones a view announces a step with its results.
func (p *page) banner(e wire.Event) view.Task {
	fresh := p.task.ID == ""
	if fresh {
		p.task = p.Steps.ViewTask(p.nameOnce(e))
	}
	if fresh || p.task.Kind == plan.Meta && e.Kind == wire.Done && !p.Free {
		p.View.TaskStart(p.task)
	}
	p.warnEarly()
	return p.task
}

// nameOnce gives an event of a free play the name that the first host has given its step.
func (p *page) nameOnce(e wire.Event) wire.Event {
	if !p.Free || e.Name == "" {
		return e
	}
	if p.named == nil {
		p.named = map[plan.ID]string{}
	}
	if name, ok := p.named[e.Step]; ok {
		e.Name = name
	}
	p.named[e.Step] = e.Name
	return e
}

// warnEarly shows the warnings that waited for the banner of their step.
func (p *page) warnEarly() {
	for _, text := range p.early {
		p.Warn(text)
	}
	p.early = nil
}

// done shows the end of a step on a host.
func (p *page) done(l *hostQueue, r view.Result) {
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
	switch {
	case r.Outcome.Shown:
	case r.Task.Kind == plan.Include && r.Outcome.Status == wire.StatusFailed && r.Outcome.Said().Reason() != "":
		l.notFound, p.included = append(l.notFound, r), true
	default:
		p.View.Done(r)
	}
	l.included = append(l.included, r.Outcome.Included...)
	p.included = p.included || len(l.included) > 0
}

// metaText returns what -vv prints about a meta step.
func metaText(o *wire.Outcome) string {
	said := o.Said()
	if why := said.Text("skip_reason"); o.Status == wire.Skipped && why != "" {
		return why
	}
	return said.Text("msg")
}

// lostRole reports whether an include_role failed because the role is missing.
func lostRole(r view.Result) bool {
	return r.Outcome.Status == wire.StatusFailed && strings.HasSuffix(r.Task.Action, "include_role") && r.Outcome.Said().
		Reason() != ""
}

// closeStep ends the step on the screen. All its results are there, so the included files can be shown with all their
// hosts, in the order in which the hosts name them. A file that is not there has its place among them: Ansible looks
// for files when all hosts have named theirs.
func (p *page) closeStep(queues []*hostQueue) {
	if !p.included {
		return
	}
	p.included = false
	type file struct {
		wire.Included
		hosts  []string
		failed []view.Result
	}
	var files []*file
	byIndex, byReason := map[int]*file{}, map[string]*file{}
	for _, l := range queues {
		for _, r := range l.notFound {
			reason := r.Outcome.Said().Reason()
			f := byReason[reason]
			if f == nil {
				f = &file{}
				byReason[reason] = f
				files = append(files, f)
			}
			f.failed = append(f.failed, r)
		}
		l.notFound = nil
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
		for _, r := range f.failed {
			p.View.Done(r)
		}
		if f.failed != nil {
			continue
		}
		p.View.Included(p.task, view.Include{Path: f.Path, Label: f.Label, Hosts: f.hosts})
	}
}

// redone removes a result that the debugger has shown from the counts, since the step was done again. Like Ansible it
// takes away one ok of the host, even if the result was none.
func (p *page) redone(l *hostQueue) {
	if was := l.halted; was != nil && was.Status != wire.OK && was.Status != wire.Changed {
		c := p.Recap.Of(l.host)
		c.OK = max(0, c.OK-1)
	}
	l.halted = nil
}
