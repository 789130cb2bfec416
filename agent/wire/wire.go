// Package wire is the protocol between controller and agents: the messages, the subjects, the signed envelope and the
// Transport that carries them. PROTOCOL.md beside this file describes it. Messages are JSON, snake_case; unknown fields
// are ignored, new fields are optional.
package wire

import (
	"encoding/json"
	"slices"
	"time"

	"hark/modules/mask"
	"hark/modules/result"
	"hark/playbook/plan"
)

// Version is the protocol's major version. An agent refuses a newer one with a clear answer.
const Version = 1

// Start opens or continues the session of a run on one host and brings it a plan. The agent acknowledges with Ack, or
// refuses with Ack.Err.
type Start struct {
	Run  string `json:"run"`
	Host string `json:"host"` // inventory_hostname
	Play string `json:"play"` // plan.Play.ID
	// Digest names the plan. Plan is its body when it is small; otherwise the agent pulls the blob.
	Digest string          `json:"digest"`
	Plan   json.RawMessage `json:"plan,omitempty"`
	Vars   HostVars        `json:"vars"`
	// BecomePassword is for hosts that have none among their variables (-K). It travels sealed and is no variable.
	BecomePassword string `json:"become_password,omitempty"`
	// Connection are variables of the connection that tasks see if nothing else sets them: ansible_timeout,
	// ansible_password (-k).
	Connection plan.Dict `json:"connection,omitzero"`
	// Resume, if set, is the step to begin at (--start-at-task, a session that was lost).
	Resume plan.ID `json:"resume,omitempty"`
	// Go, if set, is the step at whose gate the host does not wait: it is the first of the play, and nothing keeps any
	// host from it.
	Go plan.ID `json:"go,omitempty"`
	// Notified, with Resume, are the names of handlers that an earlier session has notified and not run.
	Notified []string `json:"notified,omitempty"`
	// Absent, if set, says why the host's own agent is not there. The session then runs in the controller's process. It
	// does the steps that need no host, as Ansible does without a connection; a step that would touch the host is
	// unreachable for this reason.
	Absent string `json:"absent,omitempty"`
	// Remote, if set, keeps the session in the controller's process and sends its calls to the host's own agent, one by
	// one: the play may restart the host, and a session on it would not survive that.
	Remote bool `json:"remote,omitempty"`
	// Reach, with Remote, are the variables that the controller uses to find the connection to a host, for each call
	// again. Calls carry those that are set for their task.
	Reach []string `json:"reach,omitempty"`
	// Ways, with Reach, are the connections that the controller opens itself. ansible-core does whole tasks of other
	// connections on the controller.
	Ways []string `json:"ways,omitempty"`
	// Resident, with Reach, says that the host has an agent of its own. Calls whose connection is not named go there.
	Resident bool `json:"resident,omitempty"`
	// Login, if set, says that this login brought the agent in for the run. Tasks run as the user who is logged in, and as
	// another one only by become. A task that names another connection is the controller's.
	Login *Login `json:"login,omitempty"`
	// Follow asks for the output of running commands as Output events.
	Follow bool `json:"follow,omitempty"`
	// Lease is how long the agent waits at a barrier without hearing from the controller.
	Lease time.Duration `json:"lease"`
	// Fresh is how old the controller's last answer may be, counted from its question, when something begins that may
	// change the host. The controller gives up no host sooner than that after its last answer, so nothing begins on a host
	// that was given up.
	Fresh time.Duration `json:"fresh,omitempty"`
	// Window is how many bytes of events may be in flight.
	Window int `json:"window"`
	// Last says that this is the host's last play: its session may go with the play's end. It stays with the controller.
	Last bool `json:"-"`
}

// Login is how a host is reached in all tasks of a play.
type Login struct {
	// Way are variables of the connection, and keywords under the names of the equivalent variables, as in Call.Reach:
	// those of LoginNames.
	Way map[string]string `json:"way"`
	// Whole has all variables that the controller uses to find the connection. It stays with the controller.
	Whole map[string]string `json:"-"`
	// Agent is the name of the agent that was brought in. It stays with the controller.
	Agent string `json:"-"`
}

// LoginNames returns the variables that lead to another login. Sessions have them whatever their steps read
// (plan.Steers).
func LoginNames() []string {
	return []string{"ansible_connection", "ansible_host", "ansible_ssh_host", "ansible_port", "ansible_ssh_port",
		"ansible_user", "ansible_ssh_user"}
}

// HostVars are one host's own layers of variables, raw, without those that the plan cannot read.
type HostVars struct {
	Inventory plan.Dict `json:"inventory,omitzero"` // group and host variables, merged by precedence
	// as modules returned them: ansible_distribution, packages (from a fact cache or earlier plays)
	Facts   plan.Dict `json:"facts,omitzero"`
	Include plan.Dict `json:"include,omitzero"` // include_vars of earlier plays
	Set     plan.Dict `json:"set,omitzero"`     // set_fact and register of earlier plays
	Magic   plan.Dict `json:"magic,omitzero"`   // inventory_hostname, group_names, inventory_dir, ...
	// Withheld are names in these layers that the host does not get, since none of its own steps reads them.
	Withheld []string `json:"withheld,omitempty"`
}

// Ack answers Start and Exec.
type Ack struct {
	Run  string `json:"run"`
	Host string `json:"host"`
	Err  string `json:"err,omitempty"`
	// Replayed, beside Err, says that the agent obeyed a message with this nonce before.
	Replayed bool `json:"replayed,omitempty"`
	// Clock, beside Err, says that the message is good except for its time. The sender may send a KindClock message in
	// answer to this nonce (To), and then the message again.
	Clock string `json:"clock,omitempty"`
	// Life is the agent's, see Session; earlier agents have none.
	Life string `json:"life,omitempty"`
	// Ends says that the agent reports by itself that the broadcast end of the run has reached it (KindEnd).
	Ends bool `json:"ends,omitempty"`
	// Hears says that the agent accepts Advance.Heard as the answer to its batches.
	Hears bool `json:"hears,omitempty"`
	// Each says that the agent listens to ToEach, see Opening.
	Each bool `json:"each,omitempty"`
	// Others are plays of other runs that the agent works on.
	Others []Other `json:"others,omitempty"`
}

// Other is a play of another run that an agent works on.
type Other struct {
	Run      string    `json:"run"`
	Operator string    `json:"operator"` // public key of the operator who opened it
	Since    time.Time `json:"since"`
}

// Advance lets hosts go: those that stand at Step run it, the others wait. It is published to all agents of a run.
type Advance struct {
	Run  string  `json:"run"`
	Play string  `json:"play"` // plan.Play.ID, so that a late message of another play is not obeyed
	Seq  uint64  `json:"seq"`
	Step plan.ID `json:"step"`
	// Only, if set, are the hosts that execute or adopt the step now (run_once, throttle, --forks). Others at the step
	// wait.
	Only []string `json:"only,omitempty"`
	// Shared is the outcome that all hosts at Step adopt instead of executing it (run_once).
	Shared *Outcome `json:"shared,omitempty"`
	// Fail fails the named hosts in the blocks of the step that they did last, also if they have left those since
	// (any_errors_fatal, max_fail_percentage, a failed run_once). They go on to rescue and always, as in Ansible.
	Fail []string `json:"fail,omitempty"`
	// Drop ends the play for the named hosts at once.
	Drop []string `json:"drop,omitempty"`
	// Stale are hosts whose variables other hosts' steps have changed (delegate_facts, run_once). Each asks for its own
	// again.
	Stale []string `json:"stale,omitempty"`
	// EndPlay ends the play for all hosts at once, as meta end_play does.
	EndPlay bool `json:"end_play,omitempty"`
	// Heard names sessions by Opening.Place. The controller has every event of theirs up to the one that reported their
	// gate, so one message answers all their batches. It holds pairs in ascending order, the first and the last of a
	// range.
	Heard []uint64 `json:"heard,omitempty"`
}

// Hears reports whether the session with a place is among Heard.
func (a *Advance) Hears(place uint64) bool {
	for r := range slices.Chunk(a.Heard, 2) {
		if len(r) == 2 && r[0] <= place && place <= r[1] {
			return place > 0
		}
	}
	return false
}

// Exec runs one module on a host on behalf of another host's step (delegate_to).
type Exec struct {
	Run    string  `json:"run"`
	ID     string  `json:"id"`
	Host   string  `json:"host"`           // who executes
	Origin string  `json:"origin"`         // whose step it is
	Play   string  `json:"play,omitempty"` // plan.Play.ID, for the asks of the call
	Step   plan.ID `json:"step"`
	Call   Call    `json:"call"`
	// Late says that the run was cancelled before: the step is of an always section, and the Cancel does not concern it.
	Late bool `json:"late,omitempty"`
	// Agent is the name of the agent that does it; "" is the host's own. It stays with the controller.
	Agent string `json:"-"`
}

// Call is a module call with everything rendered.
type Call struct {
	Module string `json:"module"` // full name
	// Dir is where relative paths in its arguments start and its processes run, "" for the agent's working directory.
	Dir       string          `json:"dir,omitempty"`
	Name      string          `json:"name,omitempty"` // as the playbook writes it, for messages
	Args      json.RawMessage `json:"args"`
	Check     bool            `json:"check,omitempty"`
	Diff      bool            `json:"diff,omitempty"`
	NoLog     bool            `json:"no_log,omitempty"`
	Verbosity int             `json:"verbosity,omitempty"`
	User      RunAs           `json:"user"`
	// Level is the language level of the play: some modules answer differently at later ones.
	Level       plan.Level    `json:"level,omitempty"`
	Environment Environment   `json:"environment,omitempty"`
	Timeout     time.Duration `json:"timeout,omitempty"` // 0 is none
	Async       time.Duration `json:"async,omitempty"`   // 0 is not a job
	Poll        time.Duration `json:"poll,omitempty"`    // 0 with Async returns the job id
	// Task is the name of the task, for lists of jobs.
	Task string `json:"task,omitempty"`
	// AsyncDir is ansible_async_dir, "" if it is not set.
	AsyncDir string `json:"async_dir,omitempty"`
	// Files are the digests of the controller's files that the call reads; its host may pull these. A job has them before
	// it is reported as started, since the controller may be gone when it needs them.
	Files []string `json:"files,omitempty"`
	// Await is a job that the run has started. The call waits for its end and runs nothing; the result is the job's, as
	// its task has it. With Patience it only reports whether the job ended within that time (over).
	Await    string        `json:"await,omitempty"`
	Patience time.Duration `json:"patience,omitempty"`
	// Interpreter is ansible_python_interpreter, for facts and for modules that need Python.
	Interpreter string `json:"interpreter,omitempty"`
	// Invocation asks for the arguments in the result, see modules.Env.
	Invocation bool `json:"invocation,omitempty"`
	// Reach says how to reach the host of the call, where Start.Reach asks for it: variables, and keywords under the names
	// of the equivalent variables. It comes from sessions in the controller's process, and stays in the controller.
	Reach map[string]string `json:"reach,omitempty"`
}

// RunAs says which user a module runs as. The zero value is the agent's own user.
type RunAs struct {
	User   string `json:"user,omitempty"`
	Method string `json:"method,omitempty"` // sudo, su, ...; used only by an agent that is not root
	Flags  string `json:"flags,omitempty"`
	Exe    string `json:"exe,omitempty"`
	// Password is sealed on the wire.
	Password string `json:"password,omitempty"`
}

// Cancel ends a run on the agents: process groups get TERM, then KILL. Always sections still run.
type Cancel struct {
	Run string `json:"run"`
	// Grace is how long always sections may run; then they are ended too. 0 ends everything at once.
	Grace time.Duration `json:"grace"`
}

// End drops the session of a run.
type End struct {
	Run string `json:"run"`
}

// Hello announces an agent. It is sent after each connection.
type Hello struct {
	ID      string    `json:"id"`   // of the agent's key
	Name    string    `json:"name"` // inventory name it was given
	Version string    `json:"version"`
	Proto   int       `json:"proto"`
	OS      string    `json:"os"`
	Arch    string    `json:"arch"`
	Boot    string    `json:"boot"` // boot id of the host
	Started time.Time `json:"started"`
	Runs    []string  `json:"runs,omitempty"` // runs whose sessions it holds
	// Orphans are those of Runs whose controller has gone: nothing of them runs, and their results wait.
	Orphans []string `json:"orphans,omitempty"`
	// Trouble is what keeps the agent from beginning anything, such as a full disk; "" is nothing.
	Trouble string `json:"trouble,omitempty"`
	XKey    string `json:"xkey,omitempty"` // public curve key, for sealing
	// Joint says that the agent knows signatures for many messages, see BatchSigner.
	Joint bool `json:"joint,omitempty"`
	// Hold is what keeps keepers from this host.
	Hold *Hold `json:"hold,omitempty"`
}

// EventKind says what an event reports.
type EventKind string

// The kinds of events.
const (
	Started  EventKind = "started"  // the host begins a step (only steps that run, not skipped ones)
	Item     EventKind = "item"     // one item of a loop is done
	Retry    EventKind = "retry"    // an attempt of until failed
	Done     EventKind = "done"     // the step is finished; Outcome and Next are set
	Progress EventKind = "progress" // a job is still running
	Notified EventKind = "notified" // a handler was notified, for -vv
	// the host stands at a barrier before Next without having done a step (play start, resume)
	AtGate  EventKind = "at_gate"
	Ended   EventKind = "ended" // the host has come to the end of the plan, or failed out of it; Fate is its state
	Warning EventKind = "warning"
	Output  EventKind = "output" // live lines of a command
	// Broken: the run cannot go on for any host, for example because a handler is notified that does not exist. Text is
	// the error.
	Broken EventKind = "broken"
	// Excess replaces events that would take more of the controller than one host may.
	Excess EventKind = "excess"
)

// Event is what an agent reports of a step. Events are numbered without gaps over a turn of a session (see Session),
// from Opening.Acked on.
type Event struct {
	Run  string    `json:"run"`
	Play string    `json:"play"`
	Host string    `json:"host"`
	Seq  uint64    `json:"seq"`
	Kind EventKind `json:"kind"`
	Step plan.ID   `json:"step,omitempty"`
	// Name is the task's rendered name; set with Started and Done.
	Name string `json:"name,omitempty"`
	// Kept, with Started, is the task's name for the host's own log. It never travels.
	Kept string    `json:"-"`
	Time time.Time `json:"time"`

	Outcome *Outcome `json:"outcome,omitempty"`
	// Next is where the host stands after Done: at the gate of a step, or "" when it runs ahead or is at the end.
	Next  plan.ID   `json:"next,omitempty"`
	State HostState `json:"state,omitempty"`
	Text  string    `json:"text,omitempty"` // Warning, Output (lines), Notified
	// Every, of Progress, says that the session waits for a job from now on, and how often to show that. The next Progress
	// is the job's end.
	Every time.Duration `json:"every,omitempty"`
	// Stderr, of Output, says that it is a command's stderr.
	Stderr bool `json:"stderr,omitempty"`
	// Own says that the controller made the event, for a step that it evaluated or in a session of its own process. It
	// never travels.
	Own bool `json:"-"`
	// Adopted says that the outcome of Done is another host's, from Advance.Shared (run_once). It is not shown again.
	Adopted bool `json:"adopted,omitempty"`
}

// Gate returns the step before which the host waits after the event, "" if it goes on by itself.
func (e *Event) Gate() plan.ID {
	if e.Kind == AtGate || e.Kind == Done {
		return e.Next
	}
	return ""
}

// HostState is the state of a host in a batch.
type HostState string

// The states of a host.
const (
	Running     HostState = "running"
	Finished    HostState = "finished" // came to the end of the plan
	Failed      HostState = "failed"
	Unreachable HostState = "unreachable"
	EndedEarly  HostState = "ended" // meta end_host, end_play
)

// Outcome is the result of a step, or of an item of its loop.
type Outcome struct {
	Status Status `json:"status"`
	// Result is what the user sees, censored if NoLog: JSON as Ansible registers it, with marks as keys (package result).
	Result json.RawMessage `json:"result"`
	NoLog  bool            `json:"no_log,omitempty"`
	// Ignored: failed, but ignore_errors was set. Rescued: failed inside a block with a rescue.
	Ignored bool `json:"ignored,omitempty"`
	Rescued bool `json:"rescued,omitempty"`
	// Cancelled: failed only because the run was cancelled meanwhile.
	Cancelled bool `json:"cancelled,omitempty"`
	// Effects are the changes to the session's variables, for the controller's mirror (hostvars, later plays). Their
	// values are uncensored, and sealed on the wire when NoLog.
	Effects []Effect `json:"effects,omitempty"`
	// Notify are the handlers notified, by name as written.
	Notify []string `json:"notify,omitempty"`
	// Delegated is the delegate_to host, Item the item of the loop, Label its label as shown, Attempts the attempts so
	// far.
	Delegated string          `json:"delegated,omitempty"`
	Item      json.RawMessage `json:"item,omitempty"`
	Label     string          `json:"label,omitempty"`
	Attempts  int             `json:"attempts,omitempty"`
	Retries   int             `json:"retries,omitempty"`
	Loop      bool            `json:"loop,omitempty"` // a loop ran: the items were events of their own
	// FailAll: this failure fails every host of the batch (any_errors_fatal, run_once).
	FailAll bool `json:"fail_all,omitempty"`
	// Meta is the action of a meta step (end_play, end_host, refresh_inventory, ...).
	Meta string `json:"meta,omitempty"`
	// Included are the files of a dynamic include, for the "included:" lines.
	Included []Included `json:"included,omitempty"`
	// Shown says that the debugger has already shown this outcome.
	Shown bool `json:"shown,omitempty"`

	// Hidden are the secrets that the host has named, for views that show more than the outcome. The controller sets it;
	// it may be nil.
	Hidden *mask.Masker `json:"-"`

	said *result.Result // see Said
}

// Said returns the result, decoded once for all readers, who must not change it. One goroutine at a time may call it.
func (o *Outcome) Said() *result.Result {
	if o.said == nil {
		o.said = result.Decode(o.Result)
	}
	return o.said
}

// Tell replaces the result.
func (o *Outcome) Tell(res json.RawMessage) { o.Result, o.said = res, nil }

// Status is the status of a result.
type Status = result.Status

// The statuses. Two have longer names here, since host states have the short ones.
const (
	OK                = result.OK
	Changed           = result.Changed
	StatusFailed      = result.Failed
	Skipped           = result.Skipped
	StatusUnreachable = result.Unreachable
)

// Effect is one change to a host's variables.
type Effect struct {
	// Layer is facts, include, set (set_fact and register).
	Layer string `json:"layer"`
	// Host is set when the effect belongs to another host (delegate_facts).
	Host string `json:"host,omitempty"`
	// Vars are the names and new values; Clear empties the layer first.
	Vars  plan.Dict `json:"vars,omitzero"`
	Clear bool      `json:"clear,omitempty"`
}

// Included is one file of a dynamic include.
type Included struct {
	Path  string          `json:"path"`
	Label string          `json:"label,omitempty"` // "=> (item=x)"
	Item  json.RawMessage `json:"item,omitempty"`
	Index int             `json:"index"`
}

// Batch carries events; the controller answers with Acked. Events are sent again until acknowledged.
type Batch struct {
	Session
	Run    string  `json:"run"`
	Host   string  `json:"host"`
	Events []Event `json:"events"`
	// Ack is the acknowledgement of the opening if it did not go alone, see Opening.Within.
	Ack *Ack `json:"ack,omitempty"`
}

// Acked acknowledges all events of a session up to Seq.
type Acked struct {
	StopVerdict
	Run  string `json:"run"`
	Host string `json:"host"`
	Seq  uint64 `json:"seq"`
	// Collected says that the controller is dead and somebody collects its results: it is no word of the controller, and
	// nothing may begin on it.
	Collected bool `json:"collected,omitempty"`
}
