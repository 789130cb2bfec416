package link

import (
	"context"
	"errors"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/fleet/roster"
)

// reach puts a request to an agent, each time within limit. That the broker is away counts as nothing, and an agent
// that was there lately, and is not connected now, is waited for: its broker or itself may have been restarted. One
// that cannot connect, by the registrar's book, is not.
func (h *Hub) reach(ctx context.Context, p *peer, subject, nonce string, frame []byte, into any, limit time.Duration) error {
	began := time.Now()
	for {
		try, cancel := context.WithTimeout(ctx, limit)
		err := h.request(try, p, subject, nonce, frame, into)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
		switch away := !p.local && !p.bus.answers(); {
		case errors.Is(err, wire.ErrAway), away && errors.Is(err, context.DeadlineExceeded):
			if err := h.awaitBroker(ctx, p.bus.answers); err != nil {
				return err
			}
			began = time.Now()
		case errors.Is(err, wire.ErrNoResponder) && time.Now().Before(h.expected(p, began)) && h.standing(ctx, p.name, p.key) == "":
			select {
			case <-ctx.Done():
				return err
			case <-h.ctx.Done():
				return err
			case <-time.After(h.times.Back / 10):
			}
		default:
			return err
		}
	}
}

// expected is until when an agent that nobody answers for may still come, if it has been waited for since began.
func (h *Hub) expected(p *peer, began time.Time) time.Time {
	p.mu.Lock()
	patience, heard := p.patience, p.heard
	p.mu.Unlock()
	if !heard.IsZero() {
		patience = max(patience, min(roster.Restart, h.times.Return))
	}
	until := began.Add(patience)
	if back := h.comeback(p.bus); back.After(until) {
		return back
	}
	return until
}

// comeback is until when agents may take to come back to a broker that was away, the zero time if it was not.
func (h *Hub) comeback(b *bus) time.Time {
	found := b.found()
	if found.IsZero() {
		return found
	}
	n := 0
	if h.cfg.Roster != nil {
		n = h.cfg.Roster.Size()
	}
	return found.Add(wire.Comeback(n) + h.times.Back)
}
