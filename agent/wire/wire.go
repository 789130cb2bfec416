// Package wire is what controller and agents say to each other: the messages, the subjects, the
// signed envelope and the Transport that carries them. PROTOCOL.md beside this file is the protocol
// in words. Messages are JSON, snake_case; unknown fields are ignored, new fields are optional.
package wire

import (
	"encoding/json"
	"slices"
	"time"

	"hark/modules/mask"
	"hark/modules/result"
	"hark/playbook/plan"
)

// Version is the protocol's major version. An agent refuses a newer one with a clear event.
const Version = 1

// Start opens or continues the session of a run on one host and hands it a plan.
// The agent acknowledges with Ack, or refuses with Ack.Err.
type Start struct {
	Run  string `json:"run"`
	Host string `json:"host"` // inventory_hostname
	Play string `json:"play"` // plan.Play.ID
	// Digest names the plan; Plan is its body when it is small, else the agent pulls the blob.
	Digest string          `json:"digest"`
	Plan   json.RawMessage `json:"plan,omitempty"`
	Vars   HostVars        `json:"vars"`
	// BecomePassword is for hosts that have none among their variables (-K). It travels sealed and is no variable.
	BecomePassword string `json:"become_password,omitempty"`
	// Connection are variables of the connection that tasks see where nothing else sets them: ansible_timeout,
	// ansible_password (-k).
	Connection plan.Dict `json:"connection,omitzero"`
	// Resume, if set, is the step to begin at (--start-at-task, a session that was lost).
	Resume plan.ID `json:"resume,omitempty"`
	// Go, if set, is the step at whose gate the host does not wait: it is the first of the play, and nothing keeps
	// any host from it.
	Go plan.ID `json:"go,omitempty"`
	// Notified, with Resume, are the names of handlers that a session before this one has notified and not run.
	Notified []string `json:"notified,omitempty"`
	// Absent, if set, is why the host's own agent is not there. The session then runs in the controller's process:
	// what stays within a session is done, as Ansible does it without a connection, and what would touch the host is
	// unreachable for this reason.
	Absent string `json:"absent,omitempty"`
	// Remote, if set, keeps the session in the controller's process and sends its calls to the host's own agent, one
	// by one: the play may restart the host, and a session on it would not live through that.
	Remote bool `json:"remote,omitempty"`
	// Reach, with Remote, are the variables by which the controller finds the way to a host, for each call anew:
	// calls carry those that are set for their task.
	Reach []string `json:"reach,omitempty"`
	// Ways, with Reach, are the names of the connections by which the controller reaches hosts itself. Tasks of
	// others are done there whole, by ansible-core.
	Ways []string `json:"ways,omitempty"`
	// Resident, with Reach, tells that the host has an agent of its own, to which calls go whose connection is not named.
	Resident bool `json:"resident,omitempty"`
	// Login, if set, tells that the agent was brought in for the run by this login: tasks run as the user who is
	// logged in and no other but by become, and those that name another way to the host are the controller's.
	Login *Login `json:"login,omitempty"`
	// Follow wants the output of running commands as Output events.
	Follow bool `json:"follow,omitempty"`
	// Lease is how long the agent waits at a barrier without hearing of the controller.
	Lease time.Duration `json:"lease"`
	// Fresh is how old the controller's last answer may be, counted from its question, when something begins that may
	// change the host. The controller gives up no host sooner than that after it has answered it, so nothing begins
	// on one that was given up.
	Fresh time.Duration `json:"fresh,omitempty"`
	// Window is how many bytes of events may be on their way.
	Window int `json:"window"`
	// Last says that nothing comes for the host after this play: its session may go with the play's end. It stays
	// with the controller.
	Last bool `json:"-"`
}

// Login is how a host is reached in all tasks of a play.
type Login struct {
	// Way are variables of the connection, and keywords under the names of the variables that would say the same, as
	// Call.Reach has them: those of LoginNames.
	Way map[string]string `json:"way"`
	// Whole has more of them, all by which the controller finds the way. It stays there.
	Whole map[string]string `json:"-"`
	// Agent is the name of the agent that was brought in. It stays there too.
	Agent string `json:"-"`
}

// LoginNames are the variables that lead to another login. Sessions have them whatever their steps read (plan.Steers).
func LoginNames() []string {
	return []string{"ansible_connection", "ansible_host", "ansible_ssh_host", "ansible_port", "ansible_ssh_port", "ansible_user", "ansible_ssh_user"}
}

// HostVars are one host's own layers of variables, raw, trimmed to what the plan can reach.
type HostVars struct {
	Inventory plan.Dict `json:"inventory,omitzero"` // group and host variables, merged by precedence
	Facts     plan.Dict `json:"facts,omitzero"`     // as modules returned them: ansible_distribution, packages (from a fact cache or earlier plays)
	Include   plan.Dict `json:"include,omitzero"`   // include_vars of earlier plays
	Set       plan.Dict `json:"set,omitzero"`       // set_fact and register of earlier plays
	Magic     plan.Dict `json:"magic,omitzero"`     // inventory_hostname, group_names, inventory_dir, ...
	// Withheld are names among these layers that the host does not get: none of its own steps reads them.
	Withheld []string `json:"withheld,omitempty"`
}

// Ack answers Start and Exec.
type Ack struct {
	Run  string `json:"run"`
	Host string `json:"host"`
	Err  string `json:"err,omitempty"`
	// Replayed, beside Err, says that a message with this nonce was obeyed before.
	Replayed bool `json:"replayed,omitempty"`
	// Clock, beside Err, says that the message is good but for its time: the sender may send a KindClock message in
	// answer to this nonce (To), and then the message again.
	Clock string `json:"clock,omitempty"`
	// Life is the agent's, see Session; an agent from before there were any has none.
	Life string `json:"life,omitempty"`
	// Ends: the agent says by itself that the end of the run, told to all, has come to it (KindEnd).
	Ends bool `json:"ends,omitempty"`
	// Hears: the agent takes Advance.Heard as the answer to what it has sent.
	Hears bool `json:"hears,omitempty"`
	// Each: the agent listens to ToEach, see Opening.
	Each bool `json:"each,omitempty"`
	// Others are plays of other runs that the agent has in hand.
	Others []Other `json:"others,omitempty"`
}

// Other is a play of another run that an agent has in hand.
type Other struct {
	Run      string    `json:"run"`
	Operator string    `json:"operator"` // public key of the one who opened it
	Since    time.Time `json:"since"`
}

// Advance lets hosts go: those that stand at Step run it, the others wait. Published to all agents of a run.
type Advance struct {
	Run  string  `json:"run"`
	Play string  `json:"play"` // plan.Play.ID, so that a late message of another play is not obeyed
	Seq  uint64  `json:"seq"`
	Step plan.ID `json:"step"`
	// Only, if set, are the hosts that execute or adopt the step now (run_once, throttle, --forks); others at the
	// step stay.
	Only []string `json:"only,omitempty"`
	// Shared is the outcome that all hosts at Step adopt instead of executing it (run_once).
	Shared *Outcome `json:"shared,omitempty"`
	// Fail makes the named hosts treat the step they are at, or have just done, as failed (any_errors_fatal,
	// max_fail_percentage, a failed run_once). They go on to rescue and always, as in Ansible.
	Fail []string `json:"fail,omitempty"`
	// Drop ends the play for the named hosts at once.
	Drop []string `json:"drop,omitempty"`
	// Stale are hosts whose variables steps of other hosts have changed (delegate_facts, run_once): each asks for its
	// own anew.
	Stale []string `json:"stale,omitempty"`
	// EndPlay ends the play for all hosts at once, as meta end_play does.
	EndPlay bool `json:"end_play,omitempty"`
	// Heard are the sessions of which the controller has every event up to the one that said at which gate they
	// stand, by Opening.Place: so one message answers what all of them have sent. They are ascending and come in
	// pairs, the first and the last of a range.
	Heard []uint64 `json:"heard,omitempty"`
}

// Hears reports whether the session of a place is among Heard.
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
	// Late says that the run was cancelled before: the step is of an always section, and a Cancel does not mean it.
	Late bool `json:"late,omitempty"`
	// Agent is the agent that shall do it, by name; "" is the host's own. It stays with the controller.
	Agent string `json:"-"`
}

// Call is a module call with everything rendered.
type Call struct {
	Module string `json:"module"` // full name
	// Dir is where relative paths in its arguments start and its processes run, "" for where the agent stands.
	Dir       string          `json:"dir,omitempty"`
	Name      string          `json:"name,omitempty"` // as the playbook writes it, for messages
	Args      json.RawMessage `json:"args"`
	Check     bool            `json:"check,omitempty"`
	Diff      bool            `json:"diff,omitempty"`
	NoLog     bool            `json:"no_log,omitempty"`
	Verbosity int             `json:"verbosity,omitempty"`
	User      RunAs           `json:"user"`
	// Level is the language of the play: modules say some things otherwise at a later one.
	Level       plan.Level        `json:"level,omitempty"`
	Environment map[string]string `json:"environment,omitempty"`
	Timeout     time.Duration     `json:"timeout,omitempty"` // 0 is none
	Async       time.Duration     `json:"async,omitempty"`   // 0 is not a job
	Poll        time.Duration     `json:"poll,omitempty"`    // 0 with Async returns the job id
	// Task is the name of the task, for lists of jobs.
	Task string `json:"task,omitempty"`
	// AsyncDir is ansible_async_dir, "" if it is not set.
	AsyncDir string `json:"async_dir,omitempty"`
	// Files are the digests of the controller's files that the call reads: its host may pull these. A job has them
	// before it is told to be started: the controller may be gone by the time it needs them.
	Files []string `json:"files,omitempty"`
	// Await is a job that the run has started: its end is awaited and nothing is run. The result is the job's as its
	// task has it. With Patience it is only told whether the end came within that time (over).
	Await    string        `json:"await,omitempty"`
	Patience time.Duration `json:"patience,omitempty"`
	// Interpreter is ansible_python_interpreter, for facts and for modules that need Python.
	Interpreter string `json:"interpreter,omitempty"`
	// Invocation wants the arguments in the result, see modules.Env.
	Invocation bool `json:"invocation,omitempty"`
	// Reach says how the host of the call is to be reached, where Start.Reach asks for it: variables, and keywords
	// under the names of the variables that stand for them. It comes from sessions in the controller's process, and
	// goes no further than the controller.
	Reach map[string]string `json:"reach,omitempty"`
}

// RunAs says as whom a module runs. The zero value is the agent's own user.
type RunAs struct {
	User   string `json:"user,omitempty"`
	Method string `json:"method,omitempty"` // sudo, su, ...; used only by an agent that is not root
	Flags  string `json:"flags,omitempty"`
	Exe    string `json:"exe,omitempty"`
	// Password is sealed on the wire.
	Password string `json:"password,omitempty"`
}

// Cancel ends a run on the agents: process groups get TERM, then KILL; always sections still run.
type Cancel struct {
	Run string `json:"run"`
	// Grace is how long always sections may go on; then they are ended too. 0 ends everything at once.
	Grace time.Duration `json:"grace"`
}

// End drops the session of a run.
type End struct {
	Run string `json:"run"`
}

// Hello is presence: it is sent after each connection.
type Hello struct {
	ID      string    `json:"id"`   // of the agent's key
	Name    string    `json:"name"` // inventory name it was given
	Version string    `json:"version"`
	Proto   int       `json:"proto"`
	OS      string    `json:"os"`
	Arch    string    `json:"arch"`
	Boot    string    `json:"boot"` // boot id of the host
	Started time.Time `json:"started"`
	Runs    []string  `json:"runs,omitempty"` // sessions it holds
	// Orphans are those of Runs whose controller has gone: nothing of them runs, they wait to tell what came of it.
	Orphans []string `json:"orphans,omitempty"`
	// Trouble is what keeps it from beginning anything, such as a full disk; "" is nothing.
	Trouble string `json:"trouble,omitempty"`
	XKey    string `json:"xkey,omitempty"` // public curve key, for sealing
	// Joint: the agent knows signatures that are for many messages, see Joint.
	Joint bool `json:"joint,omitempty"`
	// Hold is what keeps keepers from this host.
	Hold *Hold `json:"hold,omitempty"`
}

// EventKind is what an event tells.
type EventKind string

// The kinds of events.
const (
	Started  EventKind = "started"  // the host begins a step (only steps that run, not skipped ones)
	Item     EventKind = "item"     // one item of a loop is done
	Retry    EventKind = "retry"    // an attempt of until failed
	Done     EventKind = "done"     // the step is finished; Outcome and Next are set
	Progress EventKind = "progress" // a job is still running
	Notified EventKind = "notified" // a handler was notified, for -vv
	AtGate   EventKind = "at_gate"  // the host stands at a barrier before Next without having done a step (play start, resume)
	Ended    EventKind = "ended"    // the host has come to the end of the plan, or failed out of it; Fate is set
	Warning  EventKind = "warning"
	Output   EventKind = "output" // live lines of a command
	// Broken: the run cannot go on for any host, as when a handler is notified that does not exist. Text is the error.
	Broken EventKind = "broken"
	// Excess is what the controller makes of events that would take more of it than one host may.
	Excess EventKind = "excess"
)

// Event is what an agent tells of a step. Events are numbered without gaps over a turn of a session (see Session), from
// Opening.Acked on.
type Event struct {
	Run  string    `json:"run"`
	Play string    `json:"play"`
	Host string    `json:"host"`
	Seq  uint64    `json:"seq"`
	Kind EventKind `json:"kind"`
	Step plan.ID   `json:"step,omitempty"`
	// Name is the task's rendered name; set with Started and Done.
	Name string `json:"name,omitempty"`
	// Kept, with Started, is the task's name as the host's own log has it. It never travels.
	Kept string    `json:"-"`
	Time time.Time `json:"time"`

	Outcome *Outcome `json:"outcome,omitempty"`
	// Next is where the host stands after Done: a step that is gated, or "" when it runs ahead or is at the end.
	Next plan.ID `json:"next,omitempty"`
	Fate Fate    `json:"fate,omitempty"`
	Text string  `json:"text,omitempty"` // Warning, Output (lines), Notified
	// Every says of Progress that a job is awaited from now on, and how often that is to be shown. The next Progress
	// is its end.
	Every time.Duration `json:"every,omitempty"`
	// Stderr says of Output that it is of a command's stderr.
	Stderr bool `json:"stderr,omitempty"`
	// Own: the controller made the event itself, for a step that it has evaluated or in a session of its own process.
	// It never travels.
	Own bool `json:"-"`
	// Adopted: the outcome of Done is another host's, taken from Advance.Shared (run_once); it is not shown again.
	Adopted bool `json:"adopted,omitempty"`
}

// Gate is the step before which the host stands and waits after the event, "" if it goes on by itself.
func (e *Event) Gate() plan.ID {
	if e.Kind == AtGate || e.Kind == Done {
		return e.Next
	}
	return ""
}

// Fate is a host's standing in a batch.
type Fate string

// The fates.
const (
	Running     Fate = "running"
	Finished    Fate = "finished" // came to the end of the plan
	Failed      Fate = "failed"
	Unreachable Fate = "unreachable"
	EndedEarly  Fate = "ended" // meta end_host, end_play
)

// Outcome is how a step, or an item of its loop, came out.
type Outcome struct {
	Status Status `json:"status"`
	// Result is what the user sees: censored if NoLog. JSON as Ansible registers it, with marks as keys (package result).
	Result json.RawMessage `json:"result"`
	NoLog  bool            `json:"no_log,omitempty"`
	// Ignored: failed, but ignore_errors held. Rescued: failed inside a block with a rescue.
	Ignored bool `json:"ignored,omitempty"`
	Rescued bool `json:"rescued,omitempty"`
	// Cancelled: failed, but only because the run was cancelled meanwhile.
	Cancelled bool `json:"cancelled,omitempty"`
	// Effects are the changes to the session's variables, so that the controller's mirror (hostvars, later
	// plays) stays true; values are uncensored and sealed on the wire when NoLog.
	Effects []Effect `json:"effects,omitempty"`
	// Notify are the handlers notified, by name as written.
	Notify []string `json:"notify,omitempty"`
	// Delegated is the delegate_to host, Item the item's label as shown, Attempt the attempts so far.
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
	// Shown: the debugger has shown this outcome already.
	Shown bool `json:"shown,omitempty"`

	// Hidden are the secrets that the host has told, for who shows more than the outcome says; set by the controller,
	// and may be nil.
	Hidden *mask.Masker `json:"-"`

	said *result.Result // see Said
}

// Said is the result, decoded once for all who look at it, who do not change it. It is for the one goroutine at a
// time that has the outcome.
func (o *Outcome) Said() *result.Result {
	if o.said == nil {
		o.said = result.Decode(o.Result)
	}
	return o.said
}

// Tell makes another result the one that is told.
func (o *Outcome) Tell(res json.RawMessage) { o.Result, o.said = res, nil }

// Status is how a result counts.
type Status = result.Status

// The statuses. Two have longer names here, beside the fates.
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
	// Ack is the acknowledgement of the opening where it has not gone alone, see Opening.Within.
	Ack *Ack `json:"ack,omitempty"`
}

// Acked acknowledges all events of a session up to Seq.
type Acked struct {
	Verdict
	Run  string `json:"run"`
	Host string `json:"host"`
	Seq  uint64 `json:"seq"`
}
