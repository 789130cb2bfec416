// Package plan is what the compiler makes of one play for one batch of hosts: steps as plain
// data, with templates still unrendered. An agent can run a plan without knowing what a playbook is.
// The package imports modules/py/value for its trees and nothing else of ours.
package plan

import (
	"encoding/json"
	"sync"

	"hark/modules/py/datetime"
	"hark/modules/py/value"
)

// Version is the highest version of the plan format, see VersionOf. An agent refuses a plan with a higher one.
const Version = 4

// Plan is one play for one batch.
type Plan struct {
	Version int  `json:"version"`
	Play    Play `json:"play"`
	// Blocks are the sections of the play in order: the implicit gathering of facts, pre_tasks, a flush,
	// roles and tasks, a flush, post_tasks, a flush. Each section is a Block without rescue.
	Blocks []Block `json:"blocks"`
	// Handlers are all handlers in the order in which Ansible runs them.
	Handlers []Handler `json:"handlers,omitempty"`
	// Roles are the roles that steps refer to, by key.
	Roles map[string]*Role `json:"roles,omitempty"`
}

// Play is what every step of a plan shares.
type Play struct {
	// Name is for logs of hosts. Where secrets are hidden it has none: its templates stand as they are written.
	Name string `json:"name"`
	// ID tells the plays of a run apart: 0, 1, ... and the batch within, "2.0".
	ID       string `json:"id"`
	Strategy string `json:"strategy"` // linear, free, host_pinned, debug
	// Gated is false when steps need no barrier: one host. In free plays only steps with throttle have a gate, and hosts
	// pass it one by one.
	Gated bool `json:"gated"`
	// AllGated puts a barrier before pure steps too: any_errors_fatal, max_fail_percentage.
	AllGated      bool `json:"all_gated,omitempty"`
	ForceHandlers bool `json:"force_handlers,omitempty"`
	Check         bool `json:"check,omitempty"`
	Diff          bool `json:"diff,omitempty"`
	Verbosity     int  `json:"verbosity,omitempty"`
	// Invocation wants the arguments of modules in their results whatever the verbosity is.
	Invocation bool `json:"invocation,omitempty"`
	// Brief leaves out of results what no view would show: the items in the result of their loop, which were reported
	// one by one, and, at verbosity 0, all but how a result that is fine came out. A loop that gathers a list would
	// send it once for each of its elements.
	Brief bool `json:"brief,omitempty"`
	// Interpreter is the Python of hosts that name none, as ansible_python_interpreter does.
	Interpreter string `json:"interpreter,omitempty"`
	// ForModules is what the settings tell modules in Python beside their arguments, by Ansible's names for it
	// (syslog_facility ...), where that is not the default.
	ForModules Dict `json:"for_modules,omitzero"`

	// Layers of variables that all hosts of the play share, raw. See package vars for the order.
	RoleDefaults Dict `json:"role_defaults,omitzero"` // defaults of all the play's roles
	Vars         Dict `json:"vars,omitzero"`          // vars and vars_prompt
	// VarsFiles are the entries of vars_files in order.
	VarsFiles []VarsFile `json:"vars_files,omitempty"`
	RoleVars  Dict       `json:"role_vars,omitzero"` // vars of all the play's roles
	Extra     Dict       `json:"extra,omitzero"`     // -e
	// Magic are the magic variables that do not depend on the host: playbook_dir, groups (large
	// values may be left out and asked for), ansible_play_hosts and the like.
	Magic Dict `json:"magic,omitzero"`
	// Withheld are names among these layers and those of the roles that the host does not get: none of its own steps
	// reads them.
	Withheld []string `json:"withheld,omitempty"`
	// HashMerge is hash_behaviour=merge.
	HashMerge bool `json:"hash_merge,omitempty"`
	// Level is the language of the play.
	Level Level `json:"level,omitempty"`
	// BrokenConditions is allow_broken_conditionals, at levels that have it.
	BrokenConditions bool `json:"broken_conditions,omitempty"`
	// Native is jinja2_native.
	Native bool `json:"native,omitempty"`
	// Extensions are jinja2_extensions.
	Extensions []string `json:"extensions,omitempty"`
	// Plugins are filters and tests in Python; nil if there can be none.
	Plugins *Plugins `json:"plugins,omitempty"`
	// Connections are the project's own connection plug-ins. They are in Python and never run; hosts of theirs may
	// have agents.
	Connections []string `json:"connections,omitempty"`
	// Becomes are the project's own become plug-ins, which are in Python and run by ansible-core alone.
	Becomes []string `json:"becomes,omitempty"`
	// InjectFacts is inject_facts_as_vars.
	InjectFacts bool `json:"inject_facts"`
	// Outgoing are the variables whose use is told of.
	Outgoing Outgoing `json:"outgoing,omitzero"`
	// Debugger opens the debugger where a task fails and its keyword debugger does not say otherwise; DebugIgnored
	// also where the failure is ignored.
	Debugger     bool `json:"debugger,omitempty"`
	DebugIgnored bool `json:"debug_ignored,omitempty"`
	// IgnoreMissingHandlers turns a notified handler that does not exist into a warning.
	IgnoreMissingHandlers bool `json:"ignore_missing_handlers,omitempty"`
}

// Free reports whether hosts go through the play each for itself (strategies free and host_pinned).
func (p *Play) Free() bool { return p.Strategy == "free" || p.Strategy == "host_pinned" }

// Outgoing are variables that a later language will not have.
type Outgoing struct {
	// Facts are those that inject_facts_as_vars makes of facts, if nobody has asked for them; Vars is vars.
	Facts bool `json:"facts,omitempty"`
	Vars  bool `json:"vars,omitempty"`
}

// VarsFile is one entry of vars_files. If its names are constant, Vars is the content of the first that exists.
// Otherwise Late is set, and each host renders Names with its own variables and asks for the content.
type VarsFile struct {
	Names []string `json:"names"` // candidates: the first that exists counts
	Late  bool     `json:"late,omitempty"`
	Vars  Dict     `json:"vars,omitzero"`
}

// Role is one role as steps see it: its own defaults, vars and parameters.
type Role struct {
	Name string `json:"name"` // without the collection: role_name
	FQCN string `json:"fqcn,omitempty"`
	Path string `json:"path"`
	// Identity is shared by all entries that Ansible holds for the same role: once a host has completed it, its
	// steps are skipped for that host (silently, handlers excepted) unless AllowDuplicates.
	Identity        string `json:"identity"`
	AllowDuplicates bool   `json:"allow_duplicates,omitempty"`
	Collection      string `json:"collection,omitempty"`
	Defaults        Dict   `json:"defaults,omitzero"` // of the role and of its dependency chain
	Vars            Dict   `json:"vars,omitzero"`
	Params          Dict   `json:"params,omitzero"`
}

// FullName is the role's name with its collection: ansible_role_name.
func (r *Role) FullName() string {
	if r.FQCN != "" {
		return r.FQCN
	}
	return r.Name
}

// Block is a list of steps and blocks with what to do when one fails.
type Block struct {
	ID     ID     `json:"id"`
	Name   string `json:"name,omitempty"`
	Body   []Node `json:"body,omitempty"`
	Rescue []Node `json:"rescue,omitempty"`
	Always []Node `json:"always,omitempty"`
	// RoleEnd marks the end of a role (the block is empty): a host for which a step of the role with this key was
	// not skipped has now completed it (see Role.Identity).
	RoleEnd string `json:"role_end,omitempty"`
}

// Node is a step or a block; exactly one is set.
type Node struct {
	Step  *Step  `json:"step,omitempty"`
	Block *Block `json:"block,omitempty"`
}

// Handler is a handler with what notifies it. Its Step's ID is "0.1", "0.2", ...: what a flush at 20 runs is "20.0.1".
type Handler struct {
	Step *Step `json:"step"`
	// Group counts the lists of handlers: of a name that several handlers have, the last group counts, and the first
	// handler within it.
	Group int `json:"group,omitempty"`
	// Listen are the topics, beside the name and "role : name".
	Listen []string `json:"listen,omitempty"`
}

// Kind is what a step is.
type Kind string

// The kinds of steps.
const (
	Task    Kind = "task"
	Include Kind = "include" // include_tasks, include_role, include: asks the controller for a fragment
	Meta    Kind = "meta"    // Args holds the action: flush_handlers, end_play, ...
)

// Evaluator is who evaluates a step: its loop, conditions, names and arguments.
type Evaluator string

// The evaluators. Who holds the answers evaluates: a host whose step needs only what the host itself has and what
// came with the plan; the controller for all others, calling the host's modules with everything rendered.
const (
	Agent      Evaluator = ""
	Controller Evaluator = "controller"
)

// Foreign is a module on the controller's disk. Where it lies stays there: the hosts ask for what they need of it.
type Foreign struct {
	Path  string   `json:"-"`
	Utils []string `json:"-"` // directories of module_utils for it, nearest first
}

// ActionPlugin is an action plug-in in Python on the controller's disk, which stands before the module of a step. The
// hosts ask for it to be run.
type ActionPlugin struct {
	Name string `json:"-"` // full, or short if it lies in a directory of the project's own
	Path string `json:"-"`
	// Collections are those that are in force where the step stands.
	Collections []string `json:"-"`
	// Defaults are the module_defaults in force, outermost first, by the names that playbooks give: for the modules
	// that the plug-in runs.
	Defaults []Dict `json:"-"`
}

// OtherFacts is what gathers a host's facts where that is not the native module alone. The hosts ask for it to be run
// as they ask for an ActionPlugin.
type OtherFacts struct {
	Plugin ActionPlugin `json:"-"`
	// Always reports whether the settings want it; otherwise a host's variables may: ansible_facts_modules,
	// ansible_network_os.
	Always bool `json:"always,omitempty"`
	// Defaults are the module_defaults of the action; the modules that it runs have their own.
	Defaults []Dict `json:"defaults,omitempty"`
}

// Step is one task with everything it inherited. Templates are unrendered.
type Step struct {
	ID   ID   `json:"id"`
	Kind Kind `json:"kind"`
	// Name is the task's name, "" if it has none. It may hold templates.
	Name string `json:"name,omitempty"`
	// Sealed: the name is a vault string, which was opened.
	Sealed bool `json:"sealed,omitempty"`
	// Action is the full name (ansible.builtin.copy); Written is as it stands in the playbook.
	Action  string `json:"action"`
	Written string `json:"written"`
	// Foreign is the file of a module that is not native, nil for the others.
	Foreign *Foreign `json:"foreign,omitempty"`
	// Plugin is what the controller runs for the step in place of its module, nil for most.
	Plugin *ActionPlugin `json:"plugin,omitempty"`
	// Facts is set on steps that gather facts.
	Facts *OtherFacts `json:"facts,omitempty"`
	// Args are the arguments; free-form text is under "_raw_params". If the playbook has a template
	// instead of a mapping (args: "{{ x }}"), ArgsExpr holds it, to be overlaid by Args.
	Args     Dict   `json:"args,omitzero"`
	ArgsExpr string `json:"args_expr,omitempty"`
	// Defaults are the module_defaults that hold for this action, outermost first, raw.
	Defaults []Dict `json:"defaults,omitempty"`

	When        []Expr `json:"when,omitempty"`
	Loop        *Loop  `json:"loop,omitempty"`
	Until       []Expr `json:"until,omitempty"`
	Retries     Expr   `json:"retries,omitzero"` // unset: 3 with until
	Delay       Expr   `json:"delay,omitzero"`   // seconds, 5
	ChangedWhen []Expr `json:"changed_when,omitempty"`
	FailedWhen  []Expr `json:"failed_when,omitempty"`
	Register    string `json:"register,omitempty"`
	// Projections are what is registered in place of the result: expressions by the names of variables. Register is
	// "" then.
	Projections       Dict `json:"projections,omitzero"`
	Notify            Expr `json:"notify,omitzero"` // list of names
	IgnoreErrors      Expr `json:"ignore_errors,omitzero"`
	IgnoreUnreachable Expr `json:"ignore_unreachable,omitzero"`
	AnyErrorsFatal    Expr `json:"any_errors_fatal,omitzero"`
	RunOnce           Expr `json:"run_once,omitzero"`
	DelegateTo        Expr `json:"delegate_to,omitzero"`
	DelegateFacts     Expr `json:"delegate_facts,omitzero"`
	NoLog             Expr `json:"no_log,omitzero"`
	CheckMode         Expr `json:"check_mode,omitzero"`
	Diff              Expr `json:"diff,omitzero"`
	Async             Expr `json:"async,omitzero"` // seconds
	Poll              Expr `json:"poll,omitzero"`
	Timeout           Expr `json:"timeout,omitzero"` // seconds
	Throttle          Expr `json:"throttle,omitzero"`
	Become            Expr `json:"become,omitzero"`
	BecomeUser        Expr `json:"become_user,omitzero"`
	BecomeMethod      Expr `json:"become_method,omitzero"`
	BecomeFlags       Expr `json:"become_flags,omitzero"`
	BecomeExe         Expr `json:"become_exe,omitzero"`
	RemoteUser        Expr `json:"remote_user,omitzero"`
	Connection        Expr `json:"connection,omitzero"`
	Port              Expr `json:"port,omitzero"`
	Debugger          Expr `json:"debugger,omitzero"`
	// Environment are mappings or templates, outermost first.
	Environment []Expr `json:"environment,omitempty"`
	// Otherwise are what keywords of this step would have inherited, by name, where they may turn out to be omitted:
	// delegate_to: "{{ host | default(omit) }}". A keyword without an entry is then as if nobody gave it.
	Otherwise map[string]Expr `json:"otherwise,omitempty"`

	// Vars are the variables of the enclosing blocks and of the task, merged, raw.
	Vars Dict `json:"vars,omitzero"`
	// IncludeVars are the parameters of dynamic includes around this step, merged: they win over
	// registered variables and lose to extra vars.
	IncludeVars Dict `json:"include_vars,omitzero"`
	// Role is the key in Plan.Roles, "" outside roles.
	Role string   `json:"role,omitempty"`
	Tags []string `json:"tags,omitempty"`

	// Evaluator says who evaluates the step. Guard, on one of the controller's, lets the host judge its conditions
	// first: where they do not hold, it is skipped and nobody else needs to know.
	Evaluator Evaluator `json:"evaluator,omitempty"`
	Guard     bool      `json:"guard,omitempty"`
	// Why is the reason for which the step is the controller's, for people. Reads are the variables that its texts
	// name, as far as its host evaluates them. Both stay with the controller.
	Why   string   `json:"-"`
	Reads []string `json:"-"`
	// Withheld are variables of the step's own, and of what it stands in, that its host does not get.
	Withheld []string `json:"withheld,omitempty"`

	// Pure: neither changes nor observes anything outside the session. Pure steps need no barrier.
	Pure bool `json:"pure,omitempty"`
	// Gate: a barrier stands before this step (not pure, or follows one that observes others).
	Gate bool `json:"gate,omitempty"`
	// Ahead: a host for which the conditions of the step do not hold need not wait at that barrier; for it the step
	// is pure.
	Ahead bool `json:"ahead,omitempty"`
	// Implicit steps were written by nobody: the gathering of facts, and metas such as the flush between sections, of
	// which nothing is shown.
	Implicit bool `json:"implicit,omitempty"`
	// Handler marks steps that run as handlers: the banner says so.
	Handler bool `json:"handler,omitempty"`
	// Place is file:line:column for messages.
	Place string `json:"place,omitempty"`
	// Search are the directories in which this step looks for controller-side files, nearest first,
	// without the final files/, templates/, vars/: role paths, directory of the file, of the playbook.
	Search []string `json:"search,omitempty"`
	// Files are answers sent ahead: controller-side files with constant names, by the name as written.
	Files map[string]File `json:"files,omitempty"`
}

// Loop is loop or with_<lookup>, with loop_control.
type Loop struct {
	// With is the lookup's name; "" for loop. With "items" and no lookup is meant with_items.
	With             string `json:"with,omitempty"`
	Over             Expr   `json:"over"`
	Var              Expr   `json:"var,omitzero"` // item
	IndexVar         Expr   `json:"index_var,omitzero"`
	Label            Expr   `json:"label,omitzero"`
	Pause            Expr   `json:"pause,omitzero"` // seconds
	Extended         Expr   `json:"extended,omitzero"`
	ExtendedAllItems Expr   `json:"extended_allitems,omitzero"`
	BreakWhen        []Expr `json:"break_when,omitempty"`
}

// File is a controller-side file that was resolved for a step.
type File struct {
	Path   string `json:"path"` // on the controller
	Digest string `json:"digest"`
	Sha1   string `json:"sha1,omitempty"` // as Ansible's modules compare files
	Size   int64  `json:"size"`
	Mode   uint32 `json:"mode"`
	// Inline is the content if it is small and was sent ahead.
	Inline []byte `json:"inline,omitempty"`
	// Told is what a template may ask of its file: ansible_managed, template_host, template_mtime, template_uid.
	Told Dict `json:"told,omitzero"`
}

// Fragment is what a dynamic include adds, under the ID of the including step.
type Fragment struct {
	// Index tells the fragments of one step apart; it is the component after the step's ID.
	Index int `json:"index"`
	// Path is the included file as the line "included: FILE for HOSTS" shows it, "" for a role.
	Path   string  `json:"path,omitempty"`
	Blocks []Block `json:"blocks"`
	// Handlers that an included role brings; appended to the plan's.
	Handlers []Handler        `json:"handlers,omitempty"`
	Roles    map[string]*Role `json:"roles,omitempty"`
	// RoleDefaults and RoleVars are set when the role is public: merged into the play's layers.
	RoleDefaults Dict `json:"role_defaults,omitzero"`
	RoleVars     Dict `json:"role_vars,omitzero"`
	// Withheld are names among the variables of the fragment that the host does not get.
	Withheld []string `json:"withheld,omitempty"`
}

// Expr is a raw value of a keyword: text that may hold a template, a bool, a number, a list.
// The zero Expr is a keyword that was not given.
type Expr struct{ V value.Value }

// IsZero reports whether the keyword was not given.
func (e Expr) IsZero() bool { return e.V == nil }

// Lit is an Expr of a value.
func Lit(v value.Value) Expr { return Expr{v} }

// MarshalJSON writes null for a keyword that was not given and [v] for one that was.
func (e Expr) MarshalJSON() ([]byte, error) {
	if e.V == nil {
		return []byte("null"), nil
	}
	b, err := value.EncodeSource(e.V, false)
	if err != nil {
		return nil, err
	}
	return append(append([]byte{'['}, b...), ']'), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Expr) UnmarshalJSON(b []byte) error {
	v, err := value.DecodeMoments(b, value.KindSource, datetime.Printed)
	if err != nil {
		return err
	}
	if l, ok := v.(*value.List); ok && len(l.Items) == 1 {
		e.V = l.Items[0]
		return nil
	}
	e.V = nil
	return nil
}

// Dict is a *value.Dict on the wire. The zero Dict is empty.
type Dict struct{ *value.Dict }

// IsZero reports whether the dict is absent or empty.
func (d Dict) IsZero() bool { return d.Len() == 0 }

// MarshalJSON writes the dict with value.EncodeSource.
func (d Dict) MarshalJSON() ([]byte, error) {
	if d.Dict == nil {
		return []byte("{}"), nil
	}
	return value.EncodeSource(d.Dict, true)
}

// UnmarshalJSON reads what MarshalJSON wrote; text becomes value.Source.
func (d *Dict) UnmarshalJSON(b []byte) error {
	v, err := value.DecodeMoments(b, value.KindSource, datetime.Printed)
	if err != nil {
		return err
	}
	d.Dict, _ = v.(*value.Dict)
	return nil
}

// Written gives what Digest does, which is made when it is first asked for: most plans travel cut. It is safe for
// concurrent use.
func (p *Plan) Written() func() (digest string, body []byte, err error) {
	type written struct {
		digest string
		body   []byte
	}
	once := sync.OnceValues(func() (w written, err error) {
		w.digest, w.body, err = p.Digest()
		return w, err
	})
	return func() (string, []byte, error) {
		w, err := once()
		return w.digest, w.body, err
	}
}

// Digest is the sha256 of the plan's JSON, in hex, and that JSON.
func (p *Plan) Digest() (string, []byte, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return "", nil, err
	}
	return digest(b), b, nil
}
