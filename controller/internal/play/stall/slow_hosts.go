// Package stall watches the clock over a batch: hosts that keep the others waiting for too long, and a run that
// stands. It says what is so; who is left behind, and what is printed, is the driver's.
package stall

import (
	"time"

	"hark/agent/wire"
)

// SlowHosts watches for hosts that keep the others waiting at the barrier for longer than a limit. It belongs to the
// goroutine of the batch.
type SlowHosts struct {
	limit time.Duration // 0 is none
	now   func() time.Time
	// since is when each host began its step.
	since map[string]time.Time
}

// NewSlowHosts knows of no host yet. A limit of 0 leaves nobody behind; now is the clock.
func NewSlowHosts(limit time.Duration, now func() time.Time) *SlowHosts {
	return &SlowHosts{limit: limit, now: now, since: map[string]time.Time{}}
}

// Heed draws from an event since when its host has been at its step.
func (s *SlowHosts) Heed(e wire.Event) {
	switch e.Kind {
	case wire.Started, wire.Done, wire.AtGate:
		s.since[e.Host] = s.now()
	}
}

// Released notes that hosts were let go.
func (s *SlowHosts) Released(hosts []string) {
	for _, h := range hosts {
		s.since[h] = s.now()
	}
}

// Wake returns how long until one of the hosts that others wait for is to be left behind; false if nobody waits.
// awaited is only asked where there is a limit: it looks at all hosts.
func (s *SlowHosts) Wake(awaited func() []string) (time.Duration, bool) {
	first, found := time.Duration(0), false
	if s.limit <= 0 {
		return first, found
	}
	for _, h := range awaited() {
		if left, waits := s.left(h); waits && (!found || left < first) {
			first, found = left, true
		}
	}
	return first, found
}

// Behind returns those of the hosts that others wait for which have kept them waiting for too long.
func (s *SlowHosts) Behind(awaited func() []string) []string {
	var behind []string
	if s.limit <= 0 {
		return nil
	}
	for _, h := range awaited() {
		if left, waits := s.left(h); waits && left == 0 {
			behind = append(behind, h)
		}
	}
	return behind
}

// left returns how much of its time a host has left; false if its time does not run.
func (s *SlowHosts) left(host string) (time.Duration, bool) {
	since := s.since[host]
	if since.IsZero() {
		return 0, false
	}
	return max(0, s.limit-s.now().Sub(since)), true
}
