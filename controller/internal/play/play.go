// Package play drives a run: plays one after the other, and batches of hosts within a play. Of a batch it opens the
// sessions, takes in what they tell, and sends and shows what follows: which hosts may start a step decides lockstep,
// which result is shown when screen. Agents decide everything about the step itself. It neither parses playbooks
// (playbook/compile), nor answers agents' questions (controller/internal/play/answer), nor prints
// (controller/internal/ui/view).
package play

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/ansible/plugins"
	"hark/controller/internal/play/answer"
	"hark/controller/internal/play/link"
	"hark/controller/internal/ui/debugger"
	"hark/controller/internal/ui/view"
	"hark/modules"
	"hark/modules/mask"
	"hark/modules/py/value"
	"hark/playbook/compile"
	"hark/playbook/inventory"
	"hark/playbook/jinja/templar"
	"hark/playbook/vault"
)

// Input is all that a run needs to know. The caller fills it and does not touch it until Run returns.
type Input struct {
	// Run is the id of the run, unique among the runs of all controllers.
	Run string
	// Playbooks are played in order; all are read with Project.
	Project   *compile.Project
	Playbooks []*compile.Playbook
	// Names are the playbooks as the user typed them; nil are their paths.
	Names []string
	// Inventory is where hosts come from; its limit is set already.
	Inventory *inventory.Inventory
	// Templates renders what the controller renders itself.
	Templates templar.Options
	// Plugin runs a filter, test or lookup in Python; nil runs none.
	Plugin func(ctx context.Context, c plugins.Call) (json.RawMessage, error)
	// Action runs an action plug-in in Python; nil runs none. Modules are the native ones.
	Action  func(ctx context.Context, a plugins.Action) (plugins.Acted, error)
	Modules *modules.Registry
	// Secrets open vaulted files that agents ask for.
	Secrets *vault.Secrets
	// Hash encrypts a password as the filter password_hash does; salt and ident may be "".
	Hash func(plain, scheme, salt, ident string) (string, error)
	// Hidden are texts that nobody may see in results, and takes those that come up; nil: nothing is hidden (before
	// ansible-core 2.22).
	Hidden *mask.Masker
	// Setting is a setting of ansible.cfg by its name, and where it comes from, for the lookup config.
	Setting func(name string) (v value.Value, origin string, ok bool)
	// PluginSetting is one of a plug-in.
	PluginSetting func(plugin, name string) (answer.PluginSetting, bool)
	// Where is the paragraph that Ansible appends to errors of a task: its place, as file:line:column, and the lines
	// there.
	Where func(place, keyword string) string
	// Private are hark's own files, which no agent gets.
	Private answer.Private
	// Extra are the extra variables (-e).
	Extra *value.Dict
	// Connect opens the link to the agents. Run closes it.
	Connect func(ctx context.Context, s Serve) (link.Link, error)
	// Detach, when it is closed, makes Run return at once with ErrDetached and leave the agents to themselves.
	Detach <-chan struct{}
	// View shows the run, Messages its warnings. Run calls Stats for each playbook and never Close.
	View     view.View
	Messages view.Messages
	// Prompt asks the person at the terminal; it must not be nil.
	Prompt Prompter
	// Facts keeps facts from run to run; nil keeps them for this run only.
	Facts FactCache
	// Resume, if set, is where the run goes on: hosts that had failed begin where they were, with the variables of then.
	Resume *Checkpoint
	// Stages, if set, brings the plays to the hosts stage by stage.
	Stages *Staging

	Options
}

// named returns what the user called a playbook.
func (in *Input) named(i int) string {
	if i < len(in.Names) {
		return in.Names[i]
	}
	return in.Playbooks[i].Path
}

// Options are the flags and settings that steer a run.
type Options struct {
	Check bool
	// Forks is how many hosts may be at a step at once; 0 is no limit. Agents do not cost the controller a process
	// each, so a limit is for those who asked for one.
	Forks int
	// Straggler is how long a host may keep the others waiting at the barrier before they go on without it; 0 is for ever.
	Straggler time.Duration
	// Follow shows the output of running commands as it comes.
	Follow bool
	// Connection are variables of the connection that tasks see where nothing else sets them.
	Connection *value.Dict
	// Reach are the variables that say how a host is reached that has no agent, or whose connection is named. Its
	// session is in this process, and calls are sent one by one, with those of these variables that are set. None:
	// hosts without agents are unreachable.
	Reach []string
	// Ways are the connections that reach hosts without a plug-in of ansible-core, see wire.Start.
	Ways []string
	// NoAgents reports whether no host has an agent.
	NoAgents bool
	// BecomePassword is for hosts that have none among their variables.
	BecomePassword string
	// StartAt is --start-at-task, Step is --step, FlushCache is --flush-cache.
	StartAt    string
	Step       bool
	FlushCache bool
	// Gathering is implicit, explicit or smart; "" is implicit.
	Gathering string
	// HashMerge and InjectFacts are hash_behaviour=merge and inject_facts_as_vars.
	HashMerge, InjectFacts bool
	// RetryFiles writes the hosts that failed to RetryDir (the playbook's directory if "") for --limit @file.
	RetryFiles bool
	RetryDir   string
}

// Serve is what a link to the agents needs of the run. All of it may be used from any goroutine until the link is
// closed.
type Serve struct {
	// Asks answers the agents' questions.
	Asks link.Asks
	// Local reports whether a host is this process; AgentName is the name of the agent that serves it if not.
	Local     func(host string) bool
	AgentName func(host string) string
}

// Status is how a run came out.
type Status int

// The statuses.
const (
	OK          Status = iota
	Broken             // the run could not be carried on: the error says why
	Failed             // hosts failed
	Unreachable        // hosts could not be reached
	Cancelled          // the user ended the run
)

// Result is what Run leaves.
type Result struct {
	Status Status
	// Stats are the counts of all playbooks together.
	Stats view.Stats
	// Checkpoint is where the run can go on, nil if no host failed or was lost.
	Checkpoint *Checkpoint
}

// Prompter asks the person at the terminal. Calls come one at a time. Without a terminal
// every method answers at once with what Ansible assumes there.
type Prompter interface {
	// Variable asks for a vars_prompt variable.
	Variable(ctx context.Context, p VarPrompt) (string, error)
	// Pause shows text and waits for the user or for the seconds; it gives what was typed. The error is
	// ErrAborted when the user chose to abort.
	Pause(ctx context.Context, p wire.Prompt) (string, error)
	// Step asks whether to perform a task under --step: n, y or c. The error, that nobody answers, ends the run.
	Step(ctx context.Context, text string) (string, error)
	// The debugger reads its commands here.
	debugger.Terminal
}

// VarPrompt is one entry of vars_prompt, rendered.
type VarPrompt = compile.Prompt

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

// ErrDetached says that Run left the agents to themselves.
var ErrDetached = errors.New("the hosts were left alone: each finishes the task that it is at, and begins no other")

// ErrQuit says that the user ended the run in the debugger, which has said so.
var ErrQuit = debugger.ErrQuit

// ErrAborted says that the user chose to abort at a prompt.
var ErrAborted error = abortedError{}
