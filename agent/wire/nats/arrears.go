package nats

import (
	"context"
	"sync"
	"time"
)

// arrears shares among those who wait for the same that what has come is taken up. The zero value is ready.
type arrears struct {
	turn sync.Mutex // of the one who has it taken up

	mu           sync.Mutex
	begun, ended uint64 // how often that was; guarded by mu
}

// settle returns when takeUp has run once from its beginning to its end, be it for another caller.
func (a *arrears) settle(takeUp func()) {
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

// How long the broker may take to answer a side that is behind, and that side to take up what has come. What takes
// longer counts as late.
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
