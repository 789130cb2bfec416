package strategy

import (
	"fmt"
	"strings"

	"hark/playbook/plan"
)

// Done says that a host has done a step, as far as it concerns other hosts.
type Done struct {
	Host string
	Step plan.ID
	// Next is the gate at which it stands now, "" while it goes on.
	Next plan.ID
	// Adopted says that the outcome is another host's.
	Adopted bool
	// Came is the outcome. A failure that is ignored, or that the cancellation of the run caused, is Well or Cancelled.
	Came Came
	// Rescued says that a rescue section handles the failure.
	Rescued bool
	// Spent says that nothing is left to do after the failure but a flush of handlers, and that no handler waits: at level
	// 2.19 Ansible passes over that flush.
	Spent bool
	// Fatal says that the failure fails all hosts (any_errors_fatal, run_once), as does that of a host which ends the
	// play. Excused says that the step has ignore_errors, so that a failure of the one host that does it for all is not
	// fatal.
	Fatal, Excused bool
	// Meta is what a meta step asks for.
	Meta Meta
}

// Came is the outcome of a step.
type Came int

// The outcomes.
const (
	Well      Came = iota
	Ill            // it failed
	Lost           // its host is unreachable
	Cancelled      // it failed, since the run was cancelled
)

// Meta is a meta step that concerns other hosts too.
type Meta int

// The meta steps.
const (
	NoMeta          Meta = iota
	MetaEndPlay          // end_play
	MetaEndBatch         // end_batch
	MetaClearErrors      // clear_host_errors
)

// Rule says how hosts are let go for a step.
type Rule struct {
	// Once says that the first host does the step for all that stand at it. Shares says that run_once is written, so that
	// its failure is theirs too.
	Once, Shares bool
	// Limit is how many hosts may do it at a time; 0 is no limit.
	Limit int
	// Passing are the hosts that skip the step.
	Passing []string
	// Abort ends the play for all, since there is no rule.
	Abort bool
}

// Decision is a consequence for hosts.
type Decision struct {
	Kind Kind
	Step plan.ID
	// Hosts are the hosts concerned, in the order of the batch. With All they are all hosts at the step, and none stays.
	Hosts []string
	All   bool
	// From is the host whose outcome is adopted. Blank says that it counts as well, whatever it was.
	From  string
	Blank bool
	// At is where each of Hosts fails.
	At []plan.ID
}

// Kind is the kind of a decision.
type Kind int

// The kinds of decisions.
const (
	// Turn asks for the rule of a step at which Hosts stand. The driver calls Answer before anything else.
	Turn Kind = iota
	// Release lets hosts do the step.
	Release
	// Pass lets hosts skip the step.
	Pass
	// Adopt has hosts take over the outcome of the step on From. Its effects on variables hold for the whole batch.
	Adopt
	// Fail fails hosts where they stand.
	Fail
	// Drop ends the play for hosts at once, EndPlay for all.
	Drop
	EndPlay
	// NoneLeft makes the screen say that no hosts are left.
	NoneLeft
	// Still says that no host is under way, so that everything that waits for its turn on the screen can be shown.
	Still
)

var kinds = [...]string{"turn", "release", "pass", "adopt", "fail", "drop", "end play", "none left", "still"}

// String returns a decision as tests write it.
func (d Decision) String() string {
	var b strings.Builder
	b.WriteString(kinds[d.Kind])
	if d.Step != "" {
		fmt.Fprintf(&b, " %s", d.Step)
	}
	if len(d.Hosts) > 0 {
		b.WriteString(":")
	}
	for i, h := range d.Hosts {
		b.WriteString(" " + h)
		if d.At != nil {
			fmt.Fprintf(&b, "@%s", d.At[i])
		}
	}
	if d.All {
		b.WriteString(" (all)")
	}
	if d.From != "" {
		b.WriteString(" from " + d.From)
	}
	if d.Blank {
		b.WriteString(" as well")
	}
	return b.String()
}

// HostState is why a host takes no further part.
type HostState int

// The states.
const (
	Ended       HostState = iota // it came to the end of the plan, or left it early
	Failed                       // it failed out of the play
	Unreachable                  // it was lost
)
