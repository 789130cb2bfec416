package dialect

// Changes of plays and tasks.
var (
	// RoleVarsOwn is the change of `vars` of an entry of `roles` or of `import_role`.
	RoleVarsOwn = &Change{
		ID: "role-vars", Since: "2.15",
		What:    "`vars` of an entry of `roles` or of `import_role`",
		Before:  "are seen by the whole play, and `vars/main.yml` wins over them",
		After:   "are the role's own, and win over `vars/main.yml`",
		Where:   compile,
		Instead: "`vars` of the play",
	}
	// FalseCondition is the change of results of skipped tasks.
	FalseCondition = &Change{
		ID: "false-condition", Since: "2.15",
		What:   "results of skipped tasks",
		Before: "do not say which condition",
		After:  "`false_condition`",
		Where:  runner,
	}
	// RetriesAlone is the change of `retries` without `until`.
	RetriesAlone = &Change{
		ID: "retries", Since: "2.16",
		What:    "`retries` without `until`",
		Before:  "nothing is tried again",
		After:   "the task is tried again until it does not fail",
		Where:   runner,
		Instead: "`retries` with `until`, or neither",
	}
	// IncludeRoleShown is the change of `include_role`.
	IncludeRoleShown = &Change{
		ID: "include-role", Since: "2.16",
		What:   "`include_role`",
		Before: "shows nothing of its own",
		After:  "`included: ROLE for HOSTS`, and counts as ok",
		Where:  runner,
	}
	// PlayNames is the change of a play's name with an undefined variable.
	PlayNames = &Change{
		ID: "play-name", Since: "2.19",
		What:    "a play's name with an undefined variable",
		Before:  "the name as written",
		After:   "an error; nothing runs",
		Where:   compile,
		Instead: "`default(...)`",
	}
	// LostInclude is the change of a file or role of an include that is not there.
	LostInclude = &Change{
		ID: "lost-include", Since: "2.19",
		What:   "a file or role of an include that is not there",
		Before: "of a role, nothing is counted",
		After:  "the host has failed, with the `reason`",
		Where:  runner,
	}
	// IncludeGone is the change of the action `include`.
	IncludeGone = &Change{
		ID: "include", Since: "2.16",
		What:    "the action `include`",
		Before:  "works, with a deprecation",
		After:   "is gone",
		Where:   compile,
		Instead: "`include_tasks` or `import_tasks`",
	}
	// FatalRescue is the change of `any_errors_fatal` in a block with `rescue`.
	FatalRescue = &Change{
		ID: "fatal-rescue", Since: "2.17",
		What:   "`any_errors_fatal` in a block with `rescue`",
		Before: "hosts that did not fail go on in the block",
		After:  "all hosts go to `rescue`",
		Where:  "controller/internal/play",
	}
	// StrictText is the change of results of modules that hold bytes which are no UTF-8.
	StrictText = &Change{
		ID: "strict-text", Since: "2.19",
		What:    "bytes that are no UTF-8 in what a module returns: output of a command, names of files",
		Before:  "stay, and are the same when they are written again",
		After:   "fail the task, unless `module_strict_utf8_response` is off",
		Where:   runner,
		Instead: "`iconv` in the command, or the setting",
	}
	// IncludedRoleNames is the change of the names of a play's roles.
	IncludedRoleNames = &Change{
		ID: "role-names", Since: "2.19",
		What:   "`ansible_play_role_names` and the like behind `include_role`",
		Before: "have the role only if it is `public`",
		After:  "have it, once for each time",
		Where:  "playbook/vars",
	}
	// FlushFailures is the change of a handler that fails in `meta: flush_handlers`.
	FlushFailures = &Change{
		ID: "flush-failures", Since: "2.19",
		What: "a handler that fails in `meta: flush_handlers`",
		Before: "only the outermost block around the flush deals with it, without `ansible_failed_task` and " +
			"`ansible_failed_result`; the next flush ends the play on the host",
		After: "is a failure of the flush, like that of any task",
		Where: runner,
	}
	// LoopLabels is the change of labels of loops that use the registered result.
	LoopLabels = &Change{
		ID: "loop-labels", Since: "2.17",
		What:   "`loop_control: label` that uses the registered result, of an item that was skipped or failed early",
		Before: "has the result of the item before",
		After:  "has the item's own",
		Where:  runner,
	}
	// EndHostStatus is the change of exit code after `end_host` in `rescue`.
	EndHostStatus = &Change{
		ID: "end-host", Since: "2.19",
		What:   "exit code after `end_host` in `rescue`",
		Before: "2",
		After:  "0",
		Where:  runner,
	}
	// JobBools is the change of `started` and `finished` in results of `async` tasks and `async_status`.
	JobBools = &Change{
		ID: "jobs", Since: "2.19",
		What:   "`started` and `finished` in results of `async` tasks and `async_status`",
		Before: "numbers",
		After:  "bools, so `until: job.finished` is a condition",
		Where:  runner,
	}
	// TimedOut is the change of a task that took longer than `timeout`.
	TimedOut = &Change{
		ID: "timedout", Since: "2.18",
		What:   "a task that took longer than `timeout`",
		Before: "a message",
		After:  "another message, and `timedout`",
		Where:  runner,
	}
	// ModuleArguments is the change of arguments of modules that are of a wrong type.
	ModuleArguments = &Change{
		ID: "module-arguments", Since: "2.19",
		What:   "arguments of modules that are of a wrong type",
		Before: "`is of type <class 'str'>`",
		After:  "`is of type str`, and an int may be `2.0`",
		Where:  "modules",
	}
	// DebugVar is the change of `debug: {var: "{{ x }}"}`.
	DebugVar = &Change{
		ID: "debug-var", Since: "2.19",
		What:    "`debug: {var: \"{{ x }}\"}`",
		Before:  "the variable that x names; of a list or dict its type",
		After:   "an error, unless x is a text of the playbook",
		Where:   "modules",
		Instead: "`debug: {var: x}`",
	}
	// ScriptArguments is the change of `script` with arguments that it does not have, or without any.
	ScriptArguments = &Change{
		ID: "script-arguments", Since: "2.18",
		What:   "`script` with arguments that it does not have, or without any",
		Before: "are ignored, or nothing is run",
		After:  "an error",
		Where:  "modules",
	}
	// VarsLinks is the change of `include_vars` of a directory: links to directories, `depth`, a file that cannot be
	// read.
	VarsLinks = &Change{
		ID: "vars-links", Since: "2.19",
		What:   "`include_vars` of a directory: links to directories, `depth`, a file that cannot be read",
		Before: "not entered, number of directories, `message`",
		After:  "entered, depth, the task fails with the place",
		Where:  "modules",
	}
	// KnownHostsMarks is the change of `known_hosts` of a host with lines `@cert-authority` or `@revoked`.
	KnownHostsMarks = &Change{
		ID: "known-hosts", Since: "2.19",
		What:   "`known_hosts` of a host with lines `@cert-authority` or `@revoked`",
		Before: "may replace them",
		After:  "leaves them alone",
		Where:  "modules",
	}
	// PackageFactsWarn is the change of `package_facts` of managers that are not there, fail or have nothing.
	PackageFactsWarn = &Change{
		ID: "package-facts", Since: "2.18",
		What:   "`package_facts` of managers that are not there, fail or have nothing",
		Before: "passed over",
		After:  "a warning, and an error if none is left",
		Where:  "modules",
	}
	// ItemFaults is the change of a template that fails for one item of a loop.
	ItemFaults = &Change{
		ID: "item-fault", Since: "2.19",
		What:   "a template that fails for one item of a loop",
		Before: "ends the loop",
		After:  "fails the item",
		Where:  runner,
	}
	// VariableNames is the change of names of variables in `vars`, `register`, `set_fact` and `set_stats`.
	VariableNames = &Change{
		ID: "variable-names", Since: "2.19",
		What:    "names of variables in `vars`, `register`, `set_fact` and `set_stats`",
		Before:  "no keywords of Python",
		After:   "may be `if` or `class`, and no `none`, `true`, `false` or `not`",
		Where:   "modules/py/ident",
		Instead: "another name",
	}
	// RegisterNames is the change of `register` of what is no name of a variable.
	RegisterNames = &Change{
		ID: "register-name", Since: "2.19",
		What:    "`register` of what is no name of a variable",
		Before:  "fails the task",
		After:   "an error; nothing runs",
		Where:   "playbook/syntax",
		Instead: "letters, digits and `_`",
	}
	// VarsLists is the change of `vars` as a list of dicts.
	VarsLists = &Change{
		ID: "vars-list", Since: "2.19",
		What:    "`vars` as a list of dicts",
		Before:  "are merged",
		After:   "an error; nothing runs",
		Where:   "playbook/syntax",
		Instead: "one dict",
	}
	// VarsFilesAbsent is the change for an entry of `vars_files` none of whose files exists.
	VarsFilesAbsent = &Change{
		ID: "vars-files", Since: "2.19",
		What:   "an entry of `vars_files` of which no file is there",
		Before: "an error",
		After:  "is passed over",
		Where:  compile,
	}
	// ManagedVariable is the change of a variable `ansible_managed` in templates of files.
	ManagedVariable = &Change{
		ID: "managed", Since: "2.19",
		What:    "a variable `ansible_managed` in templates of files",
		Before:  "hidden by the setting",
		After:   "wins over the setting",
		Where:   runner,
		Instead: "another name, if the setting was meant",
	}
	// IniInventories is the change of files `*.ini` in directories of inventories.
	IniInventories = &Change{
		ID: "ini-inventory", Since: "2.19",
		What:    "files `*.ini` in directories of inventories",
		Before:  "passed over",
		After:   "read",
		Where:   "controller/config",
		Instead: "another ending, or the setting `inventory_ignore_extensions`",
	}
	// UploadNames is the change of `src` in results of `copy` and `template`.
	UploadNames = &Change{
		ID: "upload-names", Since: "2.19",
		What:   "`src` in results of `copy` and `template`",
		Before: "a file `source` in a temporary directory",
		After:  "a file `.source` with the suffix of the destination",
		Where:  "modules",
	}
	// TOMLInventories is the change of TOML inventories that the plug-in ini tries before toml.
	TOMLInventories = &Change{
		ID: "toml-inventory", Since: "2.19",
		What:   "inventories `*.toml`",
		Before: "the plug-in ini tries them first; what it takes for groups and hosts before it fails stays",
		After:  "are the plug-in toml's alone",
		Where:  "playbook/inventory",
	}
	// SettingsGone is the change of settings `fact_path`, `gather_subset` and `gather_timeout`;
	// `error_on_undefined_vars`, `null_representation`, `jinja2_native`.
	SettingsGone = &Change{
		ID: "settings", Since: "2.19",
		What: "settings `fact_path`, `gather_subset` and `gather_timeout`; `error_on_undefined_vars`, " +
			"`null_representation`, `jinja2_native`",
		Before:  "count",
		After:   "do nothing",
		Where:   "controller/config",
		Instead: "the keywords of the play, `module_defaults`",
	}
	// PythonOrder is the change of the Python of a host where none is named.
	PythonOrder = &Change{
		ID: "python", Since: "2.19",
		What:   "the Python of a host where none is named",
		Before: "`/usr/bin/python3` first",
		After: "the newest of python3.8 to python3.13 first, as in `discovered_interpreter_python`; " +
			"that it may change is no warning in hark",
		Where:   "modules",
		Instead: "`ansible_python_interpreter`",
	}
	// LogRanks is the change of lines of `log_path`.
	LogRanks = &Change{
		ID: "log", Since: "2.19", With: UnwrappedMessages,
		What:   "lines of `log_path`",
		Before: "`n=ansible | ...`",
		After:  "`n=ansible INFO| ...`: with WARNING or ERROR where it is one",
		Where:  "controller/internal/ui/displayconfig",
	}
	// TextWarnings is the change of `warnings` in results that are no texts.
	TextWarnings = &Change{
		ID: "result-warnings", Since: "2.19",
		What:   "`warnings` in results that are no texts",
		Before: "stay",
		After:  "are texts",
		Where:  runner,
	}
	// ListTagsNever is the change of `--list-tags`.
	ListTagsNever = &Change{
		ID: "list-tags", Since: "2.19",
		What:   "`--list-tags` without `--tags` and `--skip-tags`",
		Before: "leaves out tasks of the tag `never`",
		After:  "has the tags of all tasks",
		Where:  "controller/internal/ansible/project",
	}
	// DelegateFirst is the change of `delegate_to` of tasks that are skipped.
	DelegateFirst = &Change{
		ID: "delegate-first", Since: "2.19",
		What:    "`delegate_to` of a task that its condition skips, or that is no text",
		Before:  "is not looked at; `5` is the name of a host",
		After:   "fails the task, unless it names a host: it is rendered before the conditions",
		Where:   runner,
		Instead: "`default(omit)`",
	}
	// FileLookupSearch is the change of the lookup `file`, and lookups of vaults without a password.
	FileLookupSearch = &Change{
		ID: "files-found", Since: "2.19",
		What:   "the lookup `file`, and lookups of vaults without a password",
		Before: "looks beside the playbook; says that the file is not there",
		After:  "looks where tasks look; says what is wrong with the vault",
		Where:  "controller/internal/play/answer",
	}
)

// playsChanges returns those of this file, in the order in which people read them.
func playsChanges() []*Change {
	return []*Change{
		RoleVarsOwn, FalseCondition, RetriesAlone, IncludeRoleShown, PlayNames, LostInclude, IncludeGone,
		FatalRescue, StrictText, FlushFailures, LoopLabels, EndHostStatus, JobBools, TimedOut, ModuleArguments, DebugVar, ScriptArguments,
		VarsLinks, KnownHostsMarks, PackageFactsWarn, ItemFaults, VariableNames, RegisterNames, VarsLists,
		VarsFilesAbsent, ManagedVariable, IniInventories, TOMLInventories, UploadNames, SettingsGone, PythonOrder,
		LogRanks,
		TextWarnings, FileLookupSearch, DelegateFirst, ListTagsNever, IncludedRoleNames,
	}
}
