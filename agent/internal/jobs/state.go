package jobs

import (
	"time"
)

// State is how a job stands.
//
//	            start                 the module ended
//	(nothing) ───────> queued ──────> running ─────────────────> finished   well
//	                     │               │                 └────> failed     with a failure
//	                     │               │ limit                          (what it started in the background lives on)
//	                     │               ├──── TERM, grace, KILL ──> timedout
//	                     │               │ cancel
//	                     ├───────────────┼──── TERM, grace, KILL ──> cancelled
//	                     │               │ its process is gone, or was told to end by somebody else: kill -9, a reboot
//	                     └───────────────┴──── KILL ───────────────> lost
//
// The five on the right are terminal: no job leaves them, and of those on arrows with KILL no process is left when
// they are entered. The job's own process enters them; the supervisor does so in its place when that process is gone
// or does not answer. It is the supervisor of the same agent, of one that was started later, or several at once (the
// processes of `hark play` share a directory): all come to the same state.
//
// The limit counts from the start of the job's process on a clock that nobody sets, and goes on while the agent is
// away.
type State string

// The states.
const (
	Queued    State = "queued"
	Running   State = "running"
	Finished  State = "finished"
	Failed    State = "failed"
	TimedOut  State = "timedout"
	Cancelled State = "cancelled"
	Lost      State = "lost"
)

// Terminal reports whether the state is final.
func (s State) Terminal() bool { return s != Queued && s != Running }

// version is that of the files in a job's directory.
const version = 1

// record is what state.json holds: all that is known of a job except its result. Arguments are never written.
type record struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	Module  string `json:"module"`
	Task    string `json:"task,omitempty"`
	Run     string `json:"run,omitempty"`
	Host    string `json:"host,omitempty"`
	User    string `json:"user,omitempty"`
	State   State  `json:"state"`
	// Why says why a job was lost.
	Why   string        `json:"why,omitempty"`
	Limit time.Duration `json:"limit"`
	NoLog bool          `json:"no_log,omitempty"`
	// Dir is ansible_async_dir if the task set it; only tasks with the same find the job. Results is the results_file.
	Dir     string `json:"dir,omitempty"`
	Results string `json:"results,omitempty"`
	// Collected says that the task that started it has waited for it and has its result.
	Collected bool `json:"collected,omitempty"`
	// Stripped says that its result and its output were removed to make room.
	Stripped bool `json:"stripped,omitempty"`
	// Group is the control group of the job, "" if it has none of its own.
	Group string `json:"group,omitempty"`
	Pid   int    `json:"pid,omitempty"`
	// Ticks is the start time of the process in /proc, Boot the boot id: with the pid they identify one process for ever.
	Ticks uint64    `json:"ticks,omitempty"`
	Boot  string    `json:"boot,omitempty"`
	Began time.Time `json:"began"`
	Ended time.Time `json:"ended,omitzero"`
}

// age returns how long the job's process has been running, by the clock that counts from boot; 0 if it has not begun.
func (r record) age() time.Duration {
	if r.Ticks == 0 {
		return 0
	}
	return sinceBoot() - time.Duration(r.Ticks)*(time.Second/ticksPerSecond)
}

// overdue reports whether the limit has passed.
func (r record) overdue() bool { return r.Limit > 0 && r.Boot == bootID() && r.age() >= r.Limit }
