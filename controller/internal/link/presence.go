package link

import (
	"context"
	"time"

	"hark/agent/wire"
)

// ping is a question whether an agent is there; signed once and sent as long as it is good.
type ping struct {
	nonce   string
	frame   []byte
	made    time.Time
	failing time.Time // since when it is not answered, zero if it is
	asking  bool
}

// watch asks the broker, and the silent agents of the run behind it, whether they are there, until the Hub is closed.
func (h *Hub) watch(b *bus) {
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-time.After(h.times.Silence / 4):
		}
		var awaited []*peer
		for _, p := range h.allPeers() {
			if !p.local && h.awaited(p) {
				awaited = append(awaited, p)
			}
		}
		if len(awaited) == 0 {
			continue
		}
		h.tend(b)
		if !b.answers() {
			continue // what is asked now says nothing of agents
		}
		for _, p := range awaited {
			if p.beginPing(h.times.Silence) {
				h.work.Go(func() { h.probe(p) })
			}
		}
	}
}

// awaited tells whether something is to come from an agent.
func (h *Hub) awaited(p *peer) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name := range p.hosts {
		if t := h.hosts[name]; t != nil && t.peer == p && t.playing {
			return true
		}
	}
	for _, x := range h.execs {
		if x.peer == p {
			return true
		}
	}
	return false
}

// beginPing tells whether it is time to ask the agent, and if so that somebody does.
func (p *peer) beginPing(silence time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ping != nil && p.ping.asking || time.Since(p.heard) < silence {
		return false
	}
	if p.ping == nil {
		p.ping = &ping{}
	}
	p.ping.asking = true
	return true
}

// probe asks an agent once and draws the conclusions.
func (h *Hub) probe(p *peer) {
	began := time.Now()
	alive, err := h.ask(p, began)
	now := time.Now()
	sound, found, back := p.bus.answers(), p.bus.found(), h.comeback(p.bus)
	p.mu.Lock()
	p.ping.asking = false
	gone := p.ping.take(began, now, err != nil, sound, found) >= h.times.Gone && now.After(back)
	p.mu.Unlock()
	switch {
	case h.ctx.Err() != nil:
	case gone:
		h.lose(p, func(*host) string { return "its agent has gone away" + p.lastSeen() })
	case err == nil:
		h.compare(p, alive)
	}
}

// take notes what came of asking: for how long the agent has not answered, 0 if it has. Only time in which the broker answered this side counts; found
// is since when it does.
func (q *ping) take(began, now time.Time, failed, sound bool, found time.Time) time.Duration {
	if !failed || !sound {
		q.failing = time.Time{}
		return 0
	}
	if q.failing.IsZero() {
		q.failing = began
	}
	if found.After(q.failing) {
		q.failing = found
	}
	return max(now.Sub(q.failing), 1)
}

// ask asks an agent, until it would be given up.
func (h *Hub) ask(p *peer, began time.Time) (*wire.Alive, error) {
	p.mu.Lock()
	q := p.ping
	limit := h.times.Answer
	if !q.failing.IsZero() {
		limit = max(min(limit, q.failing.Add(h.times.Gone).Sub(began)), h.times.Answer/30)
	}
	p.mu.Unlock()
	if time.Since(q.made) > wire.Lifetime/2 {
		nonce := wire.NewNonce()
		head := wire.Header{Kind: wire.KindPing, Fleet: h.cfg.Fleet, Run: h.cfg.Run, Targets: []string{p.id}, Nonce: nonce}
		frame, err := h.codec.Pack(head, struct{}{}, wire.Packing{Sign: p.bus.operator})
		if err != nil {
			return nil, err
		}
		q.nonce, q.frame, q.made = nonce, frame, time.Now()
	}
	ctx, cancel := context.WithTimeout(h.ctx, limit)
	defer cancel()
	var alive wire.Alive
	if err := h.request(ctx, p, wire.ToHost(p.id, wire.KindPing), q.nonce, q.frame, &alive); err != nil {
		return nil, err
	}
	return &alive, nil
}

// compare finds hosts whose session their agent does not have: it was restarted, or took the Start and forgot it. Twice in a row is
// proof, since a session may have ended while its last events were on their way.
func (h *Hub) compare(p *peer, alive *wire.Alive) {
	var missing []*host
	h.mu.Lock()
	for name := range p.hosts {
		t := h.hosts[name]
		switch {
		case t == nil || t.peer != p || !t.playing || t.opening:
		case alive.Life == t.life && alive.Turns[name] == t.turn:
			t.missing = 0
		default:
			if t.missing++; t.missing >= 2 {
				missing = append(missing, t)
			}
		}
	}
	h.mu.Unlock()
	restarted := "its agent was restarted " + alive.Hello.Started.Local().Format("2006-01-02 15:04:05")
	for _, t := range missing {
		h.loseHost(t, restarted+" and has lost the play")
	}
	h.dropCalls(p, alive.Life, restarted)
}

// lose gives up everything that is awaited of an agent.
func (h *Hub) lose(p *peer, reason func(*host) string) {
	h.mu.Lock()
	var hosts []*host
	for name := range p.hosts {
		if t := h.hosts[name]; t != nil && t.peer == p && t.playing {
			hosts = append(hosts, t)
		}
	}
	var calls []string
	for id, x := range h.execs {
		if x.peer == p {
			calls = append(calls, id)
		}
	}
	h.mu.Unlock()
	for _, t := range hosts {
		h.mu.Lock()
		t.over = true
		h.mu.Unlock()
	}
	for _, t := range hosts {
		h.settle(t)
		h.loseHost(t, reason(t))
	}
	for _, id := range calls {
		h.finishExec(id, p, execResult{err: &AbsentError{Reason: reason(nil)}})
	}
}

func (h *Hub) loseHost(t *host, reason string) {
	h.mu.Lock()
	was, p := t.playing, t.peer
	t.playing, t.over = false, true
	h.mu.Unlock()
	p.end(toldAlone) // it may say nothing of its own any more
	if !was {
		return
	}
	select {
	case h.lost <- Loss{Host: t.name, Reason: reason}:
	case <-h.ctx.Done():
	}
}
