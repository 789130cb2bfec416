package display

import (
	"time"

	"hark/agent/wire"
)

// JobPolls shows that jobs still run, as often as their tasks say. Agents report once that they wait for a job, and
// then how it ended; Ansible polls its hosts every few seconds instead. It belongs to the goroutine of the batch.
type JobPolls struct {
	now     func() time.Time
	waiting map[pollKey]*poll
}

// pollKey identifies a job that a host waits for.
type pollKey struct{ host, job string }

type poll struct {
	event wire.Event // the event to show
	every time.Duration
	next  time.Time
}

// NewJobPolls returns a JobPolls without jobs.
func NewJobPolls() *JobPolls { return &JobPolls{now: time.Now, waiting: map[pollKey]*poll{}} }

// Heed notes from an event which jobs hosts wait for. It returns true for an event that says nothing else.
func (p *JobPolls) Heed(e wire.Event) bool {
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

// Job returns the job that a host waits for, "" if there is none.
func (p *JobPolls) Job(host string) string {
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

// Wake returns the time until the next event is to be shown; false if there is no job.
func (p *JobPolls) Wake() (time.Duration, bool) {
	var first time.Time
	for _, w := range p.waiting {
		if first.IsZero() || w.next.Before(first) {
			first = w.next
		}
	}
	return max(0, first.Sub(p.now())), !first.IsZero()
}

// Due returns the events to show now.
func (p *JobPolls) Due() []wire.Event {
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
