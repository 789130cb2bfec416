package link

import (
	"context"
	"slices"
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
// A broker that was found silent is asked until it answers, whether or not anything is awaited: the next play waits
// for that.
func (h *Hub) watch(b *bus) {
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-time.After(h.times.Silence / 4):
		}
		sendLateAcks(h, time.Now(), false)
		awaited := allAwaited(h)
		if len(awaited) == 0 && b.quiet(time.Now()) == 0 {
			continue
		}
		h.tend(b)
		if !b.answers() {
			continue // what is asked now says nothing of agents
		}
		for _, p := range silent(awaited, h.times.Silence, anyFails(awaited), time.Now()) {
			h.work.Go(func() { h.probe(p) })
		}
	}
}

// expectation is what is to come from an agent.
type expectation int

const (
	nothing expectation = iota
	// release: its hosts wait for others, and all that is to come of them until then is that they renew their lease;
	// or they are only being opened.
	release
	word
)

// askedAtOnce is how many agents are asked in each quarter of a Silence at most: where more are silent, each is asked
// less often, and those first that have been silent for longest. The controller must have time left for what agents
// tell by themselves.
const askedAtOnce = 128

// waitsLonger is how many times a Silence an agent may be silent whose hosts wait for others: longer than until they
// renew their lease. Once an agent does not answer the others of the run are asked too: what has cut one off may have
// cut off several, and each would be waited for in its turn.
const waitsLonger = 10

// anyFails reports whether an agent does not answer.
func anyFails(awaited map[*peer]expectation) bool {
	for p := range awaited {
		p.mu.Lock()
		fails := p.ping != nil && !p.ping.failing.IsZero()
		p.mu.Unlock()
		if fails {
			return true
		}
	}
	return false
}

// silent picks the agents that are to be asked now whether they are there, and notes that they are. alarm: another one
// does not answer.
func silent(awaited map[*peer]expectation, silence time.Duration, alarm bool, now time.Time) []*peer {
	type quiet struct {
		p     *peer
		heard time.Time
	}
	var all []quiet
	for p, e := range awaited {
		limit := silence
		if e == release && !alarm {
			limit *= waitsLonger
		}
		if heard, ok := p.silentFor(limit, now); ok {
			all = append(all, quiet{p, heard})
		}
	}
	slices.SortFunc(all, func(a, b quiet) int { return a.heard.Compare(b.heard) })
	var out []*peer
	for _, q := range all[:min(len(all), askedAtOnce)] {
		q.p.beginPing()
		out = append(out, q.p)
	}
	return out
}

// allAwaited returns the agents that still owe an answer.
func allAwaited(h *Hub) map[*peer]expectation {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := map[*peer]expectation{}
	for _, p := range h.peers {
		if e := p.expects(h.hosts); e != nothing && !p.local {
			out[p] = e
		}
	}
	for _, x := range h.execs {
		if !x.peer.local {
			out[x.peer] = word
		}
	}
	return out
}

// expects returns what the hosts of an agent are to report. Hub.mu is held.
func (p *peer) expects(all map[string]*host) expectation {
	most := nothing
	for name := range p.hosts {
		switch t := all[name]; {
		case t == nil || t.peer != p || !t.playing:
		case t.gate == "" && !t.opening: // who opens it asks already
			return word
		default:
			most = release
		}
	}
	return most
}

// awaited reports whether something is to come from an agent.
func (h *Hub) awaited(p *peer) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.expects(h.hosts) != nothing {
		return true
	}
	for _, x := range h.execs {
		if x.peer == p {
			return true
		}
	}
	return false
}

// silentFor reports whether nothing was heard of the agent for so long, since when, and that nobody asks it.
func (p *peer) silentFor(limit time.Duration, now time.Time) (heard time.Time, yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	heard = p.heard
	if p.released.After(heard) {
		heard = p.released
	}
	return heard, (p.ping == nil || !p.ping.asking) && now.Sub(heard) >= limit
}

// beginPing notes that somebody asks the agent.
func (p *peer) beginPing() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ping == nil {
		p.ping = &ping{}
	}
	p.ping.asking = true
}

// probe asks an agent once and draws the conclusions. An answer that comes after the agent has been asked again counts
// as any other word of it.
func (h *Hub) probe(p *peer) {
	began := time.Now()
	until := patientUntil(h, p)
	err := h.ask(p, began, until)
	now := time.Now()
	sound, found, back := p.bus.answers(), p.bus.found(), h.comeback(p.bus)
	until = latest(patientUntil(h, p), back)
	p.mu.Lock()
	p.ping.asking = false
	failed := err != nil && p.heard.Before(began)
	gone := p.ping.take(began, now, failed, sound, found) >= h.times.Gone && !now.Before(until)
	p.mu.Unlock()
	if gone && h.ctx.Err() == nil {
		h.lose(p, func(*host) string { return "its agent has gone away" + p.lastSeen() })
	}
}

// patientUntil is until when an agent is not given up, as something came of it lately, or as what it does may count on
// its last answers: what comes of it until then shows that it is there.
func patientUntil(h *Hub, p *peer) (until time.Time) {
	p.mu.Lock()
	if !p.heard.IsZero() {
		until = p.heard.Add(h.times.Silence + h.times.Gone)
	}
	p.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	for name := range p.hosts {
		if t := h.hosts[name]; t != nil && t.peer == p && t.playing {
			until = latest(until, t.until)
		}
	}
	for _, x := range h.execs {
		if x.peer == p {
			until = latest(until, x.until)
		}
	}
	return until
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// take notes what came of asking: for how long the agent has not answered, 0 if it has. Only time in which the broker
// answered this side counts; found is since when it does.
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

// ask asks an agent, and waits for its answer until it is to be asked again, or would be given up: not before until.
func (h *Hub) ask(p *peer, began, until time.Time) error {
	p.mu.Lock()
	q := p.ping
	limit := h.times.Answer
	if !q.failing.IsZero() {
		limit = max(min(limit, latest(q.failing.Add(h.times.Gone), until).Sub(began)), h.times.Answer/30)
	}
	p.mu.Unlock()
	if time.Since(q.made) > wire.Lifetime/2 {
		nonce := wire.NewNonce()
		head := wire.Header{Kind: wire.KindPing, Fleet: h.cfg.Fleet, Run: h.cfg.Run, Targets: []string{p.id}, Nonce: nonce}
		frame, err := h.codec.Pack(head, struct{}{}, wire.Packing{Sign: p.bus.operator})
		if err != nil {
			return err
		}
		q.nonce, q.frame, q.made = nonce, frame, time.Now()
	}
	nonce, frame := q.nonce, q.frame
	answered := make(chan error, 1)
	h.work.Go(func() {
		ctx, cancel := context.WithTimeout(h.ctx, mostLate)
		defer cancel()
		var alive wire.Alive
		err := h.request(ctx, p, wire.HostSubject(p.id, wire.KindPing), nonce, frame, &alive)
		answered <- err
		if err == nil && h.ctx.Err() == nil {
			h.compare(p, &alive, began)
		}
	})
	select {
	case err := <-answered:
		return err
	case <-time.After(limit):
		return context.DeadlineExceeded
	case <-h.ctx.Done():
		return h.ctx.Err()
	}
}

// mostLate is how late an answer to a ping may come: as long as a session may count on an answer.
const mostLate = time.Minute

// compare finds hosts whose session their agent does not have: it was restarted, or took the Start and forgot it.
// Twice in a row is proof, since a session may have ended while its last events were on their way. What was asked
// before the session was there, or before the agent was found without it, says nothing of either.
func (h *Hub) compare(p *peer, alive *wire.Alive, asked time.Time) {
	var missing []*host
	h.mu.Lock()
	for name := range p.hosts {
		t := h.hosts[name]
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
	h.mu.Unlock()
	restarted := "its agent was restarted " + alive.Hello.Started.Local().Format("2006-01-02 15:04:05")
	for _, t := range missing {
		h.loseHost(t, restarted+" and has lost the play")
	}
	if time.Since(asked) <= h.times.Answer { // else another process may have taken them meanwhile
		h.dropCalls(p, alive.Life, restarted)
	}
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
	calls := map[string]*pendingExec{}
	for id, x := range h.execs {
		if x.peer == p {
			x.over, calls[id] = true, x
		}
	}
	for _, t := range hosts {
		t.over = true
	}
	h.mu.Unlock()
	for _, t := range hosts {
		h.settle(&t.grants)
		h.loseHost(t, reason(t))
	}
	for id, x := range calls {
		h.settle(&x.grants)
		h.finishExec(id, p, execResult{err: &AbsentError{Reason: reason(nil)}})
	}
}

func (h *Hub) loseHost(t *host, reason string) {
	h.mu.Lock()
	was, p := t.playing, t.peer
	t.playing, t.over = false, true
	h.mu.Unlock()
	p.end(needsEnd) // it may say nothing of its own any more
	if !was {
		return
	}
	select {
	case h.lost <- LostHost{Host: t.name, Reason: reason}:
	case <-h.ctx.Done():
	}
}
