package link

import (
	"slices"
	"time"
)

// ping is a question whether an agent is there; signed once and sent as long as it is good.
type ping struct {
	nonce   string
	frame   []byte
	made    time.Time
	failing time.Time // since when it is not answered, zero if it is
	asking  bool
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
func allAwaited(m *members) map[*peer]expectation {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[*peer]expectation{}
	for _, p := range m.peers {
		if e := p.expects(m.hosts); e != nothing && !p.local {
			out[p] = e
		}
	}
	for _, x := range m.calls {
		if !x.peer.local {
			out[x.peer] = word
		}
	}
	return out
}

// expects returns what the hosts of an agent are to report. members.mu is held.
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

// patientUntil is until when an agent is not given up, as something came of it lately, or as what it does may count on
// its last answers: what comes of it until then shows that it is there.
func patientUntil(m *members, times *Times, p *peer) (until time.Time) {
	p.mu.Lock()
	if !p.heard.IsZero() {
		until = p.heard.Add(times.Silence + times.Gone)
	}
	p.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range p.hosts {
		if t := m.hosts[name]; t != nil && t.peer == p && t.playing {
			until = latest(until, t.until)
		}
	}
	for _, x := range m.calls {
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

// mostLate is how late an answer to a ping may come: as long as a session may count on an answer.
const mostLate = time.Minute
