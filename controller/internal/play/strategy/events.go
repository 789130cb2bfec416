package strategy

import (
	"fmt"
	"strings"

	"hark/playbook/plan"
)

// Done is that a host has done a step, as far as it concerns others.
type Done struct {
	Host string
	Step plan.ID
	// Next is the gate at which it stands now, "" while it goes on.
	Next plan.ID
	// Adopted: what came of the step is another host's.
	Adopted bool
	// Came is how it came out. A failure that is ignored, or comes of the run being cancelled, has come out Well or
	// Cancelled.
	Came Came
	// Rescued: a rescue section takes the failure.
	Rescued bool
	// Fatal: the failure is one of all hosts (any_errors_fatal, run_once), and so is that of a host which ends the
	// play. Excused: ignore_errors is written at the step, so that one host doing it for all does not make a failure
	// fatal.
	Fatal, Excused bool
	// Meta is what a meta step asks for.
	Meta Meta
}

// Came is how a step came out.
type Came int

// The ways of coming out.
const (
	Well      Came = iota
	Ill            // it failed
	Lost           // its host is unreachable
	Cancelled      // it failed, since the run was cancelled
)

// Meta is a meta step that concerns others than its host.
type Meta int

// The meta steps.
const (
	NoMeta          Meta = iota
	MetaEndPlay          // end_play
	MetaEndBatch         // end_batch
	MetaClearErrors      // clear_host_errors
)

// Rule says how a step is let go.
type Rule struct {
	// Once: the first of its hosts does the step for all that stand at it. Shares: run_once is written, so that its
	// failure is theirs too.
	Once, Shares bool
	// Limit is how many may do it at a time; 0 is no limit.
	Limit int
	// Passing are those of its hosts that pass the step by.
	Passing []string
	// Abort ends the play for all: nobody says how.
	Abort bool
}

// Decision is what follows for hosts.
type Decision struct {
	Kind Kind
	Step plan.ID
	// Hosts are those that it is about, in the order of the batch. With All they are all that stand at the step, and
	// none stays.
	Hosts []string
	All   bool
	// From is the host whose outcome is adopted. Blank: that is taken for well, whatever it was.
	From  string
	Blank bool
	// At is where each of Hosts is failed.
	At []plan.ID
}

// Kind is what a decision says.
type Kind int

// The kinds of decisions.
const (
	// Turn asks how a step is let go, at which Hosts stand. The driver says Answer before anything else.
	Turn Kind = iota
	// Release lets hosts do the step.
	Release
	// Pass lets hosts pass the step by, as skipped.
	Pass
	// Adopt has hosts take over what came of the step on From. What that did to variables holds for the whole batch.
	Adopt
	// Fail has hosts fail where they stand.
	Fail
	// Drop ends the play for hosts at once, EndPlay for all.
	Drop
	EndPlay
	// NoneLeft is that no hosts are left, for the screen.
	NoneLeft
	// Still is that nobody is under way: what waits for its turn on the screen can be shown.
	Still
)

var kinds = [...]string{"turn", "release", "pass", "adopt", "fail", "drop", "end play", "none left", "still"}

// String is a decision as tests write it.
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

// Fate is why a host takes no further part.
type Fate int

// The fates.
const (
	Ended       Fate = iota // it came to the end of the plan, or left it early
	Failed                  // it failed out of the play
	Unreachable             // it was lost
)
