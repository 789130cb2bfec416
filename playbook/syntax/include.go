package syntax

import (
	"strings"

	"hark/modules/dialect"
	"hark/modules/py/value"
)

// roleFrom are the arguments of role includes that name a file.
var roleFrom = []string{"tasks_from", "vars_from", "defaults_from", "handlers_from"}

var (
	taskFileArgs = words("file _raw_params apply")
	roleFileArgs = words("name role tasks_from vars_from defaults_from handlers_from apply public allow_duplicates " +
		"rolespec_validate")
	// rescuableArgs are those of ansible-core 2.21.
	rescuableArgs = words("name role tasks_from vars_from defaults_from handlers_from apply public allow_duplicates " +
		"rolespec_validate rescuable")
)

// checkInclude checks the arguments of imports and includes. The file of a task file is then under "_raw_params".
func (r *reader) checkInclude(o object, t *Task) {
	switch {
	case taskFiles[t.Action]:
		r.checkTaskFile(o, t)
	case roleFiles[t.Action]:
		r.checkRoleFile(o, t)
	}
}

func (r *reader) checkTaskFile(o object, t *Task) {
	if bad := badArgs(t.Args, taskFileArgs); bad != "" && !includeOld[t.Action] {
		r.failAt(o.at, dialect.InvalidOptions.Format, t.Action, bad)
		return
	}
	if raw, ok := t.Args.Get("_raw_params"); !ok || value.Falsy(raw) {
		file, ok := t.Args.Get("file")
		t.Args.Delete(value.Str("file"))
		if !ok || value.Falsy(file) {
			r.say("No file specified for %s", t.Action)
			return
		}
		t.Args.Set("_raw_params", file)
	}
	r.checkApply(o, t, includeTasks[t.Action])
	if importTasks[t.Action] && t.Loop.Given() {
		r.failAt(o.at, "You cannot use loops on 'import_tasks' statements. You should use 'include_tasks' instead.")
	}
}

func (r *reader) checkRoleFile(o object, t *Task) {
	if t.Handler {
		r.failAt(o.at, "Using '%s' as a handler is not supported.", t.Action)
		return
	}
	name, ok := t.Args.Get("name")
	if !ok {
		name, ok = t.Args.Get("role")
	}
	if !ok || value.IsNone(name) {
		r.failAt(o.at, "'name' is a required field for %s.", t.Action)
		return
	}
	known := roleFileArgs
	if r.loader.Level.Has(dialect.RescuableRoles) {
		known = rescuableArgs
	}
	if bad := badArgs(t.Args, known); bad != "" {
		r.failAt(o.at, dialect.InvalidOptions.Format, t.Action, bad)
	}
	if v, ok := t.Args.Get("rescuable"); ok && !includeRole[t.Action] && !value.Falsy(v) && known["rescuable"] {
		r.failAt(o.at, dialect.InvalidOptions.Format, t.Action, "rescuable")
	}
	for _, key := range roleFrom {
		v, given := t.Args.Get(key)
		if _, isText := value.Text(value.OrNone(v)); given && !isText {
			r.say("Expected a string for %s but got %s instead", key, Class(v))
		}
	}
	r.checkApply(o, t, includeRole[t.Action])
	if importRole[t.Action] && t.Loop.Given() {
		r.failAt(o.at, "You cannot use loops on 'import_role' statements. You should use 'include_role' instead.")
	}
}

func (r *reader) checkApply(o object, t *Task, allowed bool) {
	apply, ok := t.Args.Get("apply")
	if !ok {
		return
	}
	if !allowed && !value.Falsy(apply) {
		r.failAt(o.at, dialect.InvalidOptions.Format, t.Action, "apply")
		return
	}
	if _, isDict := apply.(*value.Dict); !isDict {
		r.failAt(o.at, "Expected a dict for apply but got %s instead", Class(apply))
	}
}

func badArgs(args *value.Dict, known wordSet) string {
	var bad []string
	for _, k := range args.Keys() {
		if key := value.Printed(k); !known[key] {
			bad = append(bad, key)
		}
	}
	return strings.Join(bad, ",")
}
