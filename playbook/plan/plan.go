// Package plan is the result of compiling one play for one batch of hosts: steps as plain data, with templates still
// unrendered. An agent can run a plan without knowing what a playbook is. The package imports modules/py/value for its
// trees, and modules/dialect, and nothing else of hark.
package plan

import (
	"encoding/json"
	"sync"

	"hark/modules/py/datetime"
	"hark/modules/py/value"
)

// Version is the highest version of the plan format, see VersionOf. An agent rejects a plan with a higher one.
const Version = 4

// Plan is one play for one batch.
type Plan struct {
	Version int  `json:"version"`
	Play    Play `json:"play"`
	// Blocks are the sections of the play in order: the implicit gathering of facts, pre_tasks, a flush, roles and tasks,
	// a flush, post_tasks, a flush. Each section is a Block without rescue.
	Blocks []Block `json:"blocks"`
	// Handlers are all handlers in the order in which Ansible runs them.
	Handlers []Handler `json:"handlers,omitempty"`
	// Roles are the roles that steps refer to, by key.
	Roles map[string]*Role `json:"roles,omitempty"`
}

// Play is what every step of a plan shares.
type Play struct {
	// Name is for logs of hosts. It is empty where secrets are hidden, since its templates are not rendered.
	Name string `json:"name"`
	// ID identifies the play in its run: 0, 1, ... and the batch within, "2.0".
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
	// Invocation asks for the arguments of modules in their results, whatever the verbosity is.
	Invocation bool `json:"invocation,omitempty"`
	// Brief leaves out of results what no view would show: in a loop's result the items, which were reported one by one;
	// and at verbosity 0 everything but the status of a good result. Otherwise a loop that gathers a list would send it
	// once for each of its elements.
	Brief bool `json:"brief,omitempty"`
	// Interpreter is the Python of hosts that name none, as ansible_python_interpreter does.
	Interpreter string `json:"interpreter,omitempty"`
	// ForModules are the settings for modules in Python beside their arguments, by Ansible's names (syslog_facility ...),
	// if they are not the default.
	ForModules Dict `json:"for_modules,omitzero"`

	// Layers of variables that all hosts of the play share, raw. See package vars for the order.
	RoleDefaults Dict `json:"role_defaults,omitzero"` // defaults of all the play's roles
	Vars         Dict `json:"vars,omitzero"`          // vars and vars_prompt
	// VarsFiles are the entries of vars_files in order.
	VarsFiles []VarsFile `json:"vars_files,omitempty"`
	RoleVars  Dict       `json:"role_vars,omitzero"` // vars of all the play's roles
	Extra     Dict       `json:"extra,omitzero"`     // -e
	// Magic are the magic variables that do not depend on the host: playbook_dir, groups (large values may be left out and
	// asked for), ansible_play_hosts and the like.
	Magic Dict `json:"magic,omitzero"`
	// Withheld are names in these layers and those of the roles that the host does not get, since none of its own steps
	// reads them.
	Withheld []string `json:"withheld,omitempty"`
	// Zone is the controller's time zone, as a file of it has it (TZif). All that templates say of times is in it. Empty
	// is that of whoever renders.
	Zone []byte `json:"zone,omitempty"`
	// HashMerge is hash_behaviour=merge.
	HashMerge bool `json:"hash_merge,omitempty"`
	// Level is the language level of the play.
	Level Level `json:"level,omitempty"`
	// BrokenConditions is allow_broken_conditionals, at levels that have it.
	BrokenConditions bool `json:"broken_conditions,omitempty"`
	// AnyText is module_strict_utf8_response turned off, at levels that have it.
	AnyText bool `json:"any_text,omitempty"`
	// Native is jinja2_native.
	Native bool `json:"native,omitempty"`
	// Extensions are jinja2_extensions.
	Extensions []string `json:"extensions,omitempty"`
	// Plugins are filters and tests in Python; nil if there can be none.
	Plugins *Plugins `json:"plugins,omitempty"`
	// Connections are the project's own connection plug-ins. They are in Python and are never run, but their hosts may
	// have agents.
	Connections []string `json:"connections,omitempty"`
	// Becomes are the project's own become plug-ins, which are in Python; only ansible-core runs them.
	Becomes []string `json:"becomes,omitempty"`
	// InjectFacts is inject_facts_as_vars.
	InjectFacts bool `json:"inject_facts"`
	// Outgoing are the deprecated variables whose use is reported.
	Outgoing Outgoing `json:"outgoing,omitzero"`
	// Debugger opens the debugger where a task fails, unless its keyword debugger says otherwise; DebugIgnored also where
	// the failure is ignored.
	Debugger     bool `json:"debugger,omitempty"`
	DebugIgnored bool `json:"debug_ignored,omitempty"`
	// IgnoreMissingHandlers makes a notified handler that does not exist a warning.
	IgnoreMissingHandlers bool `json:"ignore_missing_handlers,omitempty"`
}

// Free reports whether each host goes through the play by itself (strategies free and host_pinned).
func (p *Play) Free() bool { return p.Strategy == "free" || p.Strategy == "host_pinned" }

// Outgoing are variables that a later level will not have.
type Outgoing struct {
	// Facts are those that inject_facts_as_vars makes of facts, if nobody has set it; Vars is vars.
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
	// Identity is shared by all entries that Ansible treats as the same role: once a host has completed it, its steps are
	// skipped for that host (silently, handlers excepted) unless AllowDuplicates.
	Identity        string `json:"identity"`
	AllowDuplicates bool   `json:"allow_duplicates,omitempty"`
	Collection      string `json:"collection,omitempty"`
	Defaults        Dict   `json:"defaults,omitzero"` // of the role and of its dependency chain
	Vars            Dict   `json:"vars,omitzero"`
	Params          Dict   `json:"params,omitzero"`
}

// FullName returns the role's name with its collection: ansible_role_name.
func (r *Role) FullName() string {
	if r.FQCN != "" {
		return r.FQCN
	}
	return r.Name
}

// Block is a list of steps and blocks, and what to do when one fails.
type Block struct {
	ID     ID     `json:"id"`
	Name   string `json:"name,omitempty"`
	Body   []Node `json:"body,omitempty"`
	Rescue []Node `json:"rescue,omitempty"`
	Always []Node `json:"always,omitempty"`
	// RoleEnd marks the end of a role (the block is empty): a host for which a step of the role with this key was not
	// skipped has now completed it (see Role.Identity).
	RoleEnd string `json:"role_end,omitempty"`
}

// Node is a step or a block; exactly one is set.
type Node struct {
	Step  *Step  `json:"step,omitempty"`
	Block *Block `json:"block,omitempty"`
}

// Handler is a handler and its topics. Its Step's ID is "0.1", "0.2", ...; when a flush at 20 runs it, the ID is
// "20.0.1".
type Handler struct {
	Step *Step `json:"step"`
	// Group counts the lists of handlers: of a name that several handlers have, the last group counts, and the first
	// handler within it.
	Group int `json:"group,omitempty"`
	// Listen are the topics, beside the name and "role : name".
	Listen []string `json:"listen,omitempty"`
}

// Kind is the kind of a step.
type Kind string

// The kinds of steps.
const (
	Task    Kind = "task"
	Include Kind = "include" // include_tasks, include_role, include: asks the controller for a fragment
	Meta    Kind = "meta"    // Args holds the action: flush_handlers, end_play, ...
)

// Evaluator is who evaluates a step: its loop, conditions, names and arguments.
type Evaluator string

// The evaluators. Whoever holds the answers evaluates: the host, if a step needs only what the host has and what came
// with the plan; otherwise the controller, which calls the host's modules with everything rendered.
const (
	Agent      Evaluator = ""
	Controller Evaluator = "controller"
)

// Foreign is a module on the controller's disk. Its path stays there: hosts ask for what they need of it.
type Foreign struct {
	Path  string   `json:"-"`
	Utils []string `json:"-"` // directories of module_utils for it, nearest first
}

// ActionPlugin is an action plug-in in Python on the controller's disk, which comes before the module of a step. Hosts
// ask the controller to run it.
type ActionPlugin struct {
	Name string `json:"-"` // full, or short if it lies in a directory of the project's own
	Path string `json:"-"`
	// Collections are the collections of the step.
	Collections []string `json:"-"`
	// Defaults are the module_defaults in force, outermost first, by the names in playbooks: for the modules that the
	// plug-in runs.
	Defaults []Dict `json:"-"`
}

// FactsModules is how a host's facts are gathered if not by the native module only. Hosts ask the controller to run
// it like an ActionPlugin.
type FactsModules struct {
	Plugin ActionPlugin `json:"-"`
	// Always says that the settings require it; otherwise a host's variables may: ansible_facts_modules,
	// ansible_network_os.
	Always bool `json:"always,omitempty"`
	// Defaults are the module_defaults of the action; the modules that it runs have their own.
	Defaults []Dict `json:"defaults,omitempty"`
	// DefaultExprs are as a step's.
	DefaultExprs []string `json:"default_exprs,omitempty"`
}

// Step is one task with everything it inherited. Templates are unrendered.
type Step struct {
	ID   ID   `json:"id"`
	Kind Kind `json:"kind"`
	// Name is the task's name, "" if it has none. It may hold templates.
	Name string `json:"name,omitempty"`
	// Sealed says that the name was a vault string.
	Sealed bool `json:"sealed,omitempty"`
	// Action is the full name (ansible.builtin.copy); Written is the name in the playbook.
	Action  string `json:"action"`
	Written string `json:"written"`
	// Foreign is the file of a module that is not native, nil for the others.
	Foreign *Foreign `json:"foreign,omitempty"`
	// Plugin is what the controller runs for the step in place of its module, nil for most.
	Plugin *ActionPlugin `json:"plugin,omitempty"`
	// Facts is set on steps that gather facts.
	Facts *FactsModules `json:"facts,omitempty"`
	// Args are the arguments; free-form text is under "_raw_params". If the playbook has a template instead of a mapping
	// (args: "{{ x }}"), ArgsExpr holds it, and Args go over its value.
	Args     Dict   `json:"args,omitzero"`
	ArgsExpr string `json:"args_expr,omitempty"`
	// Defaults are the module_defaults that hold for this action, outermost first, raw. Of one that is a template
	// instead of a mapping, DefaultExprs holds the template at the same place, and Defaults nothing.
	Defaults     []Dict   `json:"defaults,omitempty"`
	DefaultExprs []string `json:"default_exprs,omitempty"`

	When        []Expr `json:"when,omitempty"`
	Loop        *Loop  `json:"loop,omitempty"`
	Until       []Expr `json:"until,omitempty"`
	Retries     Expr   `json:"retries,omitzero"` // unset: 3 with until
	Delay       Expr   `json:"delay,omitzero"`   // seconds, 5
	ChangedWhen []Expr `json:"changed_when,omitempty"`
	FailedWhen  []Expr `json:"failed_when,omitempty"`
	Register    string `json:"register,omitempty"`
	// Projections are what is registered in place of the result: expressions by the names of variables. Register is ""
	// then.
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
	// Otherwise are the values that keywords of this step would have inherited, by name, where they may turn out to be
	// omitted: delegate_to: "{{ host | default(omit) }}". A keyword without an entry is then as if nobody gave it.
	Otherwise map[string]Expr `json:"otherwise,omitempty"`

	// Vars are the variables of the enclosing blocks and of the task, merged, raw.
	Vars Dict `json:"vars,omitzero"`
	// IncludeVars are the parameters of dynamic includes around this step, merged: they override registered variables, and
	// extra vars override them.
	IncludeVars Dict `json:"include_vars,omitzero"`
	// Role is the key in Plan.Roles, "" outside roles.
	Role string   `json:"role,omitempty"`
	Tags []string `json:"tags,omitempty"`

	// Evaluator says who evaluates the step. Guard, on a controller's step, lets the host judge its conditions first: if
	// they do not hold, it is skipped and nobody else needs to know.
	Evaluator Evaluator `json:"evaluator,omitempty"`
	Guard     bool      `json:"guard,omitempty"`
	// Why is the reason why the step is the controller's, for people. Reads are the variables that its texts name, as far
	// as its host evaluates them. Both stay with the controller.
	Why   string   `json:"-"`
	Reads []string `json:"-"`
	// Withheld are variables of the step and of what surrounds it that its host does not get.
	Withheld []string `json:"withheld,omitempty"`

	// Pure says that the step neither changes nor observes anything outside the session. Pure steps need no barrier.
	Pure bool `json:"pure,omitempty"`
	// Gate says that a barrier is before this step (it is not pure, or follows one that observes others).
	Gate bool `json:"gate,omitempty"`
	// Ahead says that a host for which the conditions of the step do not hold need not wait at that barrier: for it the
	// step is pure.
	Ahead bool `json:"ahead,omitempty"`
	// Implicit steps are not in the playbook: the gathering of facts, and metas such as the flush between sections, of
	// which nothing is shown.
	Implicit bool `json:"implicit,omitempty"`
	// Handler marks steps that run as handlers: the banner says so.
	Handler bool `json:"handler,omitempty"`
	// Place is file:line:column for messages.
	Place string `json:"place,omitempty"`
	// Search are the directories in which this step looks for files of the controller, nearest first, without the final
	// files/, templates/, vars/: role paths, directory of the file, of the playbook.
	Search []string `json:"search,omitempty"`
	// Files are files of the controller with constant names that come with the plan, by the name as written.
	Files map[string]File `json:"files,omitempty"`
}

// Loop is loop or with_<lookup>, with loop_control.
type Loop struct {
	// With is the lookup's name, "" for loop. "items" without a lookup is with_items.
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

// File is a file of the controller that was resolved for a step.
type File struct {
	Path   string `json:"path"` // on the controller
	Digest string `json:"digest"`
	Sha1   string `json:"sha1,omitempty"` // as Ansible's modules compare files
	Size   int64  `json:"size"`
	Mode   uint32 `json:"mode"`
	// Inline is the content if it is small and came with the plan.
	Inline []byte `json:"inline,omitempty"`
	// TemplateVars is what a template may ask of its file: ansible_managed, template_host, template_mtime, template_uid.
	TemplateVars Dict `json:"template_vars,omitzero"`
}

// Fragment is what a dynamic include adds, under the ID of the including step.
type Fragment struct {
	// Index identifies the fragment among those of one step; it is the number after the step's ID.
	Index int `json:"index"`
	// Path is the included file as the line "included: FILE for HOSTS" shows it, "" for a role.
	Path   string  `json:"path,omitempty"`
	Blocks []Block `json:"blocks"`
	// Handlers of an included role, which are appended to the plan's.
	Handlers []Handler        `json:"handlers,omitempty"`
	Roles    map[string]*Role `json:"roles,omitempty"`
	// RoleDefaults and RoleVars are set when the role is public: they are merged into the play's layers.
	RoleDefaults Dict `json:"role_defaults,omitzero"`
	RoleVars     Dict `json:"role_vars,omitzero"`
	// RoleNames and DependentRoles are the names of the included role and of its dependencies, where they join those of
	// the play.
	RoleNames      []string `json:"role_names,omitempty"`
	DependentRoles []string `json:"dependent_roles,omitempty"`
	// Withheld are names among the variables of the fragment that the host does not get.
	Withheld []string `json:"withheld,omitempty"`
}

// Expr is a raw value of a keyword: text that may hold a template, a bool, a number, a list. The zero Expr is a keyword
// that was not given.
type Expr struct{ V value.Value }

// IsZero reports whether the keyword was not given.
func (e Expr) IsZero() bool { return e.V == nil }

// Lit returns an Expr with a value.
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

// Written returns a func that returns the results of Digest, computed on the first call, since most plans travel cut.
// It is safe for concurrent use.
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

// Digest returns the sha256 of the plan's JSON, in hex, and that JSON.
func (p *Plan) Digest() (string, []byte, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return "", nil, err
	}
	return digest(b), b, nil
}
