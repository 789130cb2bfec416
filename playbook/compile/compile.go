// Package compile makes plans. It reads a playbook with everything it names (imported playbooks and task files, roles
// and their dependencies, variables files), resolves all inheritance of keywords, and returns a plan.Plan for each play
// and batch, and a plan.Fragment for each dynamic include. What depends on a host stays a template. It runs nothing and
// asks no host. It renders only the templates that Ansible renders while it loads a playbook (names of imported files
// and roles, keywords of plays, tags), with the variables that Ansible has at that time.
package compile

import (
	"context"

	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/deprecation"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// Config configures the compilation.
type Config struct {
	// Modules resolves actions. An unknown action is an error of the playbook.
	Modules *modules.Registry
	// RolePaths are ANSIBLE_ROLES_PATH, CollectionPaths the directories that hold ansible_collections.
	RolePaths, CollectionPaths []string
	// Library and Utils are the settings' directories for modules that are not native, and for their module_utils.
	Library, Utils []string
	// FilterPlugins, TestPlugins and LookupPlugins are the settings' directories for plug-ins in Python. PluginNames
	// returns the filters or tests (the kind) in the project's own directories; with nil nothing in Python runs.
	FilterPlugins, TestPlugins, LookupPlugins []string
	PluginNames                               func(kind string) []string
	// PythonDirs are where Python's packages are on this machine: an ansible-core among them provides its module_utils.
	PythonDirs []string
	// Templates renders what is rendered at load time: its Engine, Native, Lookup and Warn.
	Templates templar.Options
	// LenientTasks makes unknown keywords of tasks a warning (invalid_task_attribute_failed=False).
	LenientTasks bool
	// Lookups reports whether with_<name> may use a name; nil accepts any.
	Lookups func(name string) bool
	// Tags and SkipTags select tasks; no Tags is "all".
	Tags, SkipTags []string
	// Extra are the extra variables. Options and ConfigFile become magic variables.
	Extra      *value.Dict
	Options    vars.Options
	Invocation bool // results have the arguments of modules, see plan.Play
	Brief      bool // results leave out what no view shows, see plan.Play
	ConfigFile string
	Python     string // ansible_playbook_python
	// Interpreter is the setting interpreter_python, and ForModules are others, see plan.Play.
	Interpreter string
	ForModules  *value.Dict
	// FactsModules is the setting facts_modules.
	FactsModules []string
	// Keywords are the values from flags and settings of keywords that no play, block or task sets: become, become_user,
	// remote_user, connection, no_log, any_errors_fatal, timeout, gather_subset, strategy, ...
	Keywords *value.Dict
	// Zone is the time zone of this machine, and AnyText a setting, see plan.Play.
	Zone    []byte
	AnyText bool
	// Level is the language of the playbooks. BrokenConditions is allow_broken_conditionals, which it may have.
	Level            plan.Level
	BrokenConditions bool
	// HashMerge, Native and InjectFacts are hash_behaviour=merge, jinja2_native and inject_facts_as_vars.
	// PrivateRoleVars is private_role_vars: roles do not see each other's vars.
	HashMerge, Native, InjectFacts, PrivateRoleVars bool
	// Outgoing are the deprecated variables whose use is reported.
	Outgoing plan.Outgoing
	// Extensions are jinja2_extensions.
	Extensions []string
	// Debugger is enable_task_debugger; DebugIgnored is task_debugger_ignore_errors turned off.
	Debugger, DebugIgnored bool
	// IgnoreMissingHandlers is error_on_missing_handler turned off.
	IgnoreMissingHandlers bool
	// Attach reads a file of the controller that a step names as written, so that it can travel with the plan; told asks
	// for plan.File.TemplateVars and the text too. False leaves the file out, and nil always does. AttachModule does so
	// for the pack of a step's module that is not native.
	Attach       func(path, written string, told bool) (Attachment, bool)
	AttachModule func(s *plan.Step) (plan.File, bool)
	// Version is that of the ansible-core with the language level. AnyCollection accepts collections that want another
	// (collections_on_ansible_version_mismatch=ignore).
	Version       string
	AnyCollection bool
	// Warn shows a warning, Deprecate a deprecation; nil drops them.
	Warn      func(text string)
	Deprecate func(deprecation.Notice)
	// Verbose shows text at a verbosity level; nil drops it.
	Verbose func(level int, text string)
}

// World is what a play's own templates may know of the run, beside the variables of the playbook.
type World struct {
	// Prompted are the answers to vars_prompt.
	Prompted *value.Dict
	// Lazy resolves hostvars, groups and other variables that only the driver has; see vars.Scope. It may be nil.
	Lazy func(ctx context.Context, name string) (value.Value, bool, error)
	// Named returns the name of a host as a variable, see vars.Name. With nil all names are those of an inventory.
	Named func(host string) value.Value
}

// Settings are a play's own keywords, rendered.
type Settings struct {
	Name string // of the play: its name, or its hosts
	// Hosts is the pattern: the list as written, joined by commas if there are several.
	Hosts []string
	// HostsWritten says that no template made Hosts.
	HostsWritten bool
	// Serial are the sizes of batches as written: "3", "30%". Empty is one batch.
	Serial        []string
	MaxFail       *float64 // max_fail_percentage
	Order         string   // "" is inventory
	Strategy      string   // linear, free, host_pinned, debug
	ForceHandlers bool
	// ArgSpec is what the play's variables are checked against, nil if it has none.
	ArgSpec *ArgSpec
	// GatherFacts is nil if the play does not have the keyword.
	GatherFacts    *bool
	AnyErrorsFatal bool
	Tags           []string
	// Conditional says that the playbook was imported with when: facts are then gathered under that condition.
	Conditional bool
	Connection  string
	Throttle    int
	CheckMode   bool
}

// Batch is a part of a play's hosts that go together.
type Batch struct {
	// ID is plan.Play.ID.
	ID string
	// AllHosts, Hosts and Batch are ansible_play_hosts_all, ansible_play_hosts and ansible_play_batch.
	AllHosts, Hosts, Batch []string
	Settings               *Settings
	World                  World
	// GatherFacts adds the implicit step: the driver knows what implicit, explicit and smart mean for these hosts.
	GatherFacts bool
	// Ahead lets files with constant names travel with the plan: some hosts have sessions of their own.
	Ahead bool
	// Force gates every step, whatever the play says (--step, --forks).
	Force bool
	// Inventory returns the different raw values that the batch's hosts have for a variable in the inventory and in
	// include_vars of earlier plays, so that the compiler sees templates in them that read other hosts. It must not be nil
	// unless there are none.
	Inventory func(name string) []value.Value
	// StartAt, if set, is --start-at-task: Unit.Start is then the first step that matches.
	StartAt string
}

// Call is one evaluation of a dynamic include, with everything rendered (wire.IncludeCall without the wire).
type Call struct {
	Args *value.Dict // file | name, tasks_from, apply, public, ...
	// Vars are the include's loop variables and what else distinguishes it for its host.
	Vars *value.Dict
}

// Prompt is one entry of vars_prompt, rendered.
type Prompt struct {
	Name, Text string
	Default    value.Value // nil is none
	Private    bool
	Confirm    bool
	Encrypt    string
	Salt       string
	SaltSize   int
	Unsafe     bool
}

// Listed is one task for --list-tasks and --list-tags.
type Listed struct {
	// Name is the task's name in Ansible's lists: "role : name", or the action.
	Name string
	// Tags are the task's own and those it inherited.
	Tags []string
}
