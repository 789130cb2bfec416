package level

// newer is what differs since ansible-core 2.20.
func newer() []Row {
	return []Row{
		{"facts-injected", "2.20", "facts as variables of their own (`ansible_distribution`)", "nothing is said", "a deprecation warning with the place, unless `inject_facts_as_vars` is set", "playbook/vars", "`ansible_facts['distribution']`"},
		{"vars-dict", "2.20", "the variable `vars`", "nothing is said", "a deprecation warning with the place", "playbook/vars", "`lookup('vars', name)`"},
		{"when-failed", "2.21", "conditions of `when` and `until` that cannot be judged", "the cause alone", "`A 'when' expression failed: ...` before it", runner, ""},
		{"judged-failed", "2.21", "conditions of `changed_when` and `failed_when` that cannot be judged", "`Action failed.`, and no `msg`", "the error in `msg` and on the screen, with its place", runner, ""},
		{"failed-when", "2.21", "`failed_when` that is true", "no word of it", "`A 'failed_when' expression evaluated to 'True'.` on the screen, and as `msg` where there is none", runner, ""},
		{"changed-when", "2.21", "results of tasks with `changed_when`", "do not say what it gave", "`changed_when_result`", runner, ""},
		{"suppressed", "2.19", "`exception` in results of failed tasks with `failed_when`", "stays", "is `failed_when_suppressed_exception`", runner, "the new name"},
		{"skipped-results", "2.21", "registered results", "`skipped: false` of loops; no `failed` of skipped tasks; `invocation` of items", "neither is there but `failed: false`; what a module returned has `ansible_parsed`", runner, "`r is skipped`"},
		{"null-msg", "2.21", "`msg: null` in results", "stays", "is left out", runner, ""},
		{"command-words", "2.21", "commands that fail", "`non-zero return code`; `cmd` of a program that is not there is text", "`The command exited with a non-zero return code.`; `cmd` is a list", runner, "`rc`"},
		{"retries-left", "2.21", "`FAILED - RETRYING: ... (2 retries left)`, results of the last attempt", "counts from the number of retries; tells an error", "counts one less; tells none where the task itself has not failed", runner, ""},
		{"label", "2.21", "`label` of `loop_control` that cannot be rendered", "fails the item", "a warning; the item is shown by its value", runner, ""},
		{"ignore-written", "2.21", "`ignore_errors: \"{{ x }}\"` of a task that failed before it was rendered", "the failure is ignored", "it is not", runner, "a bool"},
		{"ignore-items", "2.21", "`ignore_errors` that differs from item to item of a loop", "that of the failed items counts", "one that is true is enough", runner, ""},
		{"include-lost", "2.21", "a file or role of an include that is not there", "`reason`; the error on the other stream", "`msg`; the error with the task", runner, ""},
		{"include-from", "2.21", "`include_role` with `tasks_from` that the role does not have", "ends the run", "fails the task", compile, ""},
		{"remote-src", "2.21", "messages about files that the controller does not have", "with the hint on `remote_src`", "the hint is told apart", runner, ""},
		{"register-map", "2.21", "`register` with a mapping of names to expressions, the variable `_task`", "refused; is not defined", "what the expressions give is registered, also of tasks that failed or were skipped; an expression that fails fails the task", runner, "`register` with a name, and `set_fact`"},
		{"failed-result", "2.21", "`ansible_failed_task.register`, `ansible_failed_result`", "a name; has `invocation`", "a mapping; has none, but `ansible_parsed`", runner, ""},
		{"include-result", "2.21", "registered results of includes", "`include`, `include_args`", "neither", runner, ""},
		{"module-options-2.20", "2.20", "`encoding` of `lineinfile` and `blockinfile`, `get_selinux_context` of `stat`, `install_python_debian` of `deb822_repository`", "are refused", "are there", "modules", ""},
		{"module-options-2.21", "2.21", "`armor` of `slurp`, `include` and `exclude` of `deb822_repository`", "are refused", "are there", "modules", ""},
		{"disk-usage", "2.21", "results of `stat` and `find`", "", "`disk_usage_bytes`; `blocks` of `find`", "modules", ""},
		{"module-options-gone-2.20", "2.20", "`install_repoquery` of `dnf` and `dnf5`, `keepcache` of `yum_repository`", "are taken", "are refused", "modules", ""},
		{"module-options-gone-2.21", "2.21", "`gpg_whitelist` of `git`; `append` of `user` without `groups`; `editable` of `pip` with `requirements`", "are taken; a warning", "are refused", "modules", "`gpg_allowlist`"},
		{"module-options-gone-2.22", "2.22", "ten options of `yum_repository` that dnf does not have, such as `keepalive`; `yes` and `no` of `follow_redirects` of `uri`", "are taken", "are refused", "modules", "`all`, `none`"},
		{"text-files", "2.20", "files that `lineinfile`, `blockinfile` and `replace` edit", "bytes: `\\w` is a letter of ASCII, lines keep their ends", "text: what the encoding does not have is an error; `lineinfile` and `replace` make `\\r\\n` to `\\n`", "modules", "`encoding`"},
		{"repository-names", "2.21", "files of `deb822_repository`", "the name in small letters, without most signs", "the name, spaces as `-`; a file of the older name is kept", "modules", ""},
		{"secrets", "2.22", "values that `no_log` arguments held, asked passwords, what vaults hold, the filters `register_secret` and `mask_secrets`", "`VALUE_SPECIFIED_IN_NO_LOG_PARAMETER` in the module's own result, also for tasks that read it; no such filters", "`$REDACTED$` in all that is shown, and the value where tasks read it", "modules/mask", "`no_log` where a result is not to be shown at all"},
		{"tags-reserved", "2.20", "tags called `all`, `tagged`, `untagged`", "nothing is said", "a warning with the place", "playbook/syntax", "other names"},
		{"include-vars-lists", "2.20", "`extensions` and `ignore_files` of `include_vars` that are no lists", "are taken; a text of `extensions` is its letters", "an error; a deprecation for `ignore_files` as a text", "modules", "lists"},
		{"view-indent", "2.20", "`result_indentation` of the callback `default`", "does nothing", "results of several lines are indented by it", "controller/config", ""},
		{"view-options", "2.21", "`display_included_hosts` and `result_yaml_line_width` of the callback `default`", "do nothing", "hide the lines `included:`, break lines of YAML elsewhere", "controller/config", ""},
		{"rescuable", "2.21", "`rescuable` of `include_role`", "is refused", "with `false` a role or file of it that is not there ends the run", compile, ""},
		{"role-subdirs", "2.21", "`vars_from` and its like of a role that has no such directory", "is ignored", "an error", "playbook/roles", ""},
		{"auto-legacy", "2.21", "the interpreters `auto_legacy` and `auto_legacy_silent`", "are looked for as `auto` is", "are names of programs", "modules", "`auto`"},
		{"argument-spec", "2.20", "the keyword `validate_argspec` of plays", "refused", "checks the variables of the play before its first task, against `<playbook>.meta.yml`", compile, ""},
		{"loop-names", "2.22", "variables of loops that are there already, are both of a loop's, or that Ansible sets itself", "a warning of the first alone, of `loop_var` alone", "a warning of each, of `index_var` too, in other words", runner, "other names"},
		{"unmatched", "2.22", "results of `known_hosts` with another host's key, of `get_url` of what cannot be reached", "without `rc`; without `status_code`", "with it, with `response`", "modules", ""},
	}
}

// newerMissing is what no level does yet of what came with ansible-core 2.20 and later.
func newerMissing() []Row {
	return []Row{
		{"register-place", "2.21", "a variable whose `register` expression failed, where it is used", "", "its error names the place of the expression; hark says `<unknown>`", "", ""},
		{"no-log-errors", "2.22", "errors of failed tasks with `no_log`", "are not told", "are told, without known secrets; hark does not tell them", "", ""},
		{"no-log-loops", "2.21", "failed loops with `no_log`", "a last line `fatal`", "the lines of the items alone; hark prints it", "", ""},
		{"others-strategies", "2.19", "strategies of others", "nothing is said", "a deprecation warning", "", ""},
		{"gone-2.21", "2.20", "`connection: smart`; since 2.21 the connection `paramiko` of ansible.builtin", "work", "are gone; hark takes them", "", "`ssh`"},
		{"interpreter-lost", "2.19", "`ansible_python_interpreter` that is not there, as `auto_legacy` since 2.21", "", "fails tasks of modules; hark's own need no Python, and say nothing", "", "`auto`"},
		{"option-places", "2.20", "errors and deprecations about options of `include_vars`", "", "tell the place of the option; hark tells that of the task, or none", "", ""},
	}
}
