package view

import (
	"fmt"
	"sync"
	"time"
)

// quiet is how long a step may take before the status line speaks of it.
const quiet = 2 * time.Second

// Status keeps a line under the output of a long step: how many hosts are done, which one has been at it for
// longest. It prints nothing else, and nothing at all where the display has no status line.
// Tick must be called about once a second, from any goroutine, while the run lasts.
type Status struct {
	Silent
	d   *Display
	now func() time.Time

	mu      sync.Mutex
	task    Task                 // guarded by mu
	running map[string]time.Time // since when; guarded by mu
	done    int                  // hosts that finished the step; guarded by mu
}

// NewStatus makes the view of the status line.
func NewStatus(d *Display, now func() time.Time) *Status {
	return &Status{d: d, now: now, running: map[string]time.Time{}}
}

// TaskStart begins a step with no hosts.
func (s *Status) TaskStart(t Task) { s.begin(t) }

func (s *Status) begin(t Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.task, s.done = t, 0
	s.running = map[string]time.Time{}
}

// HostStart puts a host to work.
func (s *Status) HostStart(t Task, host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.task.ID != t.ID {
		s.task = t
	}
	s.running[host] = s.now()
}

// Done takes it away again.
func (s *Status) Done(r Result) {
	s.mu.Lock()
	delete(s.running, r.Host)
	s.done++
	s.mu.Unlock()
	s.Tick()
}

// Tick brings the line up to date.
func (s *Status) Tick() {
	s.d.Status(s.line())
}

func (s *Status) line() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest, since := "", time.Time{}
	for host, at := range s.running {
		if oldest == "" || at.Before(since) || at.Equal(since) && host < oldest {
			oldest, since = host, at
		}
	}
	age := s.now().Sub(since)
	if oldest == "" || age < quiet {
		return ""
	}
	return fmt.Sprintf("[%s] %d of %d hosts done, %s for %s", s.task.Title(), s.done, s.done+len(s.running), oldest,
		age.Truncate(time.Second))
}

// Close takes the line away.
func (s *Status) Close() error {
	s.d.Status("")
	return nil
}
