// Package sessions opens the sessions of a batch's hosts: what each is told to begin with (Starts), many at a time,
// with as much patience as the agent of a host that was lost may need to come back.
package sessions

import (
	"context"
	"errors"
	"sync"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/play/link"
	"hark/playbook/plan"
)

const (
	// workers is how many sessions are opened at once. Each may wait for a moment for the host's first result, which
	// brings the acknowledgement.
	workers = 256
	// ReturnLimit is how long an agent that was lost may take to come back, ReturnPause how long is waited before it
	// is looked for again.
	ReturnLimit = 15 * time.Second
	ReturnPause = 300 * time.Millisecond
)

// Want is a session that is to be opened.
type Want struct {
	Host string
	// Absent is why the host's agent is not there, "" if that is not known; a Stranger has none.
	Absent   string
	Stranger bool
	// Resume, for a host that was lost and goes on, is where; Notified are the handlers that still have to run.
	Resume   plan.ID
	Notified []string
	// Go is the step for which the host was let go already, "" for none.
	Go plan.ID
}

// Opened describes how the opening of a session went.
type Opened struct {
	Host string
	Err  error
}

// Config is what the opening of sessions needs.
type Config struct {
	// Start makes what a host is told, Open tells it; both are called from any goroutine.
	Start func(ctx context.Context, w Want) (wire.Start, error)
	Open  func(ctx context.Context, s wire.Start) error
	// Want says how a host's session is to be opened, when its turn comes.
	Want func(host string) Want
	// Room is how many more sessions there may be while some wait; nil is no limit.
	Room func(waiting int) int
	// Work counts the goroutines that open; they end when Stopped is closed.
	Work    *sync.WaitGroup
	Stopped <-chan struct{}
}

// Sessions are those of a batch. They belong to one goroutine, which takes from Results.
type Sessions struct {
	c       Config
	results chan Opened
	pending []string
	opening int
}

// New opens none yet.
func New(c Config) *Sessions { return &Sessions{c: c, results: make(chan Opened)} }

// Add has the session of a host opened, when there is room for it.
func (s *Sessions) Add(host string) { s.pending = append(s.pending, host) }

// Results are the results of openings. Each is to be answered by Took.
func (s *Sessions) Results() <-chan Opened { return s.results }

// Took says that a result was taken; it is true for the last of those under way.
func (s *Sessions) Took() bool {
	s.opening--
	return s.opening == 0
}

// Busy reports whether sessions are being opened.
func (s *Sessions) Busy() bool { return s.opening > 0 }

// More opens the sessions for which there is room.
func (s *Sessions) More(ctx context.Context) {
	n := len(s.pending)
	if s.c.Room != nil {
		n = min(n, max(0, s.c.Room(n)))
	}
	if n == 0 {
		return
	}
	queue := make(chan Want, n)
	for _, h := range s.pending[:n] {
		queue <- s.c.Want(h) // made here: the workers must not read what this goroutine writes
	}
	close(queue)
	s.pending = s.pending[n:]
	s.opening += n
	for range min(n, workers) {
		s.c.Work.Go(func() {
			for w := range queue {
				select {
				case s.results <- Opened{w.Host, s.open(ctx, w)}:
				case <-s.c.Stopped:
					return
				}
			}
		})
	}
}

// open opens a session. The agent of a host that was lost may need a while to come back.
func (s *Sessions) open(ctx context.Context, w Want) error {
	start, err := s.c.Start(ctx, w)
	if err != nil {
		return err
	}
	if w.Resume != "" {
		start.Resume, start.Notified = w.Resume, w.Notified
	}
	for until := time.Now().Add(ReturnLimit); ; {
		err := s.c.Open(ctx, start)
		var absent *link.AbsentError
		if err == nil || w.Resume == "" || !errors.As(err, &absent) || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(ReturnPause):
		}
	}
}
