// Package mem is the transport inside one process: what the agent in the controller's process (connection: local) and
// tests speak over. It keeps the obligations of wire.Transport that NATS keeps, and passes the same suite.
package mem

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hark/agent/wire"
)

// Bus connects the transports of one process. The zero value is ready.
type Bus struct {
	inboxes atomic.Uint64

	mu   sync.RWMutex
	subs map[*subscription]struct{} // guarded by mu
}

// Transport is one client of a Bus.
type Transport struct {
	bus   *Bus
	inbox string
	since time.Time

	mu     sync.Mutex
	closed bool                       // guarded by mu
	subs   map[*subscription]struct{} // guarded by mu
}

// Connect adds a client, whose replies come to subjects under wire.Inbox(id).
func (b *Bus) Connect(id string) *Transport {
	return &Transport{bus: b, inbox: wire.Inbox(id) + ".", since: time.Now(), subs: map[*subscription]struct{}{}}
}

var errClosed = errors.New("the connection is closed")

// Publish implements wire.Transport.
func (t *Transport) Publish(subject string, data []byte) error {
	if err := t.check(data); err != nil {
		return err
	}
	t.bus.deliver(wire.Msg{Subject: subject, Data: data})
	return nil
}

func (t *Transport) check(data []byte) error {
	if len(data) > wire.MaxMessage {
		return wire.ErrTooLarge
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return errClosed
	}
	return nil
}

// deliver puts m into the queues of those who listen and returns how many there were.
func (b *Bus) deliver(m wire.Msg) int {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := 0
	for s := range b.subs {
		if match(s.pattern, m.Subject) && s.put(m) {
			n++
		}
	}
	return n
}

// Request implements wire.Transport.
func (t *Transport) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	if err := t.check(data); err != nil {
		return nil, err
	}
	reply := make(chan []byte, 1)
	m := wire.Msg{Subject: subject, Data: data, Reply: t.inbox + strconv.FormatUint(t.bus.inboxes.Add(1), 36)}
	m.Respond = func(answer []byte) error {
		if len(answer) > wire.MaxMessage {
			return wire.ErrTooLarge
		}
		select {
		case reply <- answer:
		default: // the first answer wins, as over NATS
		}
		return nil
	}
	if t.bus.deliver(m) == 0 {
		return nil, wire.ErrNoResponder
	}
	select {
	case answer := <-reply:
		return answer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Subscribe implements wire.Transport.
func (t *Transport) Subscribe(subject string, f func(wire.Msg)) (wire.Subscription, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, errClosed
	}
	s := newSubscription(t, subject, f)
	t.subs[s] = struct{}{}
	t.bus.mu.Lock()
	defer t.bus.mu.Unlock()
	if t.bus.subs == nil {
		t.bus.subs = map[*subscription]struct{}{}
	}
	t.bus.subs[s] = struct{}{}
	go s.run()
	return s, nil
}

// Flush implements wire.Transport: what was published is in the queues already.
func (t *Transport) Flush(context.Context) error { return t.check(nil) }

// Since implements wire.Transport.
func (t *Transport) Since() time.Time {
	if t.check(nil) != nil {
		return time.Time{}
	}
	return t.since
}

// Close implements wire.Transport.
func (t *Transport) Close() error {
	t.mu.Lock()
	t.closed = true
	subs := t.subs
	t.subs = nil
	t.mu.Unlock()
	for s := range subs {
		s.stop()
		<-s.done
	}
	return nil
}

// match reports whether a subject fits a pattern of NATS: * is one token, > at the end is one or more.
func match(pattern, subject string) bool {
	for {
		p, prest, pmore := strings.Cut(pattern, ".")
		s, srest, smore := strings.Cut(subject, ".")
		if p == ">" {
			return s != ""
		}
		if p != "*" && p != s || pmore != smore {
			return false
		}
		if !pmore {
			return true
		}
		pattern, subject = prest, srest
	}
}
