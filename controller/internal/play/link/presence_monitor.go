package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hark/agent/wire"
)

// presenceMonitor finds out which agents of the run have gone away, and gives up their hosts and calls.
type presenceMonitor struct {
	cfg      *Config
	times    *Times
	codec    *wire.Codec
	ctx      context.Context // of the Hub
	work     *crew
	members  *members
	requests *requester
	lost     chan LostHost
	// lateAcks answers the batches that have waited for too long.
	lateAcks func(now time.Time)
}

// watch asks the broker, and the silent agents of the run behind it, whether they are there, until the Hub is closed.
// A broker that was found silent is asked until it answers, whether or not anything is awaited: the next play waits
// for that.
func (w *presenceMonitor) watch(b *bus) {
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-time.After(w.times.Silence / 4):
		}
		w.lateAcks(time.Now())
		awaited := allAwaited(w.members)
		if len(awaited) == 0 && b.quiet(time.Now()) == 0 {
			continue
		}
		w.tend(b)
		if !b.answers() {
			continue // what is asked now says nothing of agents
		}
		for _, p := range silent(awaited, w.times.Silence, anyFails(awaited), time.Now()) {
			w.work.Go(func() { w.probe(p) })
		}
	}
}

// tend asks the broker whether it is there.
func (w *presenceMonitor) tend(b *bus) {
	ctx, cancel := context.WithTimeout(w.ctx, w.times.Silence/2)
	defer cancel()
	err := b.transport.Flush(ctx)
	if w.ctx.Err() != nil {
		return
	}
	now := time.Now()
	b.note(err == nil && !b.transport.Since().IsZero(), now)
	switch quiet := b.quiet(now); {
	case quiet >= w.times.Outage:
		for _, p := range w.members.allPeers() {
			if p.bus == b {
				w.lose(p, func(*host) string { return fmt.Sprintf("the broker has been away for %s", quiet.Round(time.Second)) })
			}
		}
	case quiet >= w.times.Silence && b.warns(true):
		w.requests.warn(brokerAway(w.times.Outage))
	case quiet == 0 && b.warns(false):
		w.requests.warn("the broker is back")
	}
}

// probe asks an agent once and draws the conclusions. An answer that comes after the agent has been asked again counts
// as any other word of it.
func (w *presenceMonitor) probe(p *peer) {
	began := time.Now()
	until := patientUntil(w.members, w.times, p)
	err := w.ask(p, began, until)
	now := time.Now()
	sound, found, back := p.bus.answers(), p.bus.found(), w.requests.comeback(p.bus)
	until = latest(patientUntil(w.members, w.times, p), back)
	p.mu.Lock()
	p.ping.asking = false
	failed := err != nil && p.heard.Before(began)
	gone := p.ping.take(began, now, failed, sound, found) >= w.times.Gone && !now.Before(until)
	p.mu.Unlock()
	if gone && w.ctx.Err() == nil {
		w.lose(p, func(*host) string { return "its agent has gone away" + p.lastSeen() })
	}
}

// ask asks an agent, and waits for its answer until it is to be asked again, or would be given up: not before until.
func (w *presenceMonitor) ask(p *peer, began, until time.Time) error {
	p.mu.Lock()
	q := p.ping
	limit := w.times.Answer
	if !q.failing.IsZero() {
		limit = max(min(limit, latest(q.failing.Add(w.times.Gone), until).Sub(began)), w.times.Answer/30)
	}
	p.mu.Unlock()
	if time.Since(q.made) > wire.Lifetime/2 {
		nonce := wire.NewNonce()
		head := wire.Header{Kind: wire.KindPing, Fleet: w.cfg.Fleet, Run: w.cfg.Run, Targets: []string{p.id}, Nonce: nonce}
		frame, err := w.codec.Pack(head, struct{}{}, wire.Packing{Sign: p.bus.operator})
		if err != nil {
			return err
		}
		q.nonce, q.frame, q.made = nonce, frame, time.Now()
	}
	nonce, frame := q.nonce, q.frame
	answered := make(chan error, 1)
	w.work.Go(func() {
		ctx, cancel := context.WithTimeout(w.ctx, mostLate)
		defer cancel()
		var alive wire.Alive
		err := w.requests.request(ctx, p, wire.HostSubject(p.id, wire.KindPing), nonce, frame, &alive)
		answered <- err
		if err == nil && w.ctx.Err() == nil {
			w.compare(p, &alive, began)
		}
	})
	select {
	case err := <-answered:
		return err
	case <-time.After(limit):
		return context.DeadlineExceeded
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
}

// compare finds hosts whose session their agent does not have: it was restarted, or took the Start and forgot it.
// Twice in a row is proof, since a session may have ended while its last events were on their way. What was asked
// before the session was there, or before the agent was found without it, says nothing of either.
func (w *presenceMonitor) compare(p *peer, alive *wire.Alive, asked time.Time) {
	var missing []*host
	w.members.mu.Lock()
	for name := range p.hosts {
		t := w.members.hosts[name]
		switch {
		case t == nil || t.peer != p || !t.playing || t.opening || !asked.After(t.known):
		case alive.Life == t.life && alive.Turns[name] == t.turn:
			t.missing = 0
		default:
			t.known = time.Now()
			if t.missing++; t.missing >= 2 {
				missing = append(missing, t)
			}
		}
	}
	w.members.mu.Unlock()
	restarted := "its agent was restarted " + alive.Hello.Started.Local().Format("2006-01-02 15:04:05")
	for _, t := range missing {
		w.loseHost(t, restarted+" and has lost the play")
	}
	if time.Since(asked) <= w.times.Answer { // else another process may have taken them meanwhile
		w.members.dropCalls(p, alive.Life, restarted)
	}
}

// listen hears from the broker which connections it loses. It is only sooner than asking: a broker that does
// not report to this account, or does not let it listen, loses nothing.
func (w *presenceMonitor) listen(b *bus) error {
	s, err := b.transport.Subscribe(wire.DisconnectSubject, func(m wire.Msg) {
		if key := wire.Disconnected(m.Data); key != "" {
			w.disconnected(key)
		}
	})
	if err != nil {
		return err
	}
	b.subs = append(b.subs, s)
	ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
	defer cancel()
	if err := b.transport.Flush(ctx); !errors.Is(err, wire.ErrDenied) {
		return err
	}
	return nil
}

// disconnected looks after an agent whose connection was lost: one whose broker was restarted, or whose line was cut
// for a moment, comes back.
func (w *presenceMonitor) disconnected(key string) {
	w.members.mu.Lock()
	p := w.members.peers[wire.IDOf(key)]
	w.members.mu.Unlock()
	if p == nil || p.local || !w.members.awaited(p) || !p.setAway(true) {
		return
	}
	w.work.Go(func() {
		defer p.setAway(false)
		if w.staysAway(p) && w.members.awaited(p) {
			w.lose(p, func(*host) string { return "its agent has gone away" + p.lastSeen() })
		}
	})
}

// staysAway reports whether nobody answers for the agent until its time to come back is over.
func (w *presenceMonitor) staysAway(p *peer) bool {
	ping := Pinger{Transport: p.bus.transport, Operator: p.bus.operator, Fleet: w.cfg.Fleet}
	for until := time.Now().Add(w.times.Back); ; {
		if back := w.requests.comeback(p.bus); back.After(until) {
			until = back
		}
		ctx, cancel := context.WithTimeout(w.ctx, w.times.Back)
		_, err := ping.Ping(ctx, p.key)
		cancel()
		if !errors.Is(err, wire.ErrNoResponder) {
			return false // it is there, or must be asked
		}
		if time.Now().After(until) {
			return true
		}
		select {
		case <-w.ctx.Done():
			return false
		case <-time.After(w.times.Back / 10):
		}
	}
}

// lose gives up everything that is awaited of an agent.
func (w *presenceMonitor) lose(p *peer, reason func(*host) string) {
	w.members.mu.Lock()
	var hosts []*host
	for name := range p.hosts {
		if t := w.members.hosts[name]; t != nil && t.peer == p && t.playing {
			hosts = append(hosts, t)
		}
	}
	calls := map[string]*pendingExec{}
	for id, x := range w.members.calls {
		if x.peer == p {
			x.over, calls[id] = true, x
		}
	}
	for _, t := range hosts {
		t.over = true
	}
	w.members.mu.Unlock()
	for _, t := range hosts {
		w.settle(&t.grants)
		w.loseHost(t, reason(t))
	}
	for id, x := range calls {
		w.settle(&x.grants)
		w.members.finishCall(id, p, execResult{err: &AbsentError{Reason: reason(nil)}})
	}
}

// settle waits until nothing can begin any more on a host that was given up, or of a call: either goes on for a
// moment after each answer.
func (w *presenceMonitor) settle(g *grants) {
	w.members.mu.Lock()
	wait := time.Until(g.until)
	w.members.mu.Unlock()
	select {
	case <-time.After(wait):
	case <-w.ctx.Done():
	}
}

func (w *presenceMonitor) loseHost(t *host, reason string) {
	w.members.mu.Lock()
	was, p := t.playing, t.peer
	t.playing, t.over = false, true
	w.members.mu.Unlock()
	p.end(needsEnd) // it may say nothing of its own any more
	if !was {
		return
	}
	select {
	case w.lost <- LostHost{Host: t.name, Reason: reason}:
	case <-w.ctx.Done():
	}
}

// takeLeave ends the turn of a host whose agent was restarted and has sent what its log held. While the agent is
// still asked to begin, its refusal to begin again says so.
func (w *presenceMonitor) takeLeave(name string) {
	w.members.mu.Lock()
	t := w.members.hosts[name]
	ends := t.playing && !t.opening
	w.members.mu.Unlock()
	if ends {
		w.loseHost(t, "the agent was restarted in the middle of the play")
	}
}
