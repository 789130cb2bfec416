package wire

import (
	"errors"
	"fmt"
	"time"
)

// JobsModule is the name of the module of an Exec that asks an agent about its jobs. Its arguments are a JobsQuery, its
// result is a JobsReply. Playbooks cannot use it.
const JobsModule = "hark.jobs"

// JobsQuery is what `hark jobs` asks an agent.
type JobsQuery struct {
	// Op is list, show, tail, wait or cancel.
	Op string `json:"op"`
	// Pattern selects jobs by id, module (also without its collection), task, run or state, with * and ?; "" is all.
	// Live leaves out those that have ended.
	Pattern string `json:"pattern,omitempty"`
	Live    bool   `json:"live,omitempty"`
	// ID is the job of show, tail, wait and cancel.
	ID string `json:"id,omitempty"`
	// Offsets are where tail begins in stdout and stderr, in bytes; a negative one counts from the end.
	Offsets [2]int64 `json:"offsets,omitzero"`
	// Patience is how long wait waits for the end, and tail for something new.
	Patience time.Duration `json:"patience,omitempty"`
}

// JobsReply is the answer.
type JobsReply struct {
	Jobs []Job `json:"jobs,omitempty"`
	// Err says why there is no answer.
	Err string `json:"err,omitempty"`
	// Result is the job's, with show, wait and cancel, once it has ended.
	Result map[string]any `json:"result,omitempty"`
	// Output is what tail found in stdout and stderr; Offsets are where it ends.
	Output  [2][]byte `json:"output,omitzero"`
	Offsets [2]int64  `json:"offsets,omitzero"`
}

// maxJobs is how many jobs a list may have.
const maxJobs = 10_000

func (r *JobsReply) check() error {
	if len(r.Jobs) > maxJobs {
		return fmt.Errorf("it lists more than %d jobs", maxJobs)
	}
	for _, j := range r.Jobs {
		if err := CheckWords("job", j.ID, j.State, j.Run, j.Module); err != nil {
			return err
		}
	}
	return nil
}

// About returns the job that a reply to show, tail, wait or cancel is about.
func (r *JobsReply) About() (Job, error) {
	if len(r.Jobs) != 1 {
		return Job{}, errors.New("its answer is not about one job")
	}
	return r.Jobs[0], nil
}

// Job is a job as lists show it.
type Job struct {
	ID     string `json:"id"`
	Module string `json:"module"`
	Task   string `json:"task,omitempty"`
	// Run is the run that started it, Host the host as that run named it, User the user that it runs as if that is not the
	// agent's own.
	Run  string `json:"run,omitempty"`
	Host string `json:"host,omitempty"`
	User string `json:"user,omitempty"`
	// State is queued, running, finished, failed, timedout, cancelled or lost; Over says that it is final.
	State string `json:"state"`
	Over  bool   `json:"over"`
	// Why says why it was lost.
	Why   string        `json:"why,omitempty"`
	Began time.Time     `json:"began"`
	Ended time.Time     `json:"ended,omitzero"`
	Limit time.Duration `json:"limit,omitempty"`
	Pid   int           `json:"pid,omitempty"` // while it runs
	Dir   string        `json:"dir,omitempty"` // where the agent keeps it
	NoLog bool          `json:"no_log,omitempty"`
}
