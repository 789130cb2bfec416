package mem

import (
	"sync"

	"hark/agent/wire"
)

// subscription has a queue without limit and one goroutine, so that a slow receiver delays nobody else.
type subscription struct {
	owner   *Transport
	pattern string
	f       func(wire.Msg)
	done    chan struct{} // closed by run when no f runs any more

	mu      sync.Mutex
	filled  *sync.Cond
	queue   []wire.Msg // guarded by mu
	stopped bool       // guarded by mu
}

func newSubscription(owner *Transport, pattern string, f func(wire.Msg)) *subscription {
	s := &subscription{owner: owner, pattern: pattern, f: f, done: make(chan struct{})}
	s.filled = sync.NewCond(&s.mu)
	return s
}

func (s *subscription) put(m wire.Msg) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return false
	}
	s.queue = append(s.queue, m)
	s.filled.Signal()
	return true
}

func (s *subscription) run() {
	defer close(s.done)
	for {
		m, ok := s.next()
		if !ok {
			return
		}
		s.f(m)
	}
}

func (s *subscription) next() (wire.Msg, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 && !s.stopped {
		s.filled.Wait()
	}
	if s.stopped {
		return wire.Msg{}, false
	}
	m := s.queue[0]
	s.queue = s.queue[1:]
	return m, true
}

// stop ends the subscription; an f that runs may still be running.
func (s *subscription) stop() {
	b := s.owner.bus
	b.mu.Lock()
	delete(b.subs, s)
	b.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	s.queue = nil
	s.filled.Broadcast()
}

// Unsubscribe implements wire.Subscription.
func (s *subscription) Unsubscribe() error {
	s.owner.mu.Lock()
	delete(s.owner.subs, s)
	s.owner.mu.Unlock()
	s.stop()
	return nil
}
