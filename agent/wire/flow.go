package wire

import (
	"encoding/json"
	"time"

	"hark/playbook/plan"
)

// Opening is the body of a KindPlan message: a Start and the keys of the session. It is sealed for the agent.
type Opening struct {
	Start Start `json:"start"`
	// HostKey is shared by this agent and the controller, RunKey by all agents of the run.
	HostKey Key `json:"host_key"`
	RunKey  Key `json:"run_key"`
	// Advanced is the Seq of the last Advance before this play: later ones are awaited without gaps.
	Advanced uint64 `json:"advanced"`
	// Acked is the Seq of the last event that the controller has of this host: the session numbers on from there.
	Acked uint64 `json:"acked"`
	// Turn numbers the openings of a host in a run, from 1. One that comes after a later one is refused.
	Turn uint64 `json:"turn"`
	// Place numbers the openings of all hosts in a run, from 1: no two have the same. 0 is an earlier controller's.
	Place uint64 `json:"place,omitempty"`
	// Each: the controller sends what is for all agents of the run to ToEach, and to subjects of their kinds only as
	// long as some listen there.
	Each bool `json:"each,omitempty"`
	// Unsigned: the controller takes batches without a signature, since the key of the session proves whose they are.
	// Earlier controllers want one.
	Unsigned bool `json:"unsigned,omitempty"`
	// Sealed: the controller takes an acknowledgement that is sealed with HostKey and not signed, and the word of a
	// session that its run's end has reached it (KindEnd).
	Sealed bool `json:"sealed,omitempty"`
	// Within: the controller takes the acknowledgement within the session's first batch, if there is one soon. What
	// refuses the opening goes alone.
	Within bool `json:"within,omitempty"`
}

// Fresh is Start.Fresh where a Start does not say it.
const Fresh = 3 * time.Second

// Session returns what a session says from what others of the same host and run say: those before it, and those of
// the same agent before it was started again. It is in everything that a session sends; calls have none.
type Session struct {
	// Life is the process of the agent, Turn the opening that the session was handed last.
	Life string `json:"life,omitempty"`
	Turn uint64 `json:"turn,omitempty"`
	// Left: an earlier process of the agent had the session, and this one found its log. It only tells what that holds.
	Left bool `json:"left,omitempty"`
	// Late is how long the last answer took, if that was long: see Grant.
	Late time.Duration `json:"late,omitempty"`
}

// mostFresh is the largest Grant.
const mostFresh = time.Minute

// Grant is for how long a session may count on an answer whose answers take as long as it says, counted from its
// question: normally fresh, and more where that would be over before the answer is there. The controller reports the
// host lost no sooner than that after its answer.
func Grant(fresh, late time.Duration) time.Duration {
	return max(fresh, min(2*late, mostFresh))
}

// Verdict is in every answer to a session.
type Verdict struct {
	// Over says that the run goes on without the session, which may be dropped.
	Over bool `json:"over,omitempty"`
	// Fresh is for how long the session may count on this answer, if that is longer than its Start said.
	Fresh time.Duration `json:"fresh,omitempty"`
	// Held is for how long the answer was held back, though there was one: that does not make it late.
	Held time.Duration `json:"held,omitempty"`
}

// Lasts is Fresh.
func (v *Verdict) Lasts() time.Duration { return v.Fresh }

// HeldFor is Held.
func (v *Verdict) HeldFor() time.Duration { return v.Held }

// IsOver reports whether the run goes on without the session.
func (v *Verdict) IsOver() bool { return v.Over }

// Order is the body of a KindExec message: a call and the key with which its result is sealed. It is sealed for the
// agent.
type Order struct {
	Exec    Exec `json:"exec"`
	HostKey Key  `json:"host_key"`
	// Lease is for how long the call goes on without a word from the controller.
	Lease time.Duration `json:"lease"`
	// Unsigned is Opening.Unsigned, for the result, and Sealed is Opening.Sealed.
	Unsigned bool `json:"unsigned,omitempty"`
	Sealed   bool `json:"sealed,omitempty"`
	// Lives: the controller lets the first life alone do the call that asks whether it may, so the agent need not
	// remember it beyond a power cut.
	Lives bool `json:"lives,omitempty"`
}

// Renew is an agent's sign of life in a run, asked for while it waits: it keeps the lease, and Advanced tells the
// controller which Advance it had last.
type Renew struct {
	Session
	// Call is the Exec that renews, "" for a session.
	Call     string  `json:"call,omitempty"`
	Host     string  `json:"host"`
	Advanced uint64  `json:"advanced"`
	At       plan.ID `json:"at,omitempty"` // where it stands
	// Cut, of a session that was left, says that the host was started anew since: what the session did last may not
	// be told.
	Cut bool `json:"cut,omitempty"`
}

// Renewed answers Renew with the Advances that the agent missed, in order.
type Renewed struct {
	Verdict
	Advances []Advance `json:"advances,omitempty"`
}

// ExecDone is the result of an Exec. It is sent again until acknowledged.
type ExecDone struct {
	ID     string          `json:"id"`
	Result json.RawMessage `json:"result"`
}

// Beat is what an agent says of itself with each heartbeat: what changes while it is there, so that nobody needs to
// ask it.
type Beat struct {
	// Refused counts the messages that it did not obey since it started, Lately those of the last hour.
	Refused map[Reason]uint64 `json:"refused,omitempty"`
	Lately  map[Reason]uint64 `json:"lately,omitempty"`
	// Jobs are its jobs that have not ended, the oldest first and MostTold at most. Afoot is how many there are.
	Jobs  []JobTold `json:"jobs,omitempty"`
	Afoot int       `json:"afoot,omitempty"`
}

// MostTold is how many jobs a heartbeat names.
const MostTold = 100

// JobTold is a job as a heartbeat names it, in clear: what the job is, its run's record has.
type JobTold struct {
	ID    string    `json:"id"`
	Run   string    `json:"run,omitempty"`
	State string    `json:"state"`
	Began time.Time `json:"began"`
}

// Alive answers a ping.
type Alive struct {
	Hello Hello `json:"hello"`
	// Life is the agent's. Turns are the hosts of the asked run that it holds sessions of, with the turn of each (see
	// Session).
	Life  string            `json:"life,omitempty"`
	Turns map[string]uint64 `json:"turns,omitempty"`
	// Left are the hosts of that run whose sessions an earlier process of the agent had, and of which it has yet to tell.
	Left []string `json:"left,omitempty"`
	// Program is the digest of the program that runs, "" if the agent does not know it.
	Program string `json:"program,omitempty"`
	// Refused counts the messages that the agent did not obey since it started.
	Refused map[Reason]uint64 `json:"refused,omitempty"`
	// Lately counts those of the last hour.
	Lately map[Reason]uint64 `json:"lately,omitempty"`
}
