package dialect

// Changes that plays of others showed.
var (
	// HandlersAtFlush is the change of names that tasks notify.
	HandlersAtFlush = &Change{
		ID: "handlers-at-flush", Since: "2.16",
		What:    "handlers of a role that is included twice, and handlers of one name that come with a later include",
		Before:  "each that had the name when it was notified runs",
		After:   "the names wait for the flush: the last handler of the name runs, once",
		Where:   runner,
		Instead: "names of handlers that hold what differs",
	}
	// IncludeLoopMarks is the change of the variables of a loop's own names.
	IncludeLoopMarks = &Change{
		ID: "include-loop-marks", Since: "2.19",
		What:   "`ansible_loop_var` and `ansible_index_var` in what an include with a loop runs",
		Before: "are undefined",
		After:  "name the loop's variables",
		Where:  runner,
	}
	// EmptyInclude is the change of includes of empty files.
	EmptyInclude = &Change{
		ID: "include-empty", Since: "2.19",
		What:   "`include_tasks` of an empty file",
		Before: "shows nothing",
		After:  "`included: FILE for HOSTS`, and counts as ok",
		Where:  compile,
	}
	// FindGoesOn is the change of directories that find may not enter.
	FindGoesOn = &Change{
		ID: "find-goes-on", Since: "2.19",
		What:   "`find` with `recurse`, and directories that it may not enter",
		Before: "ends the search of the path at the first, with a warning",
		After:  "each is in `skipped_paths`; the others are searched",
		Where:  "modules",
	}
	// SoftPlugins is the change of filters and tests that there are not.
	SoftPlugins = &Change{
		ID: "missing-plugins", Since: "2.19", With: TrustedTemplates,
		What:   "filters and tests that there are not, in `if` and inline if",
		Before: "an error in any case",
		After:  "an error where they are reached",
		Where:  engine,
	}
	// WithKeepsTrust is the change of templates among the items of with_.
	WithKeepsTrust = &Change{
		ID: "with-trust", Since: "2.19", With: TrustedTemplates,
		What:   "templates and conditions that `with_` takes from lists of the playbook",
		Before: "are text",
		After:  "stay templates",
		Where:  templar,
	}
	// WithDicts is the change of with_ over a mapping.
	WithDicts = &Change{
		ID: "with-dicts", Since: "2.19",
		What:    "`with_items` and other `with_` over a mapping",
		Before:  "go over its keys, or fail",
		After:   "the mapping is the one item",
		Where:   runner,
		Instead: "`loop` with `dict2items`, or `with_dict`",
	}
	// RolesApart is the change of roles that roles include, where the outer ones stand in the play twice.
	RolesApart = &Change{
		ID: "roles-apart", Since: "2.17",
		What:   "variables of an entry of `roles`, in roles that its role includes",
		Before: "are seen there by other entries of the role too",
		After:  "are not",
		Where:  compile,
	}
	// EndRolePlace is the change of `meta: end_role` outside of a role.
	EndRolePlace = &Change{
		ID: "end-role-place", Since: "2.19",
		What:   "`meta: end_role` outside of a role",
		Before: "ends the run when a host comes to it",
		After:  "an error; nothing runs",
		Where:  compile,
	}
	// LookupNames is the change of the argument `name` of `lookup` and `query`.
	LookupNames = &Change{
		ID: "lookup-name", Since: "2.19", With: TrustedTemplates,
		What:   "`lookup(..., name=...)`",
		Before: "names the plug-in",
		After:  "is an option of the plug-in",
		Where:  templar,
	}
	// LocalReset is the change of `meta: reset_connection` over the connection local.
	LocalReset = &Change{
		ID: "local-reset", Since: "2.19",
		What:   "`meta: reset_connection` over the connection `local`",
		Before: "warns that it does nothing",
		After:  "does nothing",
		Where:  runner,
	}
	// NoLogLoops is the change of failed loops with `no_log`.
	NoLogLoops = &Change{
		ID: "no-log-loops", Since: "2.19",
		What:   "failed loops with `no_log`",
		Before: "a last line `fatal`",
		After:  "the lines of the items alone",
		Where:  "agent/internal/report",
	}
)

// foundChanges returns those of this file, in the order in which people read them.
func foundChanges() []*Change {
	return []*Change{
		HandlersAtFlush, IncludeLoopMarks, EmptyInclude, FindGoesOn, SoftPlugins, WithKeepsTrust,
		WithDicts, RolesApart, EndRolePlace, LookupNames, LocalReset, NoLogLoops,
	}
}
