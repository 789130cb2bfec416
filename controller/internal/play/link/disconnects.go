package link

import (
	"context"
	"errors"
	"time"

	"hark/agent/wire"
)

// listenForDisconnects hears from the broker which connections it loses. It is only sooner than asking: a broker that does
// not report to this account, or does not let it listen, loses nothing.
func (h *Hub) listenForDisconnects(b *bus) error {
	s, err := b.transport.Subscribe(wire.DisconnectSubject, func(m wire.Msg) {
		if key := wire.Disconnected(m.Data); key != "" {
			h.disconnected(key)
		}
	})
	if err != nil {
		return err
	}
	b.subs = append(b.subs, s)
	ctx, cancel := context.WithTimeout(h.ctx, 5*time.Second)
	defer cancel()
	if err := b.transport.Flush(ctx); !errors.Is(err, wire.ErrDenied) {
		return err
	}
	return nil
}

// disconnected looks after an agent whose connection was lost: one whose broker was restarted, or whose line was cut
// for a moment, comes back.
func (h *Hub) disconnected(key string) {
	h.mu.Lock()
	p := h.peers[wire.IDOf(key)]
	h.mu.Unlock()
	if p == nil || p.local || !h.awaited(p) || !p.setAway(true) {
		return
	}
	h.work.Go(func() {
		defer p.setAway(false)
		if h.staysAway(p) && h.awaited(p) {
			h.lose(p, func(*host) string { return "its agent has gone away" + p.lastSeen() })
		}
	})
}

// staysAway reports whether nobody answers for the agent until its time to come back is over.
func (h *Hub) staysAway(p *peer) bool {
	ping := Pinger{Transport: p.bus.transport, Operator: p.bus.operator, Fleet: h.cfg.Fleet}
	for until := time.Now().Add(h.times.Back); ; {
		if back := h.comeback(p.bus); back.After(until) {
			until = back
		}
		ctx, cancel := context.WithTimeout(h.ctx, h.times.Back)
		_, err := ping.Ping(ctx, p.key)
		cancel()
		if !errors.Is(err, wire.ErrNoResponder) {
			return false // it is there, or must be asked
		}
		if time.Now().After(until) {
			return true
		}
		select {
		case <-h.ctx.Done():
			return false
		case <-time.After(h.times.Back / 10):
		}
	}
}

// setAway notes that somebody looks after the agent, or no more, and reports whether that is new.
func (p *peer) setAway(on bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := p.away != on
	p.away = on
	return changed
}
