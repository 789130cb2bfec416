package level

// Row is something that differs between releases of ansible-core.
type Row struct {
	// ID names the row; it does not change.
	ID string
	// Since is the first release with the new behaviour: rows of 2.15 to 2.18 are not told apart from those of 2.19 by a level, and each of 2.20
	// and later is a level of its own.
	Since string
	// What is the thing; Before and After are what the releases before it and what it does.
	What, Before, After string
	// Where is the package in which the language decides. It is empty for what hark does not do yet at level 2.19.
	Where string
	// Instead is what to write that means in both languages what was meant; "" if nothing is to be written.
	Instead string
}

// Built tells that hark does it.
func (r Row) Built() bool { return r.Where != "" }

// RowOf is the row of an id, false if there is none.
func RowOf(id string) (Row, bool) {
	for _, r := range Table() {
		if r.ID == id {
			return r, true
		}
	}
	return Row{}, false
}

// Table is all that is known to differ, as seen beside ansible-core 2.14.18, 2.19.11 and 2.22.0b2.
func Table() []Row {
	var all []Row
	for _, part := range [][]Row{values(), conditions(), plugins(), plays(), errorRows(), newer(), missing(), newerMissing()} {
		all = append(all, part...)
	}
	return all
}

const (
	templar = "playbook/jinja/templar"
	engine  = "playbook/jinja"
	filters = "playbook/jinja/filters"
	runner  = "agent/internal/runner"
	view    = "controller/internal/ui/view"
	compile = "playbook/compile"
)

func values() []Row {
	return []Row{
		{"trust", "2.19", "what is a template", "all text but that of modules, lookups and `!unsafe`",
			"text of YAML, inventories, `-e` and settings; what a template makes never is", templar, "`lookup('template', ...)`, `lookup('vars', name)` or a variable, where a template was made by one"},
		{"native", "2.19", "`{{ 8000 + 80 }}`", "the text `8080`", "the number 8080: one expression keeps its type", templar, "`| string` where text is wanted, or compare with the number"},
		{"parts", "2.19", "text around expressions that looks like a list, dict or bool", "becomes one", "stays text", templar, "the list or dict itself in YAML, or `| from_yaml`"},
		{"none", "2.19", "`{{ none }}`", "empty text", "None; within text it prints as nothing", templar, "`''` for empty text, `omit` for an argument that is left out"},
		{"macros", "2.19", "what a macro or a `{% set %}` block prints", "text", "what was printed, if that is one value", templar, ""},
		{"views", "2.19", "`d.keys()`, tuples in results and in text", "dict views and tuples", "lists", engine, ""},
		{"storage", "2.19", "a range, function or timedelta as a result", "a list or its print", "an error", templar, "`| list`, `| string`"},
		{"lazy", "2.19", "a dict with an entry that cannot be rendered, or that uses another entry", "fails whole, loops", "fails where the entry is used", templar, ""},
		{"travel", "2.19", "undefined values", "fail where they are used", "go through filters, tests and calls, and fail in the result", engine, ""},
		{"omit", "2.19", "`omit` in lists and dicts of variables", "a text of its own", "the entry is left out", templar, "nothing, if the entry was meant to be left out"},
		{"types", "2.19", "names of types of text", "`AnsibleUnicode`, `AnsibleUnsafeText`", "`str`", filters, "`str`"},
		{"set_fact", "2.19", "`set_fact: a=yes`", "the bool", "text", runner, "`set_fact: {a: true}`"},
	}
}

func conditions() []Row {
	return []Row{
		{"bool", "2.19", "a condition that gives text, a number, a list or None", "true or false as in Python", "an error, but with ALLOW_BROKEN_CONDITIONALS", templar, "a test or comparison: `x | bool`, `x | length > 0`, `x is truthy`"},
		{"empty", "2.19", "an empty condition", "true", "an error, but with ALLOW_BROKEN_CONDITIONALS", templar, "`true`, or leave the condition out"},
		{"twice", "2.19", "a condition in a variable: `when: cond`", "is evaluated again", "is text, and so an error; `when: \"{{ cond }}\"` evaluates what is trusted", templar, "the condition itself, or `when: \"{{ cond }}\"`"},
		{"guess", "2.19", "`when: nope == 1 or nope is undefined`", "true: looked for in the words", "an error", templar, "`nope is undefined or nope == 1`: ask first"},
		{"delimiters", "2.19", "`when: \"{{ a }} == 1\"`", "works, with a warning", "an error", templar, "`a == 1`"},
	}
}

func plugins() []Row {
	return []Row{
		{"headers", "2.19", "`#jinja2:` headers with unknown or odd settings", "taken or ignored", "an error", templar, "the settings of Jinja with Python's values: `#jinja2: trim_blocks: False`"},
		{"embedded", "2.19", "templates in texts within expressions", "rendered in terms of lookups", "the same, with a warning; in conditions too", templar, "`~`: `lookup('file', dir ~ '/name')`"},
		{"filter-bool", "2.19", "`x | bool` of anything else", "None for None, else false", "always a bool", filters, ""},
		{"human-to-bytes", "2.19", "`human_to_bytes` of `2 Mbytes`, of `2 MB more`", "read", "an error: the text is a number and a unit, `M`, `MB` or `megabyte`", filters, "`2 MB`"},
		{"filter-default", "2.19", "`x | default(y, z)`", "z is true or false as in Python", "z must be a bool; what failed for another reason than being undefined still fails", filters, "`default(y, true)`"},
		{"inline-if", "2.19", "`{{ 'a' if false }}`", "nothing", "an error, but within text", templar, "`else ''`, or `else omit`"},
	}
}

func plays() []Row {
	return []Row{
		{"role-vars", "2.15", "`vars` of an entry of `roles` or of `import_role`", "are seen by the whole play, and `vars/main.yml` wins over them", "are the role's own, and win over `vars/main.yml`", compile, "`vars` of the play"},
		{"false-condition", "2.15", "results of skipped tasks", "do not say which condition", "`false_condition`", runner, ""},
		{"retries", "2.16", "`retries` without `until`", "nothing is tried again", "the task is tried again until it does not fail", runner, "`retries` with `until`, or neither"},
		{"include-role", "2.16", "`include_role`", "shows nothing of its own", "`included: ROLE for HOSTS`, and counts as ok", runner, ""},
		{"play-name", "2.19", "a play's name with an undefined variable", "the name as written", "an error; nothing runs", compile, "`default(...)`"},
		{"lost-include", "2.19", "a file or role of an include that is not there", "of a role, nothing is counted", "the host has failed, with the `reason`", runner, ""},
		{"include", "2.16", "the action `include`", "works, with a deprecation", "is gone", compile, "`include_tasks` or `import_tasks`"},
		{"fatal-rescue", "2.17", "`any_errors_fatal` in a block with `rescue`", "hosts that did not fail go on in the block", "all hosts go to `rescue`", "controller/internal/play", ""},
		{"end-host", "2.19", "exit code after `end_host` in `rescue`", "2", "0", runner, ""},
		{"jobs", "2.19", "`started` and `finished` in results of `async` tasks and `async_status`", "numbers", "bools, so `until: job.finished` is a condition", runner, ""},
		{"timedout", "2.18", "a task that took longer than `timeout`", "a message", "another message, and `timedout`", runner, ""},
		{"module-arguments", "2.19", "arguments of modules that are of a wrong type", "`is of type <class 'str'>`", "`is of type str`, and an int may be `2.0`", "modules", ""},
		{"debug-var", "2.19", "`debug: {var: \"{{ x }}\"}`", "the variable that x names; of a list or dict its type", "an error, unless x is a text of the playbook", "modules", "`debug: {var: x}`"},
		{"script-arguments", "2.18", "`script` with arguments that it does not have, or without any", "are ignored, or nothing is run", "an error", "modules", ""},
		{"vars-links", "2.19", "`include_vars` of a directory: links to directories, `depth`, a file that cannot be read", "not entered, number of directories, `message`", "entered, depth, the task fails with the place", "modules", ""},
		{"known-hosts", "2.19", "`known_hosts` of a host with lines `@cert-authority` or `@revoked`", "may replace them", "leaves them alone", "modules", ""},
		{"package-facts", "2.18", "`package_facts` of managers that are not there, fail or have nothing", "passed over", "a warning, and an error if none is left", "modules", ""},
		{"item-fault", "2.19", "a template that fails for one item of a loop", "ends the loop", "fails the item", runner, ""},
		{"variable-names", "2.19", "names of variables in `vars`, `register`, `set_fact` and `set_stats`", "no keywords of Python", "may be `if` or `class`, and no `none`, `true`, `false` or `not`", "modules/py/ident", "another name"},
		{"register-name", "2.19", "`register` of what is no name of a variable", "fails the task", "an error; nothing runs", "playbook/syntax", "letters, digits and `_`"},
		{"vars-list", "2.19", "`vars` as a list of dicts", "are merged", "an error; nothing runs", "playbook/syntax", "one dict"},
		{"vars-files", "2.19", "an entry of `vars_files` of which no file is there", "an error", "is passed over", compile, ""},
		{"managed", "2.19", "a variable `ansible_managed` in templates of files", "hidden by the setting", "wins over the setting", runner, "another name, if the setting was meant"},
		{"ini-inventory", "2.19", "files `*.ini` in directories of inventories", "passed over", "read", "controller/config", "another ending, or the setting `inventory_ignore_extensions`"},
		{"settings", "2.19", "settings `fact_path`, `gather_subset` and `gather_timeout`; `error_on_undefined_vars`, `null_representation`, `jinja2_native`", "count", "do nothing", "controller/config", "the keywords of the play, `module_defaults`"},
		{"python", "2.19", "the Python of a host where none is named", "`/usr/bin/python3` first", "the newest of python3.8 to python3.13 first, as in `discovered_interpreter_python`; that it may change is no warning in hark", "modules", "`ansible_python_interpreter`"},
		{"log", "2.19", "lines of `log_path`", "`n=ansible | ...`", "`n=ansible INFO| ...`: with WARNING or ERROR where it is one", "controller/internal/ui/displayconfig", ""},
		{"version", "2.19", "`ansible_version`, `--version`", "2.14.18", "2.19.11", "playbook/plan", ""},
	}
}

func errorRows() []Row {
	return []Row{
		{"words", "2.19", "messages of templates", "`The task includes an option with an undefined variable ...`", "`Task failed: Finalization of task args for 'X' failed: ...`", templar, ""},
		{"origin", "2.19", "a failed task on the screen", "`fatal:` alone", "`[ERROR]:` with each error that led to it, its place and a caret, then `fatal:`", view, ""},
		{"value-place", "2.19", "conditions that are no bools, values that cannot be stored, vault strings that cannot be opened", "nothing is said of the value", "its place is told: of a condition in the message, else as a cause of its own", "playbook/syntax", ""},
		{"warning-place", "2.19", "warnings of reserved names of variables and of templates within constants", "name nothing", "name the place, and what to write", view, ""},
		{"reserved-set", "2.19", "names that Ansible reserves, as variables of inventories, roles and tasks, of `register`, `set_fact` and `include_vars`", "nothing is said", "a warning with the place; of an inventory in INI hark does not know it", runner, "other names"},
		{"diff-header", "2.19", "`--diff` of `copy` with `content`", "names a temporary file", "names the destination", runner, ""},
		{"module-options-2.19", "2.19", "options of modules", "those that came with 2.15 to 2.18 are taken; `get_md5` of `stat`, `params` of `yum_repository`", "those of 2.19.11, `checksum_algorithm` of `find` and `auto_install_module_deps` of `apt` and `dnf` too; others are refused", "modules", ""},
		{"windows-lines", "2.19", "`\\r\\n` in what is printed", "stays", "`\\n`", view, ""},
		{"file-diff", "2.19", "results of `file`", "`diff`", "`diff` with `--diff` alone", "modules", ""},
		{"args", "2.19", "`args` that is no mapping, `args` beside `key=value`, `action` as a mapping", "empty text is taken; nothing is said", "an error; deprecation warnings with the place", "playbook/syntax", "a mapping of all arguments; the action by its name"},
		{"environment", "2.19", "`omit` in `environment`", "is a text of its own", "the variable is left out", runner, ""},
		{"once", "2.19", "the same error of several hosts", "is shown for each", "is shown once; the line `fatal:` for each", view, ""},
		{"unwrapped", "2.19", "warnings and errors of playbooks that cannot be read", "wrapped, `ERROR!`", "not wrapped, `[ERROR]:` with place and caret", view, ""},
		{"names", "2.19", "a task name with an undefined variable, `debug: var=nope`", "the name as written, `VARIABLE IS NOT DEFINED!`", "`<< error 1 - ... >>`, with a warning", runner, ""},
		{"deprecations", "2.19", "conditions in delimiters, `play_hosts`, `bool` of odd values", "nothing is said", "deprecation warnings, with the place", view, "what the warning says; conditions without delimiters"},
		{"causes", "2.19", "failures of templates, assert, command, file, copy", "one message", "`Task failed: ...`; causes are told apart on the screen", runner, ""},
		{"exception", "2.19", "registered results of failed tasks", "as the module gave them", "have `exception`", runner, ""},
	}
}

// missing is what level 2.19 does not do yet.
func missing() []Row {
	return []Row{
		{"no-log", "2.19", "why a task with `no_log` failed", "is hidden", "`[ERROR]:` tells of it; hark goes on hiding it", "", ""},
		{"value-origin", "2.19", "conditions that are no bools", "", "registered results keep the place of the value in the message; hark tells it on the screen only", "", ""},
		{"modules", "2.19", "words of some modules", "", "others", "", ""},
		{"deprecations-left", "2.19", "tests that give no bool", "", "deprecation warnings", "", ""},
		{"sets", "2.19", "union, intersect and difference of lists", "keep the order of the lists", "any order", "", ""},
		{"first-found", "2.19", "`first_found` with undefined entries in its options", "fails", "goes on to the next", "", ""},
		{"commands", "2.19", "texts of ansible-config, ansible-doc and ansible-inventory", "", "others, and other exit codes", "", ""},
	}
}
