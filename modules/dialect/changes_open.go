package dialect

// Changes of what hark does not do yet.
var (
	// NoLogErrors219 is the change of why a task with `no_log` failed.
	NoLogErrors219 = &Change{
		ID: "no-log", Since: "2.19",
		What:   "why a task with `no_log` failed",
		Before: "is hidden",
		After:  "`[ERROR]:` shows it; hark goes on hiding it",
	}
	// ValueOrigins is the change of conditions that are no bools.
	ValueOrigins = &Change{
		ID: "value-origin", Since: "2.19",
		What:  "conditions that are no bools",
		After: "registered results keep the place of the value in the message; hark tells it on the screen only",
	}
	// ModuleWords is the change of words of some modules.
	ModuleWords = &Change{
		ID: "modules", Since: "2.19",
		What:  "words of some modules",
		After: "others",
	}
	// TestDeprecations is the change of tests that give no bool.
	TestDeprecations = &Change{
		ID: "deprecations-left", Since: "2.19",
		What:  "tests that give no bool",
		After: "deprecation warnings",
	}
	// SetOrder is the change of union, intersect and difference of lists.
	SetOrder = &Change{
		ID: "sets", Since: "2.19",
		What:   "union, intersect and difference of lists",
		Before: "keep the order of the lists",
		After:  "any order",
	}
	// FirstFoundUndefined is the change of `first_found` with undefined entries in its options.
	FirstFoundUndefined = &Change{
		ID: "first-found", Since: "2.19",
		What:   "`first_found` with undefined entries in its options",
		Before: "fails",
		After:  "goes on to the next",
	}
	// CommandTexts is the change of texts of ansible-config, ansible-doc and ansible-inventory.
	CommandTexts = &Change{
		ID: "commands", Since: "2.19",
		What:  "texts of ansible-config, ansible-doc and ansible-inventory",
		After: "others, and other exit codes",
	}
	// RegisterPlaces is the change of a variable whose `register` expression failed, where it is used.
	RegisterPlaces = &Change{
		ID: "register-place", Since: "2.21",
		What:  "a variable whose `register` expression failed, where it is used",
		After: "its error names the place of the expression; hark says `<unknown>`",
	}
	// NoLogErrors is the change of errors of failed tasks with `no_log`.
	NoLogErrors = &Change{
		ID: "no-log-errors", Since: "2.22",
		What:   "errors of failed tasks with `no_log`",
		Before: "are not told",
		After:  "are told, without known secrets; hark does not tell them",
	}
	// ForeignStrategies is the change of strategies of others.
	ForeignStrategies = &Change{
		ID: "others-strategies", Since: "2.19",
		What:   "strategies of others",
		Before: "nothing is said",
		After:  "a deprecation warning",
	}
	// GoneConnections is the change of `connection: smart`; since 2.21 the connection `paramiko` of ansible.builtin.
	GoneConnections = &Change{
		ID: "gone-2.21", Since: "2.20",
		What:    "`connection: smart`; since 2.21 the connection `paramiko` of ansible.builtin",
		Before:  "work",
		After:   "are gone; hark takes them",
		Instead: "`ssh`",
	}
	// InterpreterLost is the change of `ansible_python_interpreter` that is not there, as `auto_legacy` since 2.21.
	InterpreterLost = &Change{
		ID: "interpreter-lost", Since: "2.19",
		What:    "`ansible_python_interpreter` that is not there, as `auto_legacy` since 2.21",
		After:   "fails tasks of modules; hark's own need no Python, and say nothing",
		Instead: "`auto`",
	}
	// OptionPlaces is the change of errors and deprecations about options of `include_vars`.
	OptionPlaces = &Change{
		ID: "option-places", Since: "2.20",
		What:  "errors and deprecations about options of `include_vars`",
		After: "name the place of the option; hark names that of the task, or none",
	}
)

// openChanges returns those of this file, in the order in which people read them.
func openChanges() []*Change {
	return []*Change{
		NoLogErrors219, ValueOrigins, ModuleWords, TestDeprecations, SetOrder, FirstFoundUndefined,
		CommandTexts, RegisterPlaces, NoLogErrors, ForeignStrategies, GoneConnections,
		InterpreterLost, OptionPlaces,
	}
}
