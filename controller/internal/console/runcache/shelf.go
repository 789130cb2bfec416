package runcache

import (
	"context"
	"io"
	"sync"
	"time"

	"hark/controller/internal/console/runmodel"
	"hark/controller/internal/console/scrollback"
	"hark/controller/internal/runs/record"
)

// How many tapes are kept that nobody looks at, and for how long.
const (
	mostIdle = 4
	idleLife = 5 * time.Minute
)

// Shelf has the tapes that somebody looks at, or looked at lately. It is safe for concurrent use.
type Shelf struct {
	Store record.Store
	// Dir is where the outputs are kept, in files without names; "" is the system's directory for such.
	Dir string
	// Play makes what a run's lines are told to: what it prints goes to screen, and each line is told to the fold too.
	Play func(h record.Head, screen io.Writer, f *runmodel.Run) (tell func(record.Line) error, err error)

	mu    sync.Mutex
	tapes map[string]*Tape // by run; guarded by mu
	going sync.WaitGroup
}

// Take gives the tape of a run and begins to read it if nobody has. The caller calls back when he has done with it.
func (s *Shelf) Take(ctx context.Context, run string) (t *Tape, back func(), err error) {
	s.mu.Lock()
	t = s.tapes[run]
	if t != nil && t.At().Err == nil {
		s.use(t)
		s.mu.Unlock()
		return t, func() { s.putBack(t) }, nil
	}
	s.mu.Unlock()
	entry, err := s.Store.Find(ctx, run)
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tapes[run]; t != nil && t.At().Err == nil { // somebody was faster
		s.use(t)
		return t, func() { s.putBack(t) }, nil
	}
	if t, err = s.begin(entry); err != nil {
		return nil, nil, err
	}
	s.use(t)
	return t, func() { s.putBack(t) }, nil
}

// begin makes a tape and starts its reader. It assumes mu held.
func (s *Shelf) begin(entry record.Entry) (*Tape, error) {
	r, err := scrollback.New(s.Dir)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	t := &Tape{Entry: entry, Fold: runmodel.New(), Reel: r, stop: stop, read: make(chan struct{}), over: make(chan struct{}), more: make(chan struct{})}
	f := &feeder{t: t, play: func(h record.Head) (func(record.Line) error, error) { return s.Play(h, r, t.Fold) }}
	t.Fold.At = func() (int, time.Time) { return int(f.line.N), f.line.At }
	if s.tapes == nil {
		s.tapes = map[string]*Tape{}
	}
	if old := s.tapes[entry.Head.Run]; old != nil { // it broke; who looks at it keeps it
		old.stop()
	}
	s.tapes[entry.Head.Run] = t
	s.going.Go(func() { f.follow(ctx, s.Store) })
	s.going.Go(t.pulses)
	return t, nil
}

// pulses beats until the tape is over.
func (t *Tape) pulses() {
	tick := time.NewTicker(pulse)
	defer tick.Stop()
	for {
		select {
		case <-t.over:
			return
		case <-tick.C:
			t.beat()
		}
	}
}

// use counts somebody who looks. It assumes the shelf's mu held.
func (s *Shelf) use(t *Tape) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.users++
	t.used = time.Now()
}

func (s *Shelf) putBack(t *Tape) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.mu.Lock()
	t.users--
	t.used = time.Now()
	t.mu.Unlock()
	s.tidy(mostIdle, idleLife)
}

// tidy lets go of tapes that nobody looks at: those beyond most, and those that are older than life. It assumes mu
// held.
func (s *Shelf) tidy(most int, life time.Duration) {
	for {
		idle, oldest := 0, ""
		var since time.Time
		for run, t := range s.tapes {
			t.mu.Lock()
			users, used := t.users, t.used
			t.mu.Unlock()
			if users > 0 {
				continue
			}
			idle++
			if oldest == "" || used.Before(since) {
				oldest, since = run, used
			}
		}
		if idle == 0 || idle <= most && time.Since(since) < life {
			return
		}
		s.drop(oldest)
	}
}

// drop lets go of a tape that nobody looks at. It assumes mu held.
func (s *Shelf) drop(run string) {
	t := s.tapes[run]
	delete(s.tapes, run)
	t.stop()
	s.going.Go(func() {
		<-t.over
		_ = t.Reel.Close() // of a file without a name
	})
}

// Tidy lets go of what nobody has looked at for a while.
func (s *Shelf) Tidy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tidy(mostIdle, idleLife)
}

// Close ends all readers and waits for them. Nobody looks any more.
func (s *Shelf) Close() {
	s.mu.Lock()
	for run := range s.tapes {
		s.drop(run)
	}
	s.mu.Unlock()
	s.going.Wait()
}
