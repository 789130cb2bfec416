package display

import (
	"time"

	"hark/agent/wire"
)

// Polls shows that jobs still run, as often as their tasks say. Agents tell once that they wait for a job, and then
// how it ended: what Ansible asks its hosts for every few seconds is known here. It belongs to the goroutine of the
// batch.
type Polls struct {
	now     func() time.Time
	waiting map[pollKey]*poll
}

// pollKey names a job that is awaited.
type pollKey struct{ host, job string }

type poll struct {
	event wire.Event // as it is shown
	every time.Duration
	next  time.Time
}

// NewPolls awaits no job.
func NewPolls() *Polls { return &Polls{now: time.Now, waiting: map[pollKey]*poll{}} }

// Heed draws from an event which jobs are awaited. It is true for one that says nothing else.
func (p *Polls) Heed(e wire.Event) bool {
	switch e.Kind {
	case wire.Done, wire.Ended:
		for k := range p.waiting {
			if k.host == e.Host {
				delete(p.waiting, k)
			}
		}
	case wire.Progress:
		key := pollKey{e.Host, jobOf(e)}
		if e.Every <= 0 {
			delete(p.waiting, key)
			return false
		}
		p.waiting[key] = &poll{event: e, every: e.Every, next: p.now().Add(e.Every)}
		return true
	}
	return false
}

// Job is the job that a host waits for, "" if there is none.
func (p *Polls) Job(host string) string {
	for k := range p.waiting {
		if k.host == host {
			return k.job
		}
	}
	return ""
}

func jobOf(e wire.Event) string {
	if e.Outcome == nil {
		return ""
	}
	return e.Outcome.Said().Job()
}

// Wake is how long until the next is to be shown; false if no job is awaited.
func (p *Polls) Wake() (time.Duration, bool) {
	var first time.Time
	for _, w := range p.waiting {
		if first.IsZero() || w.next.Before(first) {
			first = w.next
		}
	}
	return max(0, first.Sub(p.now())), !first.IsZero()
}

// Due are the events to be shown now.
func (p *Polls) Due() []wire.Event {
	now := p.now()
	var events []wire.Event
	for _, w := range p.waiting {
		if w.next.After(now) {
			continue
		}
		e := w.event
		e.Time = now
		events = append(events, e)
		w.next = now.Add(w.every)
	}
	return events
}
