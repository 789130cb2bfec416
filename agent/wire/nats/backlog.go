package nats

import (
	"context"
	"sync"
	"time"
)

// backlog lets several callers share one round of reading what has arrived. The zero value is ready.
type backlog struct {
	turn sync.Mutex // held by the caller that runs takeUp

	mu           sync.Mutex
	begun, ended uint64 // how often takeUp began and ended; guarded by mu
}

// settle returns when takeUp has run once from its beginning to its end, perhaps for another caller.
func (a *backlog) settle(takeUp func()) {
	a.mu.Lock()
	want := a.begun + 1 // one that runs already may have begun too early
	a.mu.Unlock()
	a.turn.Lock()
	defer a.turn.Unlock()
	a.mu.Lock()
	done := a.ended >= want
	if !done {
		a.begun++
	}
	a.mu.Unlock()
	if done {
		return
	}
	takeUp()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = a.begun
}

// How long the broker may take to answer a side that is behind, and that side to process what has arrived. Anything
// slower counts as late.
const (
	askWait    = 3 * time.Second
	takeUpWait = 10 * time.Second
)

// takeUp waits until the handlers have seen everything that the broker had sent before.
func (t *Transport) takeUp() {
	ctx, cancel := context.WithTimeout(context.Background(), askWait)
	defer cancel()
	if t.nc.FlushWithContext(ctx) != nil { // its answer comes behind all that the broker had sent
		return
	}
	taken := make(chan struct{})
	if t.nc.Barrier(func() { close(taken) }) != nil {
		return
	}
	select {
	case <-taken:
	case <-time.After(takeUpWait):
	}
}
