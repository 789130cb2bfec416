package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"hark/agent/wire"
)

// call is a request that waits for its reply.
type call struct {
	subject string
	joiner  joiner
	reply   chan []byte // one slot; the first whole reply wins
	absent  chan struct{}
	denied  chan error // one slot
}

// Request implements wire.Transport. All requests share one subscription.
func (t *Transport) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	token := nuid.Next()
	c := &call{subject: subject, reply: make(chan []byte, 1), absent: make(chan struct{}, 1), denied: make(chan error, 1)}
	t.mu.Lock()
	t.waiting[token] = c
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.waiting, token)
	}()
	if err := t.send(&nats.Msg{Subject: subject, Reply: t.inbox + token, Data: data}); err != nil {
		return nil, err
	}
	select {
	case answer := <-c.reply:
		return answer, nil
	case <-c.absent:
		return nil, wire.ErrNoResponder
	case err := <-c.denied:
		return nil, fmt.Errorf("%w: %v", wire.ErrDenied, err)
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return t.inTime(ctx, c)
		}
		return nil, ctx.Err()
	}
}

// inTime returns the answer to a request whose time is over, if it had arrived in time and this side was too busy to
// read it.
func (t *Transport) inTime(ctx context.Context, c *call) ([]byte, error) {
	t.arrears.settle(t.takeUp)
	select {
	case answer := <-c.reply:
		return answer, nil
	case <-c.absent:
		return nil, wire.ErrNoResponder
	default:
		return nil, ctx.Err()
	}
}

// refused ends the requests that the broker did not permit, and reports whether there were any. It needs mu.
func (t *Transport) refused(err error) bool {
	any := false
	for _, c := range t.waiting {
		if !strings.Contains(err.Error(), `Publish to "`+c.subject+`"`) {
			continue
		}
		any = true
		select {
		case c.denied <- err:
		default:
		}
	}
	return any
}

// answered handles a message to the inbox.
func (t *Transport) answered(m *nats.Msg) {
	t.mu.Lock()
	c := t.waiting[strings.TrimPrefix(m.Subject, t.inbox)]
	t.mu.Unlock()
	if c == nil {
		return // too late
	}
	if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
		select {
		case c.absent <- struct{}{}:
		default:
		}
		return
	}
	if whole, ok := c.joiner.join(m); ok {
		select {
		case c.reply <- whole:
		default:
		}
	}
}
