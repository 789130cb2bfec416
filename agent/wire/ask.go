package wire

import (
	"encoding/json"
	"time"

	"hark/modules/treesync"
	"hark/playbook/plan"
)

// AskKind says what an agent asks of the controller.
type AskKind string

// The kinds of asks.
const (
	// other hosts' variables: Hosts, Names; of those that are mappings only Entry, if it is given
	AskVars     AskKind = "vars"
	AskMagic    AskKind = "magic"     // large shared values that the plan leaves out: groups, ...
	AskLookup   AskKind = "lookup"    // a lookup that reads files or programs of the controller: Name, Args
	AskFile     AskKind = "file"      // resolve a controller-side file or directory: Dir, Name
	AskTree     AskKind = "tree"      // what a path of the controller refers to, links not followed: Name, Tree
	AskBlob     AskKind = "blob"      // a piece of a blob: Digest, Offset
	AskInclude  AskKind = "include"   // a dynamic include: Includes
	AskDelegate AskKind = "delegate"  // run a call on another host: Name is the host, Call
	AskPrompt   AskKind = "prompt"    // pause and prompts: Prompt
	AskUpload   AskKind = "upload"    // a piece of a fetched file: Upload
	AskPlan     AskKind = "plan"      // the body of a plan by Digest
	AskVarsFile AskKind = "vars_file" // read a variables file whose name was a template: Names are the candidates
	// AskWhere asks for the paragraph that Ansible appends to an error of a step: the place in its file, and the lines
	// there. Name is the keyword of the step whose value is meant, "" for the step. Answer.Value is the text.
	AskWhere AskKind = "where"
	// AskInventory changes the inventory. Name is add_host or group_by, Kw what the module made of its arguments.
	// Answer.Value reports whether anything changed.
	AskInventory AskKind = "inventory"
	// AskDebug lets the user inspect a step before it is Done. Outcome is its result, which is shown first. Name is the
	// task as messages name it. Kw holds task, task_vars and result. Answer.Value is a mapping: redo, and with it args and
	// vars, which replace the task's.
	AskDebug AskKind = "debug"
	// AskPlugin runs a filter or test that is written in Python or reads files of the controller. Dir is its kind, Name
	// its name, Args the value and the positional arguments, Kw the named arguments. Answer.Result is its value as
	// value.Encode writes it.
	AskPlugin AskKind = "plugin"
	// AskAction runs the action plug-in of the step, which is written in Python. Name is its host, Call a template for
	// calls of that host's modules, Kw the rest of the task as the session has it. Answer.Result is what the plug-in
	// returned, as value.Encode writes it. With the ErrKind ActionEnded the plug-in raised it, and the session does not
	// judge it further. While the session waits, the plug-in's calls arrive at the host.
	AskAction AskKind = "action"
	// AskStep hands a step over to the controller, which evaluates it. Step is its ID, or that of a handler's run; Failing
	// says where the host stands. Answer.Did is the result. Apart from plans, blobs, uploads and AskOwn it is all that an
	// agent may ask.
	AskStep AskKind = "step"
	// AskOwn asks for the host's own variables again: after the inventory has changed, or when the names of vars_files
	// have another value. Answer.Did has them.
	AskOwn AskKind = "own"
	// AskPlace names a place on the controller to which the step may upload: Place. Only sessions in the controller's
	// process ask for it. The first of Answer.Paths is its token.
	AskPlace AskKind = "place"
	// AskReset forgets how the host was reached (meta reset_connection). The next call opens a new connection.
	AskReset AskKind = "reset"
)

// Ask is a question of a session. Sessions in the controller's own process may ask any kind; see travels in package
// runner.
type Ask struct {
	Run  string  `json:"run"`
	Play string  `json:"play"`
	Host string  `json:"host"`
	Step plan.ID `json:"step,omitempty"`
	Kind AskKind `json:"kind"`

	Hosts []string  `json:"hosts,omitempty"`
	Names []string  `json:"names,omitempty"`
	Entry string    `json:"entry,omitempty"`
	Name  string    `json:"name,omitempty"`
	Dir   string    `json:"dir,omitempty"` // files, templates, vars, tasks
	Args  plan.Expr `json:"args,omitzero"` // positional arguments of a lookup, a list
	Kw    plan.Dict `json:"kw,omitzero"`
	// of a lookup, filter or test: the variables that only the session has, see runner.ownVariables
	Own      plan.Dict       `json:"own,omitzero"`
	Digest   string          `json:"digest,omitempty"`
	Offset   int64           `json:"offset,omitempty"`
	Includes []IncludeCall   `json:"includes,omitempty"`
	Call     *Call           `json:"call,omitempty"`
	Prompt   *Prompt         `json:"prompt,omitempty"`
	Upload   *Upload         `json:"upload,omitempty"`
	Tree     *treesync.Query `json:"tree,omitempty"`
	Outcome  *Outcome        `json:"outcome,omitempty"`
	Place    *Place          `json:"place,omitempty"`
	// Failing says that the host has failed in the outermost block and has not been rescued since.
	Failing bool `json:"failing,omitempty"`
	// Delegated says that the variables belong to the host of a delegated task, whose templates see hostvars; templates of
	// others do not.
	Delegated bool `json:"delegated,omitempty"`
	// Decrypt: open vault files on the way (copy's decrypt, on by default).
	Decrypt bool `json:"decrypt,omitempty"`
	// AtBroker, of a blob, says that its piece may also be at the broker: then Answer.Location takes the place of
	// Answer.Data.
	AtBroker bool `json:"at_broker,omitempty"`
	// Digests, of a blob and in place of Digest, name small files whose whole contents are wanted in this order:
	// Answer.Contents.
	Digests []string `json:"digests,omitempty"`
}

// Question is the body of a KindAsk message: the question, and the session that asks. Calls have no session.
type Question struct {
	Ask
	Session
}

// IncludeCall is one include_tasks or include_role, everything rendered.
type IncludeCall struct {
	Args plan.Dict `json:"args"` // file | name, tasks_from, apply, public, ...
	// Vars are the include's variables and its loop variables. Includes with different Vars bring different fragments.
	Vars plan.Dict `json:"vars,omitzero"`
}

// Did is the result of a step that the controller has evaluated for a host, as far as the host needs it to go on. The
// controller shows the step itself.
type Did struct {
	// Outcome has the status, the effects on the host's own variables and the action of a meta task; nothing to show.
	Outcome Outcome `json:"outcome"`
	// Notified are the IDs of the handlers' steps that the step notified; Names are the names that it notified and that
	// wait for the next flush. Ran says that a step of its role was not skipped.
	Notified []plan.ID `json:"notified,omitempty"`
	Names    []string  `json:"names,omitempty"`
	Ran      bool      `json:"ran,omitempty"`
	// Fragments are the steps that an include added.
	Fragments []plan.Fragment `json:"fragments,omitempty"`
	// Vars, if set, are the host's own layers, which replace the old ones. Late are the contents of vars_files whose names
	// hold templates.
	Vars *HostVars         `json:"vars,omitempty"`
	Late map[int]plan.Dict `json:"late,omitempty"`
	// More are variables that the host may read from now on: those of the plan and of the host that were withheld before.
	More *More `json:"more,omitempty"`
}

// More are layers of variables, each with the names that a host did not get before. Withheld are the names that it
// still does not get.
type More struct {
	Play     plan.Play             `json:"play"` // its layers only
	Roles    map[string]*plan.Role `json:"roles,omitempty"`
	Vars     HostVars              `json:"vars"`
	Withheld []string              `json:"withheld,omitempty"`
}

// Place is where a step may upload to on the controller, see modules.Place.
type Place struct {
	Root    string `json:"root"`
	File    bool   `json:"file,omitempty"`
	Archive bool   `json:"archive,omitempty"`
	// Only is the one file of a directory that may be uploaded. Without it that is the first file that the host names and
	// whose path ends with Tail.
	Only string `json:"only,omitempty"`
	Tail string `json:"tail,omitempty"`
	// Options, with Archive, bound what the archive may change.
	Options treesync.Options `json:"options,omitzero"`
}

// Prompt is a pause on the controller.
type Prompt struct {
	Text string `json:"text,omitempty"`
	// Ask is shown if there is a user who can answer. If there is none and no limit either, there is no answer, and the
	// task says so.
	Ask   string        `json:"ask,omitempty"`
	Limit time.Duration `json:"limit,omitempty"` // 0 waits for the user
	Echo  bool          `json:"echo"`
}

// Upload is a piece of a file for the controller (fetch). If Mode has the bits of a directory or of a regular file, it
// is a piece of an archive of changes to that (synchronize).
type Upload struct {
	// Dest is the token of a place and, unless that is a file, a slash and the path there.
	Dest   string `json:"dest"`
	Offset int64  `json:"offset"`
	Data   []byte `json:"data,omitempty"`
	Digest string `json:"digest,omitempty"` // sha256 of the whole, with Last
	Last   bool   `json:"last,omitempty"`
	Mode   uint32 `json:"mode,omitempty"`
	// Stat asks about Dest and writes nothing.
	Stat bool `json:"stat,omitempty"`
}

// Override says which variables of the host take precedence over a setting of a lookup; the last that is set wins. Kind
// is what their text is converted to: int, bool, or "" for text.
type Override struct {
	At    int      `json:"at"` // which of the settings
	Names []string `json:"names"`
	Kind  string   `json:"kind,omitempty"`
}

// Answer answers an Ask.
type Answer struct {
	StopVerdict
	// Err is the text to fail the task with. ErrKind is "undefined", "not_found", "unreachable", "broken" (an include's
	// file cannot be parsed, so the run ends), the class of a lookup's exception, or "".
	Err     string `json:"err,omitempty"`
	ErrKind string `json:"err_kind,omitempty"`

	Vars      map[string]plan.Dict `json:"vars,omitempty"` // by host
	Value     plan.Expr            `json:"value,omitzero"` // lookup, prompt, magic
	File      *Source              `json:"file,omitempty"`
	Tree      *treesync.Tree       `json:"tree,omitempty"`
	Did       *Did                 `json:"did,omitempty"`
	Data      []byte               `json:"data,omitempty"` // blob, plan
	EOF       bool                 `json:"eof,omitempty"`
	Location  *BlobLocation        `json:"location,omitempty"`  // of a blob: where the piece is
	Contents  [][]byte             `json:"contents,omitempty"`  // of the first of Ask.Digests, as many as one answer holds
	Fragments []plan.Fragment      `json:"fragments,omitempty"` // one for each IncludeCall; equal calls share an Index
	Overrides []Override           `json:"overrides,omitempty"` // lookup config
	Result    json.RawMessage      `json:"result,omitempty"`    // delegate: the module's result
	Paths     []string             `json:"paths,omitempty"`
	Secret    bool                 `json:"secret,omitempty"` // vars_file: it was encrypted, show nothing of it
}

// ActionEnded is the ErrKind of a result that an action plug-in raised.
const ActionEnded = "ended"

// The ErrKinds that say that the controller does not have a lookup, and that the project does not have a filter or
// test.
const (
	UnknownLookup = "unknown_lookup"
	UnknownPlugin = "unknown_plugin"
)

// Source is a file or directory of the controller as an agent sees it.
type Source struct {
	plan.File
	Dir     bool          `json:"dir,omitempty"`
	Entries []SourceEntry `json:"entries,omitempty"` // of a directory, all the way down, sorted
}

// SourceEntry is one entry under a directory.
type SourceEntry struct {
	Rel    string `json:"rel"`
	Mode   uint32 `json:"mode"`
	Size   int64  `json:"size"`
	Digest string `json:"digest,omitempty"`
	Sha1   string `json:"sha1,omitempty"`
	Dir    bool   `json:"dir,omitempty"`
	Link   string `json:"link,omitempty"` // target of a symbolic link
	// Circle says that the link leads back to a directory above it, so nothing is listed under it.
	Circle bool `json:"circle,omitempty"`
}
