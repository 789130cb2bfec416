package link

import (
	"sync"
	"time"

	"hark/agent/wire"
)

// members are the agents, hosts and delegated calls of a run, as far as they are known.
type members struct {
	mu     sync.Mutex
	peers  map[string]*peer        // by agent id; guarded by mu
	hosts  map[string]*host        // by inventory name; guarded by mu
	places uint64                  // how many openings there were; guarded by mu
	calls  map[string]*pendingExec // by Exec.ID; guarded by mu
}

func newMembers() *members {
	return &members{peers: map[string]*peer{}, hosts: map[string]*host{}, calls: map[string]*pendingExec{}}
}

func (m *members) allPeers() []*peer {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]*peer, 0, len(m.peers))
	for _, p := range m.peers {
		out = append(out, p)
	}
	return out
}

// turnTo begins a turn of a host at an agent. m.mu is held.
func (m *members) turnTo(name string, p *peer) *host {
	t := m.hosts[name]
	if t == nil {
		t = &host{name: name}
		m.hosts[name] = t
	}
	p.hosts[name] = true
	p.release(time.Now()) // what was not heard of it before is no silence
	t.peer, t.turn, t.life, t.missing = p, t.turn+1, "", 0
	t.playing, t.opening, t.over, t.gate = true, true, false, ""
	m.places++
	t.place, t.hears, t.deferredAck, t.went = m.places, false, nil, false
	t.grants = grants{} // the turn before has ended or was given up
	return t
}

// match returns what a message of a session is worth. The first process of the agent that speaks in a turn has it:
// another one that was handed the same plan, since its state was set back, may not run it again. m.mu is held.
func (m *members) match(p *peer, name string, s wire.Session) sessionMatch {
	t := m.hosts[name]
	if t == nil || t.peer != p || t.over || s.Turn != t.turn || s.Life == "" {
		return refused
	}
	switch {
	case s.Left && s.Life != t.life:
		return left
	case s.Left:
		return refused
	case t.life == "":
		t.life = s.Life
	case t.life != s.Life:
		return refused
	}
	t.verdict = t.grant(t.fresh, s.Late, time.Now())
	return current
}

// awaited reports whether something is to come from an agent.
func (m *members) awaited(p *peer) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.expects(m.hosts) != nothing {
		return true
	}
	for _, x := range m.calls {
		if x.peer == p {
			return true
		}
	}
	return false
}

// note reports whether an event is the next of its host, which counts from now on: whoever reads that a play has
// ended may start another at once, whose events are numbered on from here. If it is not, ok reports whether it was
// there before.
func (m *members) note(t *host, e wire.Event, turn uint64) (fresh, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case t.over || t.turn != turn: // meanwhile
		return false, false
	case e.Seq <= t.seq:
		return false, true
	case e.Seq != t.seq+1: // one is missing: it will be sent again
		return false, false
	}
	t.seq, t.gate = e.Seq, e.Gate()
	if e.Kind == wire.Ended {
		t.playing = false
	}
	return true, true
}

func (m *members) finishCall(id string, p *peer, r execResult) {
	m.mu.Lock()
	x := m.calls[id]
	m.mu.Unlock()
	if x == nil || x.peer != p {
		return
	}
	select {
	case x.done <- r:
	default:
	}
}

// dropCalls ends the calls that another process of the agent had taken.
func (m *members) dropCalls(p *peer, life, reason string) {
	m.mu.Lock()
	var lost []string
	for id, x := range m.calls {
		if x.peer == p && x.life != "" && x.life != life {
			lost = append(lost, id)
		}
	}
	m.mu.Unlock()
	for _, id := range lost {
		m.finishCall(id, p, execResult{err: &AbsentError{Reason: reason + "; whether this task was done is not known"}})
	}
}

// renewCall answers the sign of life of a call: one that nobody waits for any more is not to begin.
func (m *members) renewCall(p *peer, r wire.Renew, fresh time.Duration) wire.Renewed {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.Call == "" { // an agent of an older version, which does not say
		return wire.Renewed{StopVerdict: wire.StopVerdict{Over: !p.hosts[r.Host]}}
	}
	x := m.calls[r.Call]
	if x == nil || x.peer != p || x.over || !x.takenBy(r.Life) {
		return wire.Renewed{StopVerdict: wire.StopVerdict{Over: true}}
	}
	return wire.Renewed{StopVerdict: x.grant(fresh, r.Late, time.Now())}
}
