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
}

// Order is the body of a KindExec message: a call and the key with which its result is sealed. It is sealed for the agent.
type Order struct {
	Exec    Exec `json:"exec"`
	HostKey Key  `json:"host_key"`
	// Lease is for how long the call goes on without a word from the controller.
	Lease time.Duration `json:"lease"`
}

// Renew is an agent's sign of life in a run, asked for while it waits: it keeps the lease, and Advanced tells the
// controller which Advance it had last.
type Renew struct {
	Host     string  `json:"host"`
	Advanced uint64  `json:"advanced"`
	At       plan.ID `json:"at,omitempty"` // where it stands
}

// Renewed answers Renew with the Advances that the agent missed, in order.
type Renewed struct {
	Advances []Advance `json:"advances,omitempty"`
	// Over says that the run knows this host no more: the session may be dropped.
	Over bool `json:"over,omitempty"`
}

// ExecDone is the result of an Exec. It is sent again until acknowledged.
type ExecDone struct {
	ID     string          `json:"id"`
	Result json.RawMessage `json:"result"`
}

// Alive answers a ping.
type Alive struct {
	Hello Hello `json:"hello"`
	// Sessions are the hosts of the asked run that the agent holds sessions of.
	Sessions []string `json:"sessions,omitempty"`
	// Refused counts the messages that the agent did not obey since it started.
	Refused map[Reason]uint64 `json:"refused,omitempty"`
	// Lately counts those of the last hour.
	Lately map[Reason]uint64 `json:"lately,omitempty"`
}
