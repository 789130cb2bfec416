package wire

import (
	"encoding/json"
	"time"

	"hark/modules/treesync"
	"hark/playbook/plan"
)

// AskKind is what an agent needs of the controller.
type AskKind string

// The kinds of asks.
const (
	AskVars     AskKind = "vars"      // other hosts' variables: Hosts, Names; of those that are mappings only Entry, if it is given
	AskMagic    AskKind = "magic"     // large shared values left out of the plan: groups, ...
	AskLookup   AskKind = "lookup"    // a lookup that reads the controller's world: Name, Args
	AskFile     AskKind = "file"      // resolve a controller-side file or directory: Dir, Name
	AskTree     AskKind = "tree"      // what a controller-side path stands for, links unfollowed: Name, Tree
	AskBlob     AskKind = "blob"      // a piece of a blob: Digest, Offset
	AskInclude  AskKind = "include"   // a dynamic include: Includes
	AskDelegate AskKind = "delegate"  // run a call on another host: Name is the host, Call
	AskPrompt   AskKind = "prompt"    // pause and prompts: Prompt
	AskUpload   AskKind = "upload"    // a piece of a fetched file: Upload
	AskPlan     AskKind = "plan"      // the body of a plan by Digest
	AskVarsFile AskKind = "vars_file" // read a variables file whose name was a template: Names are the candidates
	// AskWhere is for the paragraph that Ansible appends to an error of a step: the place in its file, with the
	// lines there. Answer.Value is the text.
	AskWhere AskKind = "where"
	// AskInventory changes the inventory: Name is add_host or group_by, Kw what the module made of its arguments.
	// Answer.Value is whether that changed anything.
	AskInventory AskKind = "inventory"
	// AskDebug lets the person at the controller look into a step before it is Done: Outcome is how it came out, to
	// be shown first, Name the task as messages name it, Kw holds task, task_vars and result. Answer.Value is a
	// mapping: redo, and for that args and vars, which replace the task's.
	AskDebug AskKind = "debug"
	// AskPlugin runs a filter or test that is written in Python, or that looks at files, which are the controller's:
	// Dir is its kind, Name its name, Args the value that it is applied to and its arguments, Kw those with names.
	// Answer.Result is what it gives, as value.Encode writes it.
	AskPlugin AskKind = "plugin"
	// AskAction runs the action plug-in of the step, which is written in Python: Name is the host that it works on,
	// Call what calls of that host's modules are made of, Kw the rest of the task as the session has it.
	// Answer.Result is what it returned, as value.Encode writes it; with the ErrKind ActionEnded it was raised, and
	// nothing judges it any further. While it is awaited the plug-in's calls come to the host.
	AskAction AskKind = "action"
	// AskStep hands a step over to the controller, which evaluates it: Step is its ID, or that of a handler's run,
	// and Failing where the host stands. Answer.Did is what came of it. Beside the bodies of plans, blobs and uploads
	// it is all that an agent may ask.
	AskStep AskKind = "step"
	// AskOwn wants the host's own variables anew: after the inventory has changed, or when the names of vars_files
	// come out differently. Answer.Did has them.
	AskOwn AskKind = "own"
	// AskPlace names a place on the controller to which uploads of the step may go: Place. Only the controller's own
	// sessions ask for it; the first of Answer.Paths is its token.
	AskPlace AskKind = "place"
	// AskReset forgets how the host was reached (meta reset_connection): what comes after it begins with a new connection.
	AskReset AskKind = "reset"
)

// Ask is a question of a session. Those of sessions in the controller's own process may be of any kind, see travels
// in package runner.
type Ask struct {
	Run  string  `json:"run"`
	Play string  `json:"play"`
	Host string  `json:"host"`
	Step plan.ID `json:"step,omitempty"`
	Kind AskKind `json:"kind"`

	Hosts    []string        `json:"hosts,omitempty"`
	Names    []string        `json:"names,omitempty"`
	Entry    string          `json:"entry,omitempty"`
	Name     string          `json:"name,omitempty"`
	Dir      string          `json:"dir,omitempty"` // files, templates, vars, tasks
	Args     plan.Expr       `json:"args,omitzero"` // positional arguments of a lookup, a list
	Kw       plan.Dict       `json:"kw,omitzero"`
	Own      plan.Dict       `json:"own,omitzero"` // of a lookup, filter or test: the variables that only the session has, see runner.ownVariables
	Digest   string          `json:"digest,omitempty"`
	Offset   int64           `json:"offset,omitempty"`
	Includes []IncludeCall   `json:"includes,omitempty"`
	Call     *Call           `json:"call,omitempty"`
	Prompt   *Prompt         `json:"prompt,omitempty"`
	Upload   *Upload         `json:"upload,omitempty"`
	Tree     *treesync.Query `json:"tree,omitempty"`
	Outcome  *Outcome        `json:"outcome,omitempty"`
	Place    *Place          `json:"place,omitempty"`
	// Failing reports whether the host has failed in the outermost block and nothing has mended that yet.
	Failing bool `json:"failing,omitempty"`
	// Delegated: the variables asked for are of a host that a task is delegated to, whose templates see hostvars;
	// others do not.
	Delegated bool `json:"delegated,omitempty"`
	// Decrypt: open vault files on the way (copy's decrypt, on by default).
	Decrypt bool `json:"decrypt,omitempty"`
	// Shelves, of a blob, tells that its piece may also lie at the broker: Answer.Shelf instead of Answer.Data.
	Shelves bool `json:"shelves,omitempty"`
	// Digests, of a blob and in place of Digest, are those of small files whose contents are wanted whole, in this
	// order: Answer.Contents.
	Digests []string `json:"digests,omitempty"`
}

// Question is the body of a KindAsk message: what is asked, and by which session. Calls have none.
type Question struct {
	Ask
	Session
}

// IncludeCall is one include_tasks or include_role, everything rendered.
type IncludeCall struct {
	Args plan.Dict `json:"args"` // file | name, tasks_from, apply, public, ...
	// Vars are the include's variables and its loop variables: part of what tells fragments apart.
	Vars plan.Dict `json:"vars,omitzero"`
}

// Did is what came of a step that the controller has evaluated for a host, as far as the host needs it to walk on.
// The step itself was told of by the controller.
type Did struct {
	// Outcome has the status, the effects on the host's own variables and the action of a meta; nothing to be shown.
	Outcome Outcome `json:"outcome"`
	// Notified are the handlers that it notified, by the IDs of their steps. Ran says that a step of its role was not
	// skipped.
	Notified []plan.ID `json:"notified,omitempty"`
	Ran      bool      `json:"ran,omitempty"`
	// Fragments are what an include brought.
	Fragments []plan.Fragment `json:"fragments,omitempty"`
	// Vars, if set, are the host's own layers anew, Late the contents of vars_files whose names hold templates.
	Vars *HostVars         `json:"vars,omitempty"`
	Late map[int]plan.Dict `json:"late,omitempty"`
	// More are variables that the host can read from now on: those of the plan and of the host that were withheld before.
	More *More `json:"more,omitempty"`
}

// More are layers of variables, each with the names that a host did not get before. Withheld are the names that it
// still does not get.
type More struct {
	Play     plan.Play             `json:"play"` // its layers alone
	Roles    map[string]*plan.Role `json:"roles,omitempty"`
	Vars     HostVars              `json:"vars"`
	Withheld []string              `json:"withheld,omitempty"`
}

// Place is where uploads of a step may go on the controller, see modules.Place.
type Place struct {
	Root    string `json:"root"`
	File    bool   `json:"file,omitempty"`
	Archive bool   `json:"archive,omitempty"`
	// Only is the one file of a directory that may be uploaded. Without it that is the first which is named and whose
	// path ends as Tail says.
	Only string `json:"only,omitempty"`
	Tail string `json:"tail,omitempty"`
	// Options, with Archive, bound what the archive may change.
	Options treesync.Options `json:"options,omitzero"`
}

// Prompt is a pause on the controller.
type Prompt struct {
	Text string `json:"text,omitempty"`
	// Ask is shown where there is somebody to answer. Where nobody is and there is no limit the answer is none, and
	// the task says so.
	Ask   string        `json:"ask,omitempty"`
	Limit time.Duration `json:"limit,omitempty"` // 0 waits for the user
	Echo  bool          `json:"echo"`
}

// Upload is a piece of a file that goes to the controller (fetch), or, if Mode has the bits of a directory or of a
// regular file, of an archive of changes to that (synchronize).
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

// Override says which variables of the host count more than a setting that a lookup gave, the last that is set most;
// Kind is what text in them becomes: int, bool, or "" for text.
type Override struct {
	At    int      `json:"at"` // which of the settings
	Names []string `json:"names"`
	Kind  string   `json:"kind,omitempty"`
}

// Answer answers an Ask.
type Answer struct {
	Verdict
	// Err is the text to fail the task with; ErrKind is "undefined", "not_found", "unreachable", "broken" (an
	// include whose file cannot be parsed: the run ends), the class of a lookup's exception, or "".
	Err     string `json:"err,omitempty"`
	ErrKind string `json:"err_kind,omitempty"`

	Vars      map[string]plan.Dict `json:"vars,omitempty"` // by host
	Value     plan.Expr            `json:"value,omitzero"` // lookup, prompt, magic
	File      *Source              `json:"file,omitempty"`
	Tree      *treesync.Tree       `json:"tree,omitempty"`
	Did       *Did                 `json:"did,omitempty"`
	Data      []byte               `json:"data,omitempty"` // blob, plan
	EOF       bool                 `json:"eof,omitempty"`
	Shelf     *Shelf               `json:"shelf,omitempty"`     // of a blob: where the piece is
	Contents  [][]byte             `json:"contents,omitempty"`  // of the first of Ask.Digests, as many as one answer holds
	Fragments []plan.Fragment      `json:"fragments,omitempty"` // one for each IncludeCall; equal calls share an Index
	Overrides []Override           `json:"overrides,omitempty"` // lookup config
	Result    json.RawMessage      `json:"result,omitempty"`    // delegate: the module's result
	Paths     []string             `json:"paths,omitempty"`
	Secret    bool                 `json:"secret,omitempty"` // vars_file: it was encrypted, show nothing of it
}

// ActionEnded is the ErrKind of a result that an action plug-in has raised.
const ActionEnded = "ended"

// The ErrKinds by which an asker sees that the controller does not have a lookup, and that the project does not have
// a filter or test.
const (
	UnknownLookup = "unknown_lookup"
	UnknownPlugin = "unknown_plugin"
)

// Source is a controller-side file or directory as an agent sees it.
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
	// Circle: the link leads back to a directory above it, so nothing is listed under it.
	Circle bool `json:"circle,omitempty"`
}
