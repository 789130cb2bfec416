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
	// Advanced is the Seq of the last Advance before this play. The agent expects the later ones without gaps.
	Advanced uint64 `json:"advanced"`
	// Acked is the Seq of the last event that the controller has of this host. The session numbers its events from there.
	Acked uint64 `json:"acked"`
	// Turn numbers the openings of a host in a run, from 1. The agent refuses an opening that arrives after a later one.
	Turn uint64 `json:"turn"`
	// Place numbers the openings of all hosts in a run, from 1; each is unique. 0 is that of an earlier controller.
	Place uint64 `json:"place,omitempty"`
	// Each says that the controller publishes messages for all agents of the run on ToEach, and on subjects of their kinds
	// only as long as some agents listen there.
	Each bool `json:"each,omitempty"`
	// Unsigned says that the controller accepts batches without a signature, since the key of the session proves their
	// origin. Earlier controllers want one.
	Unsigned bool `json:"unsigned,omitempty"`
	// Sealed says that the controller accepts an acknowledgement that is sealed with HostKey and not signed, and a
	// session's own report that the run's end has reached it (KindEnd).
	Sealed bool `json:"sealed,omitempty"`
	// Within says that the controller accepts the acknowledgement inside the session's first batch, if that comes soon. A
	// refusal goes alone.
	Within bool `json:"within,omitempty"`
}

// Fresh is Start.Fresh if a Start does not set it.
const Fresh = 3 * time.Second

// Session identifies a session: it separates its messages from those of earlier ones of the same host and run, and of
// the same agent before it was started again. It is in everything that a session sends; calls have none.
type Session struct {
	// Life is the process of the agent, Turn the last opening that the session received.
	Life string `json:"life,omitempty"`
	Turn uint64 `json:"turn,omitempty"`
	// Left says that an earlier process of the agent had the session, and this one found its log. It only reports what the
	// log holds.
	Left bool `json:"left,omitempty"`
	// Late is how long the last answer took, if that was long; see Grant.
	Late time.Duration `json:"late,omitempty"`
}

// mostFresh is the largest Grant.
const mostFresh = time.Minute

// Grant returns how long a session may count on an answer, from its question: normally fresh, and more for a session
// whose answers take so long that they would arrive too late. The controller reports the host as lost no sooner than
// that after its answer.
func Grant(fresh, late time.Duration) time.Duration {
	return max(fresh, min(2*late, mostFresh))
}

// StopVerdict is in every answer to a session. Over says that the session must stop.
type StopVerdict struct {
	// Over says that the run goes on without the session, which may be dropped.
	Over bool `json:"over,omitempty"`
	// Fresh is how long the session may count on this answer, if that is longer than its Start said.
	Fresh time.Duration `json:"fresh,omitempty"`
	// Held is how long the controller held a ready answer back. That does not make it late.
	Held time.Duration `json:"held,omitempty"`
}

// Lasts returns Fresh.
func (v *StopVerdict) Lasts() time.Duration { return v.Fresh }

// HeldFor returns Held.
func (v *StopVerdict) HeldFor() time.Duration { return v.Held }

// IsOver reports whether the run goes on without the session.
func (v *StopVerdict) IsOver() bool { return v.Over }

// Order is the body of a KindExec message: a call, and the key that seals its result. It is sealed for the agent.
type Order struct {
	Exec    Exec `json:"exec"`
	HostKey Key  `json:"host_key"`
	// Lease is how long the call goes on without hearing from the controller.
	Lease time.Duration `json:"lease"`
	// Unsigned is Opening.Unsigned for the result, and Sealed is Opening.Sealed.
	Unsigned bool `json:"unsigned,omitempty"`
	Sealed   bool `json:"sealed,omitempty"`
	// Lives says that the controller lets the first life alone do the call that asks whether it may. So the agent need not
	// remember the call beyond a power cut.
	Lives bool `json:"lives,omitempty"`
}

// Renew is an agent's sign of life in a run while it waits. It keeps the lease. Advanced tells the controller which
// Advance the agent had last.
type Renew struct {
	Session
	// Call is the Exec that renews, "" for a session.
	Call     string  `json:"call,omitempty"`
	Host     string  `json:"host"`
	Advanced uint64  `json:"advanced"`
	At       plan.ID `json:"at,omitempty"` // where it stands
	// Cut, of a session that was left, says that the host was restarted since: the log may have lost what the session did
	// last.
	Cut bool `json:"cut,omitempty"`
}

// Renewed answers Renew with the Advances that the agent missed, in order.
type Renewed struct {
	StopVerdict
	Advances []Advance `json:"advances,omitempty"`
}

// ExecDone is the result of an Exec. It is sent again until acknowledged.
type ExecDone struct {
	ID     string          `json:"id"`
	Result json.RawMessage `json:"result"`
}

// Beat is the body of a heartbeat: what changes while the agent is there, so that nobody needs to ask it.
type Beat struct {
	// Refused counts the messages that the agent refused since it started, RefusedLastHour those of the last hour.
	Refused         map[Reason]uint64 `json:"refused,omitempty"`
	RefusedLastHour map[Reason]uint64 `json:"refused_last_hour,omitempty"`
	// Jobs are its jobs that have not ended, the oldest first and at most MaxBeatJobs. Afoot is how many there are.
	Jobs     []BeatJob `json:"jobs,omitempty"`
	JobCount int       `json:"job_count,omitempty"`
}

// MaxBeatJobs is how many jobs a heartbeat names at most.
const MaxBeatJobs = 100

// BeatJob is a job as a heartbeat names it, in clear. Task and arguments are in the record of its run.
type BeatJob struct {
	ID    string    `json:"id"`
	Run   string    `json:"run,omitempty"`
	State string    `json:"state"`
	Began time.Time `json:"began"`
}

// Ping asks an agent whether it is there.
type Ping struct {
	// Greet asks it to say hello again: what it said last was overwritten at the broker.
	Greet bool `json:"greet,omitempty"`
}

// Alive answers a ping.
type Alive struct {
	Hello Hello `json:"hello"`
	// Life is the agent's. Turns are the hosts of the run whose sessions it holds, each with its turn (see Session).
	Life  string            `json:"life,omitempty"`
	Turns map[string]uint64 `json:"turns,omitempty"`
	// Left are the hosts of that run whose sessions an earlier process of the agent had, and that it has not
	// reported yet.
	Left []string `json:"left,omitempty"`
	// Program is the digest of the running program, "" if the agent does not know it.
	Program string `json:"program,omitempty"`
	// Refused counts the messages that the agent refused since it started.
	Refused map[Reason]uint64 `json:"refused,omitempty"`
	// RefusedLastHour counts those of the last hour.
	RefusedLastHour map[Reason]uint64 `json:"refused_last_hour,omitempty"`
}
