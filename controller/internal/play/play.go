// Package play drives a run: plays one after the other, batches of hosts within a play, the barrier at
// which hosts wait for each other, and the order in which results are shown. It decides when a step may
// start and for whom; agents decide everything about the step itself. It neither parses playbooks
// (playbook/compile), nor answers agents' questions (controller/internal/answer), nor prints
// (controller/internal/view).
package play

import (
	"context"

	"hark/agent/wire"
	"hark/controller/internal/link"
	"hark/controller/internal/view"
	"hark/playbook/jinja/value"
)

// Input is all that a run needs to know. The caller fills it and does not touch it until Run returns.
type Input struct {
	// Run is the id of the run, unique among the runs of all controllers.
	Run string
	// Extra are the extra variables (-e); Magic the magic variables that hold for the whole run
	// (ansible_version, ansible_run_tags, ansible_inventory_sources, ansible_config_file, ...).
	Extra, Magic *value.Dict
	// Connect opens the link to the agents; asks serves their questions until the link is closed. Run closes it.
	Connect func(ctx context.Context, asks link.Asks) (link.Link, error)
	// View shows the run, Messages its warnings. Run calls Stats for each playbook and never Close.
	View     view.View
	Messages view.Messages
	// Prompt asks the person at the terminal; it must not be nil.
	Prompt Prompter
	// Facts keeps facts from run to run; nil keeps them for this run only.
	Facts FactCache

	Options
}

// Options are the flags and settings that steer a run.
type Options struct {
	// Tags and SkipTags select tasks; no Tags is "all".
	Tags, SkipTags []string
	Check, Diff    bool
	Verbosity      int
	// Forks is how many hosts may be at a step at once; 0 is no limit. Agents do not cost the controller a process
	// each, so a limit is for those who asked for one.
	Forks int
	// StartAt is --start-at-task, Step is --step, FlushCache is --flush-cache.
	StartAt    string
	Step       bool
	FlushCache bool
	// ForceHandlers runs handlers on failed hosts where the play does not say otherwise.
	ForceHandlers bool
	// Strategy is the strategy of plays that name none; "" is linear.
	Strategy string
	// Gathering is implicit, explicit or smart; "" is implicit.
	Gathering string
	// HashMerge, Native and InjectFacts are hash_behaviour=merge, jinja2_native and inject_facts_as_vars.
	HashMerge, Native, InjectFacts bool
	// IgnoreMissingHandlers turns a notified handler that does not exist into a warning.
	IgnoreMissingHandlers bool
	// RetryFiles writes the hosts that failed to RetryDir (the playbook's directory if "") for --limit @file.
	RetryFiles bool
	RetryDir   string
}

// Status is how a run came out, as a set of bits: what Ansible's exit codes are made of.
type Status int

// The statuses. The value OK is the absence of all others.
const (
	OK          Status = 0
	Broken      Status = 1 << (iota - 1) // the run could not be carried on
	Failed                               // hosts failed
	Unreachable                          // hosts could not be reached
	Stopped                              // any_errors_fatal or max_fail_percentage broke the play
	Cancelled                            // the user ended the run
)

// Result is what Run leaves.
type Result struct {
	Status Status
	// Stats are the counts of all playbooks together.
	Stats view.Stats
}

// Prompter asks the person at the terminal. Calls come one at a time. Without a terminal
// every method answers at once with what Ansible assumes there.
type Prompter interface {
	// Variable asks for a vars_prompt variable.
	Variable(ctx context.Context, p VarPrompt) (string, error)
	// Pause shows text and waits for the user or for the seconds; it gives what was typed. The error is
	// ErrAborted when the user chose to abort.
	Pause(ctx context.Context, p wire.Prompt) (string, error)
	// Step asks whether to perform a task under --step: n, y or c.
	Step(ctx context.Context, text string) (string, error)
}

// VarPrompt is one entry of vars_prompt, rendered.
type VarPrompt struct {
	Name, Text string
	Default    value.Value // nil is none
	Private    bool
	Confirm    bool
	Encrypt    string // "" is not at all, else a crypt scheme
	Salt       string
	SaltSize   int
	Unsafe     bool
}

// FactCache keeps facts of hosts from run to run. The methods are called from one goroutine.
type FactCache interface {
	// Load gives a host's facts, without prefix, false if there are none or they are too old.
	Load(host string) (*value.Dict, bool)
	Store(host string, facts *value.Dict) error
	Forget(host string) error
}

// abortedError is the type of ErrAborted.
type abortedError struct{}

func (abortedError) Error() string { return "user requested abort!" }

// ErrAborted says that the user chose to abort at a prompt.
var ErrAborted error = abortedError{}
