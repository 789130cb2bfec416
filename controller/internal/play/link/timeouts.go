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
// that cannot connect, by the registrar's book, is not. An answer that comes after limit, while ctx lasts, goes to late,
// and is the answer to the next try.
func (h *Hub) reach(ctx context.Context, p *peer, subject, nonce string, frame []byte, late chan wire.Ack,
	limit time.Duration) (wire.Ack, error) {
	began := time.Now()
	for {
		ack, err := try(ctx, h, p, subject, nonce, frame, late, limit)
		if err == nil || ctx.Err() != nil {
			return ack, err
		}
		switch away := !p.local && !p.bus.answers(); {
		case errors.Is(err, wire.ErrAway), away && errors.Is(err, context.DeadlineExceeded):
			if err := h.awaitBroker(ctx, p.bus.answers); err != nil {
				return ack, err
			}
			began = time.Now()
		case errors.Is(err, wire.ErrNoResponder) && time.Now().Before(h.expected(p, began)) && h.whyAbsent(ctx, p.name, p.key) == "":
			select {
			case <-ctx.Done():
				return ack, err
			case <-h.ctx.Done():
				return ack, err
			case <-time.After(h.times.Back / 10):
			}
		default:
			return ack, err
		}
	}
}

// try puts a request once, and waits for so long for its answer or a late one.
func try(ctx context.Context, h *Hub, p *peer, subject, nonce string, frame []byte, late chan wire.Ack,
	limit time.Duration) (wire.Ack, error) {
	failed := make(chan error, 1)
	h.work.Go(func() {
		var ack wire.Ack
		if err := h.request(ctx, p, subject, nonce, frame, &ack); err != nil {
			failed <- err
			return
		}
		select {
		case late <- ack:
		default: // there is one already
		}
	})
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case ack := <-late:
		return ack, nil
	case err := <-failed:
		return wire.Ack{}, err
	case <-timer.C:
		return wire.Ack{}, context.DeadlineExceeded
	case <-ctx.Done():
		return wire.Ack{}, ctx.Err()
	case <-h.ctx.Done():
		return wire.Ack{}, h.ctx.Err()
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
