// Package view is what the user sees of a run. A View is fed in play order by package play and writes
// nothing but what its format prints; the exit code and the recap are functions of the same events.
package view

import (
	"encoding/json"
	"time"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/playbook/deprecation"
	"hark/playbook/plan"
)

// View shows one run. Calls come one at a time and in the order in which Ansible's callbacks would be called.
// JSON results are as registered, with internal keys; a view strips what it does not show.
type View interface {
	PlaybookStart(path string)
	PlayStart(p Play)
	// NoHostsMatched and NoHostsRemaining are the lines of those names.
	NoHostsMatched()
	NoHostsRemaining()
	// TaskStart comes once for a step, before its first result; again if hosts come back to it in another include.
	TaskStart(t Task)
	// HostStart is a host beginning the step (only views with status lines use it).
	HostStart(t Task, host string)
	ItemDone(r Result)
	Retry(r Result)
	Done(r Result)
	Included(t Task, in Include)
	Notified(handler, host string)
	// Progress is a job that is still running ("ASYNC POLL ON ...") or a line of live output.
	Progress(r Result)
	AsyncDone(r Result)
	// Stats ends the run; Close is called after it, whatever happened.
	Stats(s Stats)
	Close() error
}

// Messages go to stderr as Ansible's Display prints them: [WARNING]: wrapped, [DEPRECATION WARNING], -v lines.
// Each text is shown once where Ansible shows it once.
type Messages interface {
	Warn(text string)
	Deprecate(n deprecation.Notice)
	Error(text string)
	// ErrorWrapped prints "[ERROR]: text" as warnings are printed; the run goes on or ends without it.
	ErrorWrapped(text string)
	// Verbose prints text if the verbosity is at least level (1 is -v), with the host in front if given.
	Verbose(level int, host, text string)
	// Print prints a line to stdout that no view owns ("to retry, use: ...").
	Print(c Color, text string)
}

// Play is a play as it starts.
type Play struct {
	Name     string // rendered; the hosts pattern when it has none
	Pattern  string // the hosts as written, joined by commas
	ID       string
	Path     string // path:line
	Hosts    []string
	Check    bool
	Tags     []string
	Strategy string
	// Vars are the raw variables of a host as the play sees them at the moment, those of the play itself for "".
	Vars func(host string) *value.Dict
	// Tasks gives the names of the play's own tasks by their blocks.
	Tasks func() [][]string
	// Handlers gives the names of the handlers as they are written; nil knows none.
	Handlers func() []string
}

// Task is a step as it is shown.
type Task struct {
	ID      plan.ID
	Name    string // rendered, without the role; "" if the task has none
	Action  string // as written
	Role    string // role name, shown as "role : name"
	Place   string // path:line
	Handler bool
	NoLog   bool
	Check   bool
	// Diff: show the diffs of changed files, by --diff or by the task.
	Diff bool
	Args json.RawMessage // shown with display_args_to_stdout
	Kind plan.Kind
	Meta string // of a meta step: end_play, noop, ...
	// Step and In are the step as the plan has it, nil if the plan does not know it, and its role, nil outside roles.
	Step *plan.Step
	In   *plan.Role
}

// Result is what one host made of a step or of one item.
type Result struct {
	Task Task
	Host string
	// Name is the task's name as this host renders it, "" where it is Task's.
	Name    string
	Outcome *wire.Outcome
	// Start and End are the agent's clock.
	Start, End time.Time

	flat bool // what the result says of its item and its host stays on one line, see OnTerminal
}

// Include is one file of a dynamic include with the hosts that included it.
type Include struct {
	Path  string
	Label string
	Hosts []string
}

// Stats are the recap's counts.
type Stats struct {
	Hosts  []string // in the recap's order
	Counts map[string]Counts
	// Custom are set_stats: by host, "_run" for the whole run.
	Custom map[string]map[string]any
}

// Counts of one host.
type Counts struct {
	OK, Changed, Unreachable, Failed, Skipped, Rescued, Ignored int
}
