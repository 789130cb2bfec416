package dialect

// Changes of messages.
var (
	// TemplateErrors is the change of messages of templates.
	TemplateErrors = &Change{
		ID: "words", Since: "2.19", With: TrustedTemplates,
		What:   "messages of templates",
		Before: "`The task includes an option with an undefined variable ...`",
		After:  "`Task failed: Finalization of task args for 'X' failed: ...`",
		Where:  templar,
	}
	// ErrorOrigins is the change of a failed task on the screen.
	ErrorOrigins = &Change{
		ID: "origin", Since: "2.19",
		What:   "a failed task on the screen",
		Before: "`fatal:` alone",
		After:  "`[ERROR]:` with each error that led to it, its place and a caret, then `fatal:`",
		Where:  view,
	}
	// ValuePlaces is the change of conditions that are no bools, values that cannot be stored, vault strings that
	// cannot be opened.
	ValuePlaces = &Change{
		ID: "value-place", Since: "2.19", With: ErrorOrigins,
		What:   "conditions that are no bools, values that cannot be stored, vault strings that cannot be opened",
		Before: "nothing is said of the value",
		After:  "its place is told: of a condition in the message, else as a cause of its own",
		Where:  "playbook/syntax",
	}
	// WarningPlaces is the change of warnings of reserved names of variables and of templates within constants.
	WarningPlaces = &Change{
		ID: "warning-place", Since: "2.19", With: ReservedNames,
		What:   "warnings of reserved names of variables and of templates within constants",
		Before: "name nothing",
		After:  "name the place, and what to write",
		Where:  view,
	}
	// ReservedNames is the change of names that Ansible reserves, as variables of inventories, roles and tasks, of
	// `register`, `set_fact` and `include_vars`.
	ReservedNames = &Change{
		ID: "reserved-set", Since: "2.19",
		What: "names that Ansible reserves, as variables of inventories, roles and tasks, of " +
			"`register`, `set_fact` and `include_vars`",
		Before:  "nothing is said",
		After:   "a warning with the place; of an inventory in INI hark does not know it",
		Where:   runner,
		Instead: "other names",
	}
	// DiffHeader is the change of `--diff` of `copy` with `content`.
	DiffHeader = &Change{
		ID: "diff-header", Since: "2.19",
		What:   "`--diff` of `copy` with `content`",
		Before: "names a temporary file",
		After:  "names the destination",
		Where:  runner,
	}
	// ModuleOptions219 is the change of options of modules.
	ModuleOptions219 = &Change{
		ID: "module-options-2.19", Since: "2.19",
		What:   "options of modules",
		Before: "those that came with 2.15 to 2.18 are taken; `get_md5` of `stat`, `params` of `yum_repository`",
		After: "those of 2.19.11, `checksum_algorithm` of `find` and `auto_install_module_deps` of " +
			"`apt` and `dnf` too; others are refused",
		Where: "modules",
	}
	// WindowsLines is the change of `\r\n` in what is printed.
	WindowsLines = &Change{
		ID: "windows-lines", Since: "2.19", With: ErrorOrigins,
		What:   "`\\r\\n` in what is printed",
		Before: "stays",
		After:  "`\\n`",
		Where:  view,
	}
	// FileDiff is the change of results of `file`.
	FileDiff = &Change{
		ID: "file-diff", Since: "2.19",
		What:   "results of `file`",
		Before: "`diff`",
		After:  "`diff` with `--diff` alone",
		Where:  "modules",
	}
	// ArgsMapping is the change of `args` that is no mapping, `args` beside `key=value`, `action` as a mapping.
	ArgsMapping = &Change{
		ID: "args", Since: "2.19",
		What:    "`args` that is no mapping, `args` beside `key=value`, `action` as a mapping",
		Before:  "empty text is taken; nothing is said",
		After:   "an error; deprecation warnings with the place",
		Where:   "playbook/syntax",
		Instead: "a mapping of all arguments; the action by its name",
	}
	// EnvironmentOmit is the change of `omit` in `environment`.
	EnvironmentOmit = &Change{
		ID: "environment", Since: "2.19",
		What:   "`omit` in `environment`",
		Before: "is a text of its own",
		After:  "the variable is left out",
		Where:  runner,
	}
	// ErrorsOnce is the change of the same error of several hosts.
	ErrorsOnce = &Change{
		ID: "once", Since: "2.19", With: ErrorOrigins,
		What:   "the same error of several hosts",
		Before: "is shown for each",
		After:  "is shown once; the line `fatal:` for each",
		Where:  view,
	}
	// UnwrappedMessages is the change of warnings and errors of playbooks that cannot be read.
	UnwrappedMessages = &Change{
		ID: "unwrapped", Since: "2.19",
		What:   "warnings and errors of playbooks that cannot be read",
		Before: "wrapped, `ERROR!`",
		After:  "not wrapped, `[ERROR]:` with place and caret",
		Where:  view,
	}
	// MarkedNames is the change of a task name with an undefined variable, `debug: var=nope`.
	MarkedNames = &Change{
		ID: "names", Since: "2.19",
		What:   "a task name with an undefined variable, `debug: var=nope`",
		Before: "the name as written, `VARIABLE IS NOT DEFINED!`",
		After:  "`<< error 1 - ... >>`, with a warning",
		Where:  runner,
	}
	// TemplateDeprecations is the change of conditions in delimiters, `play_hosts`, `bool` of odd values.
	TemplateDeprecations = &Change{
		ID: "deprecations", Since: "2.19", With: TrustedTemplates,
		What:    "conditions in delimiters, `play_hosts`, `bool` of odd values",
		Before:  "nothing is said",
		After:   "deprecation warnings, with the place",
		Where:   view,
		Instead: "what the warning says; conditions without delimiters",
	}
	// FailureCauses is the change of failures of templates, assert, command, file, copy.
	FailureCauses = &Change{
		ID: "causes", Since: "2.19",
		What:   "failures of templates, assert, command, file, copy",
		Before: "one message",
		After:  "`Task failed: ...`; causes are told apart on the screen",
		Where:  runner,
	}
	// ResultException is the change of registered results of failed tasks.
	ResultException = &Change{
		ID: "exception", Since: "2.19",
		What:   "registered results of failed tasks",
		Before: "as the module gave them",
		After:  "have `exception`",
		Where:  runner,
	}
	// AsyncWords is the change of modules that cannot be `async`.
	AsyncWords = &Change{
		ID: "async-words", Since: "2.19",
		What:   "modules that cannot be `async`",
		Before: "one message",
		After:  "another",
		Where:  "agent/internal/runner",
	}
	// VarsFilesWords is the change of entries of `vars_files` that wait for variables, or are no names.
	VarsFilesWords = &Change{
		ID: "vars-files-words", Since: "2.19",
		What:   "entries of `vars_files` that wait for variables, or are no names",
		Before: "no warning; one message",
		After:  "a warning with the place; the message names the error",
		Where:  compile,
	}
	// LoopWords is the change of `loop` of what is no list, loop variables that are in use.
	LoopWords = &Change{
		ID: "loop-words", Since: "2.19",
		What:   "`loop` of what is no list, loop variables that are in use",
		Before: "one message",
		After:  "another, with the place",
		Where:  runner,
	}
	// KeywordWords is the change of keywords that cannot be rendered or are of a wrong type.
	KeywordWords = &Change{
		ID: "keyword-words", Since: "2.19",
		What:   "keywords that cannot be rendered or are of a wrong type",
		Before: "one message",
		After:  "`Error processing keyword ...`, with the place",
		Where:  runner,
	}
	// PlaybookWords is the change of messages about playbooks that cannot be read.
	PlaybookWords = &Change{
		ID: "playbook-words", Since: "2.19",
		What:   "messages about playbooks that cannot be read",
		Before: "one wording",
		After:  "another, with places",
		Where:  "playbook/syntax",
	}
	// ModuleMessages is the change of messages of `assert`, `command`, `copy`, `fetch`, `package`, `pause`, `replace`,
	// `script` and `slurp`.
	ModuleMessages = &Change{
		ID: "module-words-2.19", Since: "2.19",
		What:   "messages of `assert`, `command`, `copy`, `fetch`, `package`, `pause`, `replace`, `script` and `slurp`",
		Before: "one wording",
		After:  "another; causes are told apart",
		Where:  "modules",
	}
	// DnfQueries is the change of packages that `dnf` names.
	DnfQueries = &Change{
		ID: "dnf-queries", Since: "2.19",
		What: "packages that `dnf` names, and its caches with `installroot`",
		Before: "their names are parted by rules of the module; a file that no package has is passed over; caches are those " +
			"of `/`",
		After: "dnf judges them: patterns, versions without release, names of files; caches are below the root",
		Where: "modules",
	}
	// LookupWords is the change of messages of the lookups `config`, `csvfile`, `ini`.
	LookupWords = &Change{
		ID: "lookup-words", Since: "2.19",
		What:   "messages of the lookups `config`, `csvfile` and `ini`; `csvfile` without a key",
		Before: "`Unable to find setting X. ...`; no rows",
		After:  "`No config definition exists for 'X'.`; fails",
		Where:  "controller/internal/play/answer",
	}
	// InventoryJSON is the change of `ansible-inventory --list`.
	InventoryJSON = &Change{
		ID: "inventory-json", Since: "2.19",
		What:   "`ansible-inventory --list`",
		Before: "no word of its form",
		After:  "`_meta.profile`",
		Where:  "playbook/inventory",
	}
)

// messagesChanges returns those of this file, in the order in which people read them.
func messagesChanges() []*Change {
	return []*Change{
		TemplateErrors, ErrorOrigins, ValuePlaces, WarningPlaces, ReservedNames, DiffHeader,
		ModuleOptions219, DnfQueries, WindowsLines, FileDiff, ArgsMapping, EnvironmentOmit, ErrorsOnce,
		UnwrappedMessages, MarkedNames, TemplateDeprecations, FailureCauses, ResultException, AsyncWords,
		VarsFilesWords, LoopWords, KeywordWords, PlaybookWords, ModuleMessages, LookupWords, InventoryJSON,
	}
}
