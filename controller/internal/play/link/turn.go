package link

import (
	"time"

	"hark/agent/wire"
)

// sessionMatch is what a message of a session is worth.
type sessionMatch int

const (
	// refused: the run goes on without the session, and sends it that.
	refused sessionMatch = iota
	// current: the session of the host's turn.
	current
	// left: what the agent's process before this one left of that session.
	left
)

// matchSession returns what a message of a session is worth. The first process of the agent that speaks in a turn has it:
// another one that was handed the same plan, since its state was set back, may not run it again. h.mu is held.
func (h *Hub) matchSession(p *peer, name string, s wire.Session) sessionMatch {
	t := h.hosts[name]
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

// grants are until when a session or call may count on what it was answered. Their fields are guarded by Hub.mu.
type grants struct {
	until   time.Time
	verdict wire.StopVerdict // of the last answer
}

// grant returns the verdict on a session or call that goes on, whose answers take as long as it says.
func (g *grants) grant(usual, late time.Duration, now time.Time) (v wire.StopVerdict) {
	lasts := wire.Grant(usual, late)
	if lasts > usual {
		v.Fresh = lasts
	}
	if until := now.Add(lasts); until.After(g.until) {
		g.until = until
	}
	return v
}

// takeLeave ends the turn of a host whose agent was restarted and has sent what its log held. While the agent is
// still asked to begin, its refusal to begin again says so.
func (h *Hub) takeLeave(name string) {
	h.mu.Lock()
	t := h.hosts[name]
	ends := t.playing && !t.opening
	h.mu.Unlock()
	if ends {
		h.loseHost(t, "the agent was restarted in the middle of the play")
	}
}

// settle waits until nothing can begin any more on a host that was given up, or of a call: either goes on for a
// moment after each answer.
func (h *Hub) settle(g *grants) {
	h.mu.Lock()
	wait := time.Until(g.until)
	h.mu.Unlock()
	select {
	case <-time.After(wait):
	case <-h.ctx.Done():
	}
}
