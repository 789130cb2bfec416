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

// grants are until when a session or call may count on what it was answered. Their fields are guarded by members.mu.
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
