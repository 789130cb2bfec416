// Package keeper sees to duties: it knows whose turn it is, has each turn driven as an ordinary run of that one host,
// concludes from its result how the host stands, and keeps that where everybody can read it. Board decides, and
// is told the time; Keeper has the clock, the store, the lock and the driver. It neither reads duties
// (controller/internal/duties/duty) nor plays (the driver's business).
package keeper

import (
	"context"
	"time"

	"hark/controller/internal/duties/duty"
	"hark/controller/internal/duties/dutystate"
)

// Host is a host of a duty.
type Host = dutystate.Host

// Turn is what a driver is asked to do: a run of a duty's play over hosts, one unless the duty is done together.
type Turn struct {
	Duty   duty.Duty
	Commit string
	Hosts  []Host
	Slot   duty.Slot
	Mode   duty.Mode
	// Nonce makes the openings of the run on a host the same whichever keeper drives it, so that the host begins it
	// once.
	Nonce string
	// Push takes no regard of other runs that the host is at.
	Push bool
	// Flags are those that the run has beside the keeper's own.
	Flags []string
	// Noise are the tasks of a host, by its agent, whose changes mean nothing: a turn that finds nothing else leaves
	// no record.
	Noise map[string][]string
	// Looks is a check whose changes are noise, since the host is as it should be.
	Looks bool
}

// Status is how a turn ended on a host.
type TurnStatus string

// The ways in which a turn ends.
const (
	Done   TurnStatus = "done"   // the run went through
	Broke  TurnStatus = "failed" // a task failed, or the run could not be carried on
	Away   TurnStatus = "absent" // the agent was not there, and nothing was done
	Lost   TurnStatus = "lost"   // the agent went away in the middle
	Busy   TurnStatus = "busy"   // it is at a run of somebody else, and nothing was done
	OnHold TurnStatus = "held"
	Twice  TurnStatus = "twice" // the host has begun this turn before, and nothing was done now
)

// Outcome is the result of a turn on one host.
type Outcome struct {
	Status TurnStatus `json:"status"`
	Run    string     `json:"run,omitempty"` // id, "" where nothing is recorded
	Why    string     `json:"why,omitempty"`
	// Until is when a hold ends.
	Until time.Time `json:"until,omitzero"`
	// Changes are the tasks that changed the host, or would have. Blind are those at which a check could not look, of
	// Tasks.
	Changes []dutystate.Change `json:"changes,omitempty"`
	Failed  []string           `json:"failed,omitempty"` // tasks
	Blind   []string           `json:"blind,omitempty"`
	Tasks   int                `json:"tasks,omitempty"`
}

// Driver drives runs. Carry is called from a goroutine for each turn; it gives an outcome for each host of the turn,
// by the agent's id.
type Driver interface {
	Carry(ctx context.Context, t Turn) map[string]Outcome
}

// Store keeps what a keeper says. It is safe for concurrent use.
type Store interface {
	// Own are the words of this keeper.
	Own(ctx context.Context) (dutystate.Words, error)
	// Overwritten are those of its words that somebody has overwritten since it was called last.
	Overwritten(ctx context.Context) ([]dutystate.Place, error)
	PutState(ctx context.Context, s dutystate.State) error
	PutDefinition(ctx context.Context, d dutystate.Definition) error
	PutReport(ctx context.Context, r dutystate.Report) error
}

// Plan is a project as it is in force: its commit, with the duties and their hosts.
type Plan struct {
	Commit string
	Duties []Planned
	// Notify is who is notified of the project, and of duties that do not say it themselves.
	Notify *duty.Notify
}

// Planned is a duty with its hosts.
type Planned struct {
	duty.Duty
	Hosts []Host
	// Level is the language in which its play is read.
	Level string
	// At gives the duty as it is in another commit, false if that can no longer be played from or does not have it.
	At func(commit string) (duty.Duty, bool)
	// DeferredPlay makes it a play that was put off. It is nil for duties of the project.
	Later *dutystate.Later
}
