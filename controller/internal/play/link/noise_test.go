package link

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"hark/agent/wire"
)

// noise is what a line between two may do to messages.
type noise struct {
	lose, double, hold float64       // probabilities
	delay              time.Duration // at most, but for what is held up
}

// noisy is a transport over a bad line: messages and answers are lost, doubled, held up, and so overtake each other.
type noisy struct {
	wire.Transport
	noise noise
	// passes is called for each message that its owner sends or takes, and for each answer to one; nil if nobody counts
	passes func()

	mu   sync.Mutex
	rand *rand.Rand // guarded by mu
	dead bool       // its owner was killed; guarded by mu
	cut  time.Time  // nothing comes through until then; guarded by mu
}

var errCut = errors.New("the line is cut")

// fate draws what becomes of one message: how often it comes, and when. None comes over a line that is cut.
func (n *noisy) fate() []time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.dead || time.Now().Before(n.cut) || n.rand.Float64() < n.noise.lose {
		return nil
	}
	late := func() time.Duration {
		if n.rand.Float64() < n.noise.hold { // in the buffers of somebody on the way
			return time.Duration(n.rand.Int64N(int64(time.Minute)))
		}
		return time.Duration(n.rand.Int64N(int64(n.noise.delay) + 1))
	}
	if n.rand.Float64() < n.noise.double {
		return []time.Duration{late(), late()}
	}
	return []time.Duration{late()}
}

func (n *noisy) kill() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dead = true
}

func (n *noisy) cutFor(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = time.Now().Add(d)
}

func (n *noisy) pass() {
	if n.passes != nil {
		n.passes()
	}
}

func (n *noisy) Publish(subject string, frame []byte) error {
	n.pass()
	for _, late := range n.fate() {
		later(late, func() { _ = n.Transport.Publish(subject, frame) })
	}
	return nil
}

func (n *noisy) Request(ctx context.Context, subject string, frame []byte) ([]byte, error) {
	type answer struct {
		frame []byte
		err   error
	}
	n.pass()
	answers := make(chan answer, 2)
	for _, late := range n.fate() {
		go func() { // it arrives even if nobody waits for the answer any more
			time.Sleep(late)
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
			defer cancel()
			raw, err := n.Transport.Request(ctx, subject, frame)
			for _, late := range n.fate() {
				time.Sleep(late)
				answers <- answer{raw, err}
				return
			}
		}()
	}
	select {
	case a := <-answers:
		n.pass()
		return a.frame, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Subscribe gives what comes in; a process that was killed takes nothing.
func (n *noisy) Subscribe(subject string, f func(wire.Msg)) (wire.Subscription, error) {
	return n.Transport.Subscribe(subject, func(m wire.Msg) {
		if n.deaf() {
			return
		}
		if respond := m.Respond; respond != nil {
			m.Respond = func(frame []byte) error {
				if n.deaf() {
					return errCut
				}
				n.pass()
				return respond(frame)
			}
		}
		n.pass()
		f(m)
	})
}

func (n *noisy) deaf() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dead || time.Now().Before(n.cut)
}

// pause waits; it is false if ctx is over before.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
