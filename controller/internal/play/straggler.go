package play

import (
	"fmt"
	"slices"
	"time"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// stragglers watches for hosts that keep the others waiting at the barrier, and lets the batch go on without those that have been at
// their step for longer than the limit. It belongs to the goroutine of the batch.
type stragglers struct {
	limit time.Duration // 0 is none
	now   func() time.Time
	// since is when each host began its step.
	since map[string]time.Time
}

func newStragglers(limit time.Duration) *stragglers {
	return &stragglers{limit: limit, now: time.Now, since: map[string]time.Time{}}
}

// heed draws from an event since when its host has been at its step.
func (s *stragglers) heed(e wire.Event) {
	switch e.Kind {
	case wire.Started, wire.Done, wire.AtGate:
		s.since[e.Host] = s.now()
	}
}

// released notes that hosts were let go.
func (s *stragglers) released(hosts []string) {
	for _, h := range hosts {
		s.since[h] = s.now()
	}
}

// holding are the hosts that the others wait for, at the barrier of a plan that has one.
func (b *batchRun) holding() []string {
	if b.stragglers.limit <= 0 {
		return nil
	}
	return slices.DeleteFunc(b.machine.Awaited(), func(h string) bool { return b.stragglers.since[h].IsZero() })
}

// patience is how long until one of the hosts that the others wait for is left behind; false if nobody waits.
func (b *batchRun) patience() (time.Duration, bool) {
	first, found := time.Duration(0), false
	for _, h := range b.holding() {
		if left := b.stragglers.limit - b.stragglers.now().Sub(b.stragglers.since[h]); !found || left < first {
			first, found = max(0, left), true
		}
	}
	return first, found
}

// leaveBehind lets the batch go on without those that have kept it waiting for too long. They finish what they are at and leave.
func (b *batchRun) leaveBehind() {
	for _, h := range b.holding() {
		if b.stragglers.now().Sub(b.stragglers.since[h]) < b.stragglers.limit {
			continue
		}
		b.unreachable(h, fmt.Sprintf("left behind: the others waited for this host, which was at task [%s] for more than %s (--straggler)",
			b.stepLabel(b.current[h]), b.stragglers.limit))
		b.publish(wire.Advance{Drop: []string{h}})
	}
}

// stepLabel is how a step is called in messages.
func (b *batchRun) stepLabel(id plan.ID) string {
	if s := b.steps.Step(id); s != nil {
		return b.steps.Label(s)
	}
	return string(id)
}

// wake is how long until something is to be done though nothing happens; false if there is nothing to wait for.
func (b *batchRun) wake() (time.Duration, bool) {
	d, ok := b.order.Wake()
	for _, also := range []func() (time.Duration, bool){b.patience, b.polls.Wake, b.stillness} {
		if other, waits := also(); waits && (!ok || other < d) {
			d, ok = other, true
		}
	}
	return d, ok
}
