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

// How many runs that nobody reads are kept, and for how long.
const (
	mostIdle = 4
	idleLife = 5 * time.Minute
)

// Cache has the runs that pages read, or have read lately. It is safe for concurrent use.
type Cache struct {
	Store record.Store
	// Dir is where outputs are kept, in files without names; "" is the system's temporary directory.
	Dir string
	// Play returns the func that receives a run's lines: it prints to screen, and passes each line to the model f too.
	Play func(h record.Head, screen io.Writer, f *runmodel.Run) (tell func(record.Line) error, err error)

	mu    sync.Mutex
	runs  map[string]*CachedRun // by run; guarded by mu
	going sync.WaitGroup
}

// Acquire returns a run and starts reading it if it is not in the cache. The caller must call the returned func when
// done.
func (s *Cache) Acquire(ctx context.Context, run string) (t *CachedRun, back func(), err error) {
	s.mu.Lock()
	t = s.runs[run]
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
	if t := s.runs[run]; t != nil && t.At().Err == nil { // another goroutine was faster
		s.use(t)
		return t, func() { s.putBack(t) }, nil
	}
	if t, err = s.begin(entry); err != nil {
		return nil, nil, err
	}
	s.use(t)
	return t, func() { s.putBack(t) }, nil
}

// begin adds a run and starts its reader. It assumes mu held.
func (s *Cache) begin(entry record.Entry) (*CachedRun, error) {
	r, err := scrollback.New(s.Dir)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	t := &CachedRun{Entry: entry, Model: runmodel.New(), Output: r, stop: stop, read: make(chan struct{}),
		over: make(chan struct{}), more: make(chan struct{})}
	f := &feeder{t: t, play: func(h record.Head) (func(record.Line) error, error) { return s.Play(h, r, t.Model) }}
	t.Model.At = func() (int, time.Time) { return int(f.line.N), f.line.At }
	if s.runs == nil {
		s.runs = map[string]*CachedRun{}
	}
	if old := s.runs[entry.Head.Run]; old != nil { // it failed; its users keep it
		old.stop()
	}
	s.runs[entry.Head.Run] = t
	s.going.Go(func() { f.follow(ctx, s.Store) })
	s.going.Go(t.pulses)
	return t, nil
}

// pulses beats until the run is over.
func (t *CachedRun) pulses() {
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

// use counts a user. It assumes the Cache's mu held.
func (s *Cache) use(t *CachedRun) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.users++
	t.used = time.Now()
}

func (s *Cache) putBack(t *CachedRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.mu.Lock()
	t.users--
	t.used = time.Now()
	t.mu.Unlock()
	s.tidy(mostIdle, idleLife)
}

// tidy drops runs without users: those beyond most, and those older than life. It assumes mu held.
func (s *Cache) tidy(most int, life time.Duration) {
	for {
		idle, oldest := 0, ""
		var since time.Time
		for run, t := range s.runs {
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

// drop drops a run without users. It assumes mu held.
func (s *Cache) drop(run string) {
	t := s.runs[run]
	delete(s.runs, run)
	t.stop()
	s.going.Go(func() {
		<-t.over
		_ = t.Output.Close() // of a file without a name
	})
}

// Tidy drops what nobody has read for a while.
func (s *Cache) Tidy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tidy(mostIdle, idleLife)
}

// Close ends all readers and waits for them. There must be no more users.
func (s *Cache) Close() {
	s.mu.Lock()
	for run := range s.runs {
		s.drop(run)
	}
	s.mu.Unlock()
	s.going.Wait()
}
