// Package link is the controller's side of the wire: it starts sessions on agents, lets them advance, collects
// their events exactly once and serves their asks. One Link spans agents behind the broker and the agent
// in this process (connection: local); callers do not see which is which.
package link

import (
	"context"

	"hark/agent/wire"
)

// Link talks to the agents of one run. All methods are safe for concurrent use.
type Link interface {
	// Start opens a session and waits for its acknowledgement. An agent that does not answer in time is an
	// *AbsentError with the reason for the user; with that as s.Absent the session is opened in this
	// process.
	Start(ctx context.Context, s wire.Start) error
	// Settle has a session of a host be possible where the host is, if it can: an agent is brought in by the login,
	// which Start then has as s.Login. False is that there can be none; its session is in this process then, and the
	// first call tells what is wrong.
	Settle(ctx context.Context, host string, login *wire.Login) bool
	Advance(a wire.Advance) error
	// Exec runs a call on a host and waits for its result: JSON of a module.
	Exec(ctx context.Context, e wire.Exec) ([]byte, error)
	// Reset forgets how a host was reached: the next call begins with a new connection, where calls make connections.
	Reset(host string)
	Cancel(c wire.Cancel) error
	// End drops the sessions of the run on all agents that were started.
	End(ctx context.Context) error
	// Events delivers every event of the run once, in order for each host. The owner of the Link closes it after End.
	Events() <-chan wire.Event
	// Lost delivers hosts whose presence was lost or that never answered a status request, with the reason.
	Lost() <-chan LostHost
	// Notices returns sentences, each once, about which hosts that were started have plays of other active runs, and
	// what hosts had done that came back after they were given up.
	Notices() []string
	Close() error
}

// Asks answers the asks of the run's agents. It is called concurrently; the Link sends what it returns.
type Asks interface {
	Answer(ctx context.Context, a wire.Ask) wire.Answer
}

// LostHost is a host that went away in the middle of a run.
type LostHost struct {
	Host, Reason string
}

// AbsentError says why a host's agent cannot be reached: never enrolled, last seen when.
type AbsentError struct {
	Host, Reason string
	// Never reports whether there is no such agent: not that it is away.
	Never bool
	// Replayed says that the agent was opened with this nonce before.
	Replayed bool
}

func (e *AbsentError) Error() string { return e.Reason }
