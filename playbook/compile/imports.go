package compile

import (
	"context"
	"errors"
	"path/filepath"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/deprecation"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/roles"
	"hark/playbook/search"
	"hark/playbook/syntax"
)

// kind distinguishes imports and includes from other actions.
type kind int

const (
	ordinary kind = iota
	importTasks
	includeTasks
	includeEither // the old include: static if possible
	importRole
	includeRole
)

func includeKind(action string) kind {
	switch modules.ShortName(action) {
	case "import_tasks":
		return importTasks
	case "include_tasks":
		return includeTasks
	case "include":
		return includeEither
	case "import_role":
		return importRole
	case "include_role":
		return includeRole
	}
	return ordinary
}

// importTasks returns the blocks of a file in place of its import.
func (l *loader) importTasks(t *task, in within) ([]item, error) {
	old := includeKind(t.src.Action) == includeEither
	t.o.include = &include{args: t.src.Args, file: rawParams(t.src), legacy: old, params: old}
	if in.depth >= maxDepth {
		return nil, l.project.loader.Errorf(t.o.place, "task files import each other without end: %s", t.o.include.file)
	}
	file, err := l.importedFile(t, in)
	if err != nil {
		return nil, err
	}
	entries, err := l.taskFile(file, t.o, in.handlers)
	var missing *syntax.NotFoundError
	if errors.As(err, &missing) {
		return nil, err
	}
	if err == nil && len(entries) == 0 {
		l.project.warn("file %s is empty and had no tasks to include", file)
		return nil, nil
	}
	l.project.verbose(2, "statically imported: "+file)
	in.parent, in.collections, in.depth = t.o, t.o.collections, in.depth+1
	blocks, more := l.blocks(entries, in)
	return itemsOf(blocks, in.handlers), syntax.Join(err, more)
}

// taskFile reads a file of tasks.
func (l *loader) taskFile(file string, o *object, handlers bool) ([]syntax.Entry, error) {
	return l.project.grammar.Tasks(file, syntax.TaskFile{Handlers: handlers, Collections: o.collections})
}

// itemsOf returns blocks as items of a list. Handlers have no blocks: they are the items.
func itemsOf(blocks []*block, handlers bool) []item {
	var out []item
	for _, b := range blocks {
		if handlers {
			out = append(out, b.body...)
		} else {
			out = append(out, item{block: b})
		}
	}
	return out
}

// pathHelp explains what the path of an import may use.
const pathHelp = "When using static imports, ensure that any variables used in their names are defined in " +
	"vars/vars_files\n" +
	"or extra-vars passed in from the command line. Static imports cannot use variables from facts or inventory\n" +
	"sources like group or host vars."

// undefinedPath returns the error, at level 2.19, of an import's path that cannot be rendered.
func undefinedPath(l *syntax.Loader, o *object, err error) error {
	msg := "Error when evaluating variable in import path " + value.ReprText(o.include.file)
	at, found := l.Find(o.include.file, o.place)
	if !found {
		at = o.place
	}
	cause := l.Errorf(at, "%s", err.Error()).Msg
	return &syntax.Error{Place: o.place, Msg: msg + ": " + err.Error() + "\n\n" + l.Errorf(o.place, "%s.", msg).Msg +
		"\n\n" + pathHelp +
		"\n\n<<< caused by >>>\n\n" + cause}
}

// importedFile finds the file of an import: beside the files that include its own file, nearest first, then in the role
// or beside the playbook.
func (l *loader) importedFile(t *task, in within) (string, error) {
	name, err := l.play.text(t.o.include.file, t.o)
	if err != nil {
		if templar.IsUndefined(err) && l.project.cfg.Level.Has(dialect.PlaybookWords) {
			return "", undefinedPath(l.project.loader, t.o, err)
		}
		if templar.IsUndefined(err) {
			return "", &syntax.Error{Place: t.o.place, Msg: "Error when evaluating variable in import path: " +
				t.o.include.file + ".\n\n" + pathHelp}
		}
		return "", l.play.at(t.o.place, err)
	}
	sub := "tasks"
	if in.handlers {
		sub = "handlers"
	}
	dirs, err := l.play.includingDirs(t.o.parent)
	if err != nil {
		return "", err
	}
	for _, dir := range dirs {
		var file string
		if in.role != nil {
			file = l.play.base.Relative(search.Join(in.role.found.Path, sub, dir), sub, name, false)
		} else {
			file = l.play.base.Relative(string(l.play.base), dir, name, false)
		}
		if search.Exists(file) {
			return file, nil
		}
	}
	if in.role != nil {
		return l.play.base.Relative(in.role.found.Path, sub, name, false), nil
	}
	return l.play.base.Path(name), nil
}

// includingDirs returns the directories of the files that included an object, as they were named, each joined to those
// around it. Lookups search them from the nearest on.
func (p *Play) includingDirs(o *object) ([]string, error) {
	var out []string
	path := ""
	for ; o != nil; o = o.parent {
		if o.include == nil {
			continue
		}
		dir := o.include.file
		if !o.include.role {
			name, err := p.text(dir, o)
			if err != nil {
				return out, p.at(o.place, err)
			}
			dir = search.Parent(name)
		}
		if path == "" || filepath.IsAbs(path) {
			path = dir
		} else {
			path = search.Join(dir, path)
		}
		out = append(out, path)
	}
	return out, nil
}

// oldInclude handles the action include: an import if its name is constant, everything around it static and it has no
// loop.
func (l *loader) oldInclude(t *task, in within) ([]item, error) {
	if l.project.cfg.Level.Has(dialect.IncludeGone) {
		gone := l.project.loader.Errorf(t.o.place,
			"The 'ansible.builtin.include' action plugin has been removed. Use include_tasks or import_tasks "+
				"instead. This feature was removed from ansible-core in a release after 2023-05-16.")
		gone.General = true
		return nil, gone
	}
	l.project.deprecate(deprecation.Notice{Version: "2.16", Text: `"include" is deprecated, use ` +
		`include_tasks/import_tasks instead. See ` +
		"https://docs.ansible.com/ansible-core/2.14/user_guide/playbooks_reuse_includes.html for details"})
	name := value.SourceText(rawParams(t.src))
	if !templar.IsTemplate(name) && allStatic(t.o.parent) && !t.src.Loop.Given() {
		return l.importTasks(t, in)
	}
	t.action = plan.IncludeTasks
	t.o.include = &include{dynamic: true, params: true, legacy: true, args: t.src.Args, file: rawParams(t.src)}
	return []item{{task: t}}, nil
}

func allStatic(o *object) bool {
	for ; o != nil; o = o.parent {
		if o.include != nil && o.include.dynamic {
			return false
		}
	}
	return true
}

// roleArgs are the arguments of include_role and import_role. Names may hold templates.
type roleArgs struct {
	name            string
	from            roles.From
	apply           *value.Dict
	public          *bool // nil if it is not given
	allowDuplicates bool
	validate        bool
	// rescuable says that a missing role, or file of it, fails the task.
	rescuable bool
}

// roleArgs reads the arguments of a role include; args are the rendered ones when the include is dynamic and about to
// be done.
func (l *loader) roleArgs(src *syntax.Task, args *value.Dict) (*roleArgs, error) {
	a := &roleArgs{allowDuplicates: true, validate: true, rescuable: l.project.cfg.Level.Has(dialect.RescuableRoles)}
	for _, key := range []string{"name", "role"} {
		if v, ok := args.Get(key); ok && a.name == "" {
			a.name, _ = value.Text(v)
		}
	}
	for key, to := range map[string]*string{
		"tasks_from": &a.from.Tasks, "vars_from": &a.from.Vars, "defaults_from": &a.from.Defaults,
		"handlers_from": &a.from.Handlers,
	} {
		if v, ok := args.Get(key); ok && !templar.IsOmit(v) {
			*to, _ = value.Text(v)
		}
	}
	if v, ok := args.Get("apply"); ok {
		a.apply, _ = v.(*value.Dict)
	}
	var public bool
	for key, to := range map[string]*bool{
		"public": &public, "allow_duplicates": &a.allowDuplicates, "rolespec_validate": &a.validate,
		"rescuable": &a.rescuable,
	} {
		v, ok := args.Get(key)
		if !ok || templar.IsTemplate(v) || templar.IsOmit(v) {
			continue
		}
		b, err := asBool(v)
		if err != nil {
			return nil, l.project.loader.Errorf(src.Place,
				"the field '%s' has an invalid value (%s), and could not be converted to an bool."+
					"The error was: %s", key, value.Printed(v), err)
		}
		*to = b
		if key == "public" {
			a.public = &public
		}
	}
	return a, nil
}

// importRole returns the blocks of a role, and of its dependencies, in place of its import.
func (l *loader) importRole(t *task, in within) ([]item, error) {
	t.o.include = &include{role: true, args: t.src.Args}
	if in.depth >= maxDepth {
		return nil, l.project.loader.Errorf(t.o.place, "roles import each other without end: %s", t.from.name)
	}
	args, err := l.renderedArgs(t.src, t.o, t.src.Args)
	if err != nil {
		return nil, l.play.at(t.o.place, err)
	}
	r, err := l.role(roleCall{
		entry:  &syntax.RoleEntry{Place: t.o.place, Name: args.name, Vars: t.o.vars, Attrs: syntax.Attrs{}},
		parent: in.role, collections: t.o.collections, from: args.from, included: true, validate: args.validate,
		depth: in.depth + 1,
		task:  t, imported: true,
	})
	if err != nil {
		return nil, err
	}
	r.allowDuplicates, r.public = args.allowDuplicates, args.public
	l.play.roles = append(l.play.roles, r)
	blocks, handlers := r.placed(t.o, in.role)
	l.play.importedHandlers = append(l.play.importedHandlers, handlers...)
	return itemsOf(blocks, false), nil
}

// placed returns the blocks and handlers of a role that a task includes; they inherit from under.
func (r *role) placed(under *object, includer *role) (blocks, handlers []*block) {
	var chain []*role
	if includer != nil {
		chain = append(append(chain, includer.parents...), includer)
	}
	blocks = r.compile(chain)
	first := !r.handlersSet
	handlers = r.handlerBlocks(nil)
	for _, b := range append(append([]*block(nil), blocks...), handlers...) {
		b.o.parent = under
		b.o.collections = r.collections
	}
	if !first {
		handlers = nil
	}
	return blocks, handlers
}

// renderedArgs renders the remaining templates in the arguments of a role include, except apply.
func (l *loader) renderedArgs(src *syntax.Task, o *object, args *value.Dict) (*roleArgs, error) {
	out := value.NewDict()
	var err error
	args.Each(func(k, v value.Value) bool {
		if name, _ := value.Text(k); name != "apply" && templar.IsTemplate(v) {
			v, err = l.play.templar(o).Template(context.Background(), v)
		}
		out.SetKey(k, v)
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	return l.roleArgs(src, out)
}

// argumentPlace returns the position of the first of the arguments that a task has; the task's own if that cannot be
// found.
func (l *loader) argumentPlace(t *task, names ...string) syntax.Place {
	at := t.o.place
	root, err := l.project.loader.Once(at.File)
	if err != nil {
		return at
	}
	args := nodeAt(root, at.Line, at.Column).Get(t.src.Action)
	for _, name := range names {
		if n := args.Get(name); n != nil && n.Mark.Line > 0 {
			return syntax.Place{File: at.File, Line: n.Mark.Line, Column: n.Mark.Column}
		}
	}
	return at
}

// nodeAt returns the mapping that begins at a place, nil if there is none.
func nodeAt(n *syntax.Node, line, column int) *syntax.Node {
	if n == nil || n.Keys != nil && n.Mark.Line == line && n.Mark.Column == column {
		return n
	}
	for _, inner := range append(append([]*syntax.Node(nil), n.Items...), n.Vals...) {
		if found := nodeAt(inner, line, column); found != nil {
			return found
		}
	}
	return nil
}
