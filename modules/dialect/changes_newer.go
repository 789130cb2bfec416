package dialect

// Changes of what came with ansible-core 2.20 and later.
var (
	// FactsInjected is the change of facts as variables of their own (`ansible_distribution`).
	FactsInjected = &Change{
		ID: "facts-injected", Since: "2.20",
		What:    "facts as variables of their own (`ansible_distribution`)",
		Before:  "nothing is said",
		After:   "a deprecation warning with the place, unless `inject_facts_as_vars` is set",
		Where:   "playbook/vars",
		Instead: "`ansible_facts['distribution']`",
	}
	// VarsDict is the change of the variable `vars`.
	VarsDict = &Change{
		ID: "vars-dict", Since: "2.20",
		What:    "the variable `vars`",
		Before:  "nothing is said",
		After:   "a deprecation warning with the place",
		Where:   "playbook/vars",
		Instead: "`lookup('vars', name)`",
	}
	// WhenFailed is the change of conditions of `when` and `until` that cannot be judged.
	WhenFailed = &Change{
		ID: "when-failed", Since: "2.21",
		What:   "conditions of `when` and `until` that cannot be judged",
		Before: "the cause alone",
		After:  "`A 'when' expression failed: ...` before it",
		Where:  runner,
	}
	// JudgedFailed is the change of conditions of `changed_when` and `failed_when` that cannot be judged.
	JudgedFailed = &Change{
		ID: "judged-failed", Since: "2.21",
		What:   "conditions of `changed_when` and `failed_when` that cannot be judged",
		Before: "`Action failed.`, and no `msg`",
		After:  "the error in `msg` and on the screen, with its place",
		Where:  runner,
	}
	// FailedWhen is the change of `failed_when` that is true.
	FailedWhen = &Change{
		ID: "failed-when", Since: "2.21",
		What:   "`failed_when` that is true",
		Before: "no word of it",
		After:  "`A 'failed_when' expression evaluated to 'True'.` on the screen, and as `msg` where there is none",
		Where:  runner,
	}
	// ChangedWhen is the change of results of tasks with `changed_when`.
	ChangedWhen = &Change{
		ID: "changed-when", Since: "2.21",
		What:   "results of tasks with `changed_when`",
		Before: "do not say what it gave",
		After:  "`changed_when_result`",
		Where:  runner,
	}
	// SuppressedException is the change of `exception` in results of failed tasks with `failed_when`.
	SuppressedException = &Change{
		ID: "suppressed", Since: "2.19",
		What:    "`exception` in results of failed tasks with `failed_when`",
		Before:  "stays",
		After:   "is `failed_when_suppressed_exception`",
		Where:   runner,
		Instead: "the new name",
	}
	// SkippedResults is the change of registered results.
	SkippedResults = &Change{
		ID: "skipped-results", Since: "2.21",
		What:    "registered results",
		Before:  "`skipped: false` of loops; no `failed` of skipped tasks; `invocation` of items",
		After:   "neither is there but `failed: false`; what a module returned has `ansible_parsed`",
		Where:   runner,
		Instead: "`r is skipped`",
	}
	// NullMsg is the change of `msg: null` in results.
	NullMsg = &Change{
		ID: "null-msg", Since: "2.21",
		What:   "`msg: null` in results",
		Before: "stays",
		After:  "is left out",
		Where:  runner,
	}
	// CommandWords is the change of commands that fail.
	CommandWords = &Change{
		ID: "command-words", Since: "2.21",
		What:    "commands that fail",
		Before:  "`non-zero return code`; `cmd` of a program that is not there is text",
		After:   "`The command exited with a non-zero return code.`; `cmd` is a list",
		Where:   runner,
		Instead: "`rc`",
	}
	// RetriesLeft is the change of `FAILED - RETRYING: ... (2 retries left)`, results of the last attempt.
	RetriesLeft = &Change{
		ID: "retries-left", Since: "2.21",
		What:   "`FAILED - RETRYING: ... (2 retries left)`, results of the last attempt",
		Before: "counts from the number of retries; tells an error",
		After:  "counts one less; tells none where the task itself has not failed",
		Where:  runner,
	}
	// LabelWarns is the change of `label` of `loop_control` that cannot be rendered.
	LabelWarns = &Change{
		ID: "label", Since: "2.21",
		What:   "`label` of `loop_control` that cannot be rendered",
		Before: "fails the item",
		After:  "a warning; the item is shown by its value",
		Where:  runner,
	}
	// IgnoreAsWritten is the change of `ignore_errors: "{{ x }}"` of a task that failed before it was rendered.
	IgnoreAsWritten = &Change{
		ID: "ignore-written", Since: "2.21",
		What:    "`ignore_errors: \"{{ x }}\"` of a task that failed before it was rendered",
		Before:  "the failure is ignored",
		After:   "it is not",
		Where:   runner,
		Instead: "a bool",
	}
	// IgnoredItems is the change of `ignore_errors` that differs from item to item of a loop.
	IgnoredItems = &Change{
		ID: "ignore-items", Since: "2.21",
		What:   "`ignore_errors` that differs from item to item of a loop",
		Before: "that of the failed items counts",
		After:  "one that is true is enough",
		Where:  runner,
	}
	// IncludeLost is the change of a file or role of an include that is not there.
	IncludeLost = &Change{
		ID: "include-lost", Since: "2.21",
		What:   "a file or role of an include that is not there",
		Before: "`reason`; the error on the other stream",
		After:  "`msg`; the error with the task",
		Where:  runner,
	}
	// IncludeFrom is the change of `include_role` with `tasks_from` that the role does not have.
	IncludeFrom = &Change{
		ID: "include-from", Since: "2.21",
		What:   "`include_role` with `tasks_from` that the role does not have",
		Before: "ends the run",
		After:  "fails the task",
		Where:  compile,
	}
	// RemoteSrcHint is the change of messages about files that the controller does not have.
	RemoteSrcHint = &Change{
		ID: "remote-src", Since: "2.21",
		What:   "messages about files that the controller does not have",
		Before: "with the hint on `remote_src`",
		After:  "the hint is told apart",
		Where:  runner,
	}
	// RegisterMap is the change of `register` with a mapping of names to expressions, the variable `_task`.
	RegisterMap = &Change{
		ID: "register-map", Since: "2.21",
		What:   "`register` with a mapping of names to expressions, the variable `_task`",
		Before: "refused; is not defined",
		After: "what the expressions give is registered, also of tasks that failed or were skipped; an " +
			"expression that fails fails the task",
		Where:   runner,
		Instead: "`register` with a name, and `set_fact`",
	}
	// FailedResult is the change of `ansible_failed_task.register`, `ansible_failed_result`.
	FailedResult = &Change{
		ID: "failed-result", Since: "2.21",
		What:   "`ansible_failed_task.register`, `ansible_failed_result`",
		Before: "a name; has `invocation`",
		After:  "a mapping; has none, but `ansible_parsed`",
		Where:  runner,
	}
	// IncludeResults is the change of registered results of includes.
	IncludeResults = &Change{
		ID: "include-result", Since: "2.21",
		What:   "registered results of includes",
		Before: "`include`, `include_args`",
		After:  "neither",
		Where:  runner,
	}
	// ModuleOptions220 is the change of `encoding` of `lineinfile` and `blockinfile`, `get_selinux_context` of
	// `stat`, `install_python_debian` of `deb822_repository`.
	ModuleOptions220 = &Change{
		ID: "module-options-2.20", Since: "2.20", With: TextFiles,
		What: "`encoding` of `lineinfile` and `blockinfile`, `get_selinux_context` of `stat`, " +
			"`install_python_debian` of `deb822_repository`",
		Before: "are refused",
		After:  "are there",
		Where:  "modules",
	}
	// ModuleOptions221 is the change of `armor` of `slurp`, `include` and `exclude` of `deb822_repository`.
	ModuleOptions221 = &Change{
		ID: "module-options-2.21", Since: "2.21",
		What:   "`armor` of `slurp`, `include` and `exclude` of `deb822_repository`",
		Before: "are refused",
		After:  "are there",
		Where:  "modules",
	}
	// DiskUsage is the change of results of `stat` and `find`.
	DiskUsage = &Change{
		ID: "disk-usage", Since: "2.21",
		What:  "results of `stat` and `find`",
		After: "`disk_usage_bytes`; `blocks` of `find`",
		Where: "modules",
	}
	// OptionsGone220 is the change of `install_repoquery` of `dnf` and `dnf5`, `keepcache` of `yum_repository`.
	OptionsGone220 = &Change{
		ID: "module-options-gone-2.20", Since: "2.20",
		What:   "`install_repoquery` of `dnf` and `dnf5`, `keepcache` of `yum_repository`",
		Before: "are taken",
		After:  "are refused",
		Where:  "modules",
	}
	// OptionsGone221 is the change of `gpg_whitelist` of `git`; `append` of `user` without `groups`; `editable` of
	// `pip` with `requirements`.
	OptionsGone221 = &Change{
		ID: "module-options-gone-2.21", Since: "2.21",
		What: "`gpg_whitelist` of `git`; `append` of `user` without `groups`; `editable` of `pip` with " +
			"`requirements`",
		Before:  "are taken; a warning",
		After:   "are refused",
		Where:   "modules",
		Instead: "`gpg_allowlist`",
	}
	// OptionsGone222 is the change of ten options of `yum_repository` that dnf does not have, such as `keepalive`;
	// `yes` and `no` of `follow_redirects` of `uri`.
	OptionsGone222 = &Change{
		ID: "module-options-gone-2.22", Since: "2.22",
		What: "ten options of `yum_repository` that dnf does not have, such as `keepalive`; `yes` and " +
			"`no` of `follow_redirects` of `uri`",
		Before:  "are taken",
		After:   "are refused",
		Where:   "modules",
		Instead: "`all`, `none`",
	}
	// TextFiles is the change of files that `lineinfile`, `blockinfile` and `replace` edit.
	TextFiles = &Change{
		ID: "text-files", Since: "2.20",
		What:   "files that `lineinfile`, `blockinfile` and `replace` edit",
		Before: "bytes: `\\w` is a letter of ASCII, lines keep their ends",
		After: "text: what the encoding does not have is an error; `lineinfile` and `replace` make " +
			"`\\r\\n` to `\\n`",
		Where:   "modules",
		Instead: "`encoding`",
	}
	// RepositoryNames is the change of files of `deb822_repository`.
	RepositoryNames = &Change{
		ID: "repository-names", Since: "2.21",
		What:   "files of `deb822_repository`",
		Before: "the name in small letters, without most signs",
		After:  "the name, spaces as `-`; a file of the older name is kept",
		Where:  "modules",
	}
	// SecretsRedacted is the change of values that `no_log` arguments held, asked passwords, what vaults hold, the
	// filters `register_secret` and `mask_secrets`.
	SecretsRedacted = &Change{
		ID: "secrets", Since: "2.22",
		What: "values that `no_log` arguments held, asked passwords, what vaults hold, the filters " +
			"`register_secret` and `mask_secrets`",
		Before: "`VALUE_SPECIFIED_IN_NO_LOG_PARAMETER` in the module's own result, also for tasks that " +
			"read it; no such filters",
		After:   "`$REDACTED$` in all that is shown, and the value where tasks read it",
		Where:   "modules/mask",
		Instead: "`no_log` where a result is not to be shown at all",
	}
	// ReservedTags is the change of tags called `all`, `tagged`, `untagged`.
	ReservedTags = &Change{
		ID: "tags-reserved", Since: "2.20",
		What:    "tags called `all`, `tagged`, `untagged`",
		Before:  "nothing is said",
		After:   "a warning with the place",
		Where:   "playbook/syntax",
		Instead: "other names",
	}
	// IncludeVarsLists is the change of `extensions` and `ignore_files` of `include_vars` that are no lists.
	IncludeVarsLists = &Change{
		ID: "include-vars-lists", Since: "2.20",
		What:    "`extensions` and `ignore_files` of `include_vars` that are no lists",
		Before:  "are taken; a text of `extensions` is its letters",
		After:   "an error; a deprecation for `ignore_files` as a text",
		Where:   "modules",
		Instead: "lists",
	}
	// ViewIndent is the change of `result_indentation` of the callback `default`.
	ViewIndent = &Change{
		ID: "view-indent", Since: "2.20",
		What:   "`result_indentation` of the callback `default`",
		Before: "does nothing",
		After:  "results of several lines are indented by it",
		Where:  "controller/config",
	}
	// ViewOptions is the change of `display_included_hosts` and `result_yaml_line_width` of the callback `default`.
	ViewOptions = &Change{
		ID: "view-options", Since: "2.21",
		What:   "`display_included_hosts` and `result_yaml_line_width` of the callback `default`",
		Before: "do nothing",
		After:  "hide the lines `included:`, break lines of YAML elsewhere",
		Where:  "controller/config",
	}
	// RescuableRoles is the change of `rescuable` of `include_role`.
	RescuableRoles = &Change{
		ID: "rescuable", Since: "2.21",
		What:   "`rescuable` of `include_role`",
		Before: "is refused",
		After:  "with `false` a role or file of it that is not there ends the run",
		Where:  compile,
	}
	// RoleDirectories is the change of `vars_from` and its like of a role that has no such directory.
	RoleDirectories = &Change{
		ID: "role-subdirs", Since: "2.21",
		What:   "`vars_from` and its like of a role that has no such directory",
		Before: "is ignored",
		After:  "an error",
		Where:  "playbook/roles",
	}
	// AutoLegacy is the change of the interpreters `auto_legacy` and `auto_legacy_silent`.
	AutoLegacy = &Change{
		ID: "auto-legacy", Since: "2.21",
		What:    "the interpreters `auto_legacy` and `auto_legacy_silent`",
		Before:  "are looked for as `auto` is",
		After:   "are names of programs",
		Where:   "modules",
		Instead: "`auto`",
	}
	// PlayArgumentSpec is the change of the keyword `validate_argspec` of plays.
	PlayArgumentSpec = &Change{
		ID: "argument-spec", Since: "2.20",
		What:   "the keyword `validate_argspec` of plays",
		Before: "refused",
		After:  "checks the variables of the play before its first task, against `<playbook>.meta.yml`",
		Where:  compile,
	}
	// LoopNames is the change of variables of loops that are there already, are both of a loop's, or that Ansible
	// sets itself.
	LoopNames = &Change{
		ID: "loop-names", Since: "2.22",
		What:    "variables of loops that are there already, are both of a loop's, or that Ansible sets itself",
		Before:  "a warning of the first alone, of `loop_var` alone",
		After:   "a warning of each, of `index_var` too, in other words",
		Where:   runner,
		Instead: "other names",
	}
	// UnmatchedResults is the change of results of `known_hosts` with another host's key, of `get_url` of what
	// cannot be reached.
	UnmatchedResults = &Change{
		ID: "unmatched", Since: "2.22",
		What:   "results of `known_hosts` with another host's key, of `get_url` of what cannot be reached",
		Before: "without `rc`; without `status_code`",
		After:  "with it, with `response`",
		Where:  "modules",
	}
	// IncludeVarsWords is the change of messages of `include_vars`.
	IncludeVarsWords = &Change{
		ID: "include-vars-words", Since: "2.21",
		What:   "messages of `include_vars`",
		Before: "the file as it is",
		After:  "the file in quotes",
		Where:  "modules",
	}
	// RoleWords is the change of a role that is not there.
	RoleWords = &Change{
		ID: "role-words", Since: "2.21",
		What:   "a role that is not there",
		Before: "`the role 'x' was not found in ...`",
		After:  "`The role 'x' was not found in: ...`",
		Where:  compile,
	}
	// BriefFiles is the change of files of playbooks that are not there.
	BriefFiles = &Change{
		ID: "brief-files", Since: "2.21",
		What:   "files of playbooks that are not there",
		Before: "several lines, with the hint on `remote_src`",
		After:  "one line",
		Where:  "playbook/syntax",
	}
)

// newerChanges returns those of this file, in the order in which people read them.
func newerChanges() []*Change {
	return []*Change{
		FactsInjected, VarsDict, WhenFailed, JudgedFailed, FailedWhen, ChangedWhen, SuppressedException,
		SkippedResults, NullMsg, CommandWords, RetriesLeft, LabelWarns, IgnoreAsWritten, IgnoredItems,
		IncludeLost, IncludeFrom, RemoteSrcHint, RegisterMap, FailedResult, IncludeResults,
		ModuleOptions220, ModuleOptions221, DiskUsage, OptionsGone220, OptionsGone221, OptionsGone222,
		TextFiles, RepositoryNames, SecretsRedacted, ReservedTags, IncludeVarsLists, ViewIndent,
		ViewOptions, RescuableRoles, RoleDirectories, AutoLegacy, PlayArgumentSpec, LoopNames,
		UnmatchedResults, IncludeVarsWords, RoleWords, BriefFiles,
	}
}
