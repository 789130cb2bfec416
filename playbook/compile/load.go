package compile

import (
	"path/filepath"
	"slices"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/syntax"
)

// block is a list of tasks and blocks, and what to do when one fails. Tasks outside a block are put together into
// implicit ones, as in Ansible.
type block struct {
	o                    *object
	name                 string
	body, rescue, always []item
	// roleEnd marks the end of a role.
	roleEnd bool
}

// item is a task or a block; exactly one is set.
type item struct {
	task  *task
	block *block
}

// task is a task, handler or dynamic include. Imported tasks have replaced their import.
type task struct {
	o       *object
	src     *syntax.Task
	action  string // full name, or as written if it holds a template
	foreign *plan.Foreign
	plugin  *plan.ActionPlugin
	handler bool
	// implicit tasks are not in the playbook.
	implicit bool
	from     *roleArgs // of include_role
}

// loader reads what a play names: the tasks of its files, its roles, and what both import.
type loader struct {
	project *Project
	play    *Play
	loading map[string]bool // roles that are being read
}

func (p *Play) loader() *loader {
	return &loader{project: p.project, play: p, loading: map[string]bool{}}
}

// within is what surrounds a list of entries.
type within struct {
	parent      *object
	role        *role
	collections []string
	handlers    bool
	depth       int
}

// maxDepth is how deep files may import each other: a file that imports itself never ends.
const maxDepth = 100

// blocks loads a list of entries. Adjacent tasks outside blocks become one implicit block. It returns what could be
// loaded even if there are errors.
func (l *loader) blocks(entries []syntax.Entry, in within) ([]*block, error) {
	var out []*block
	var errs []error
	var implicit *block
	for _, e := range entries {
		if e.Block != nil {
			implicit = nil
			b, err := l.block(e.Block, in)
			out, errs = append(out, b), append(errs, err)
			continue
		}
		if implicit == nil {
			implicit = &block{o: l.implicitBlock(in, e.Task.Place)}
			out = append(out, implicit)
		}
		got, err := l.task(e.Task, implicit, in)
		implicit.body, errs = append(implicit.body, got...), append(errs, err)
	}
	return out, syntax.Join(errs...)
}

func (l *loader) implicitBlock(in within, at syntax.Place) *object {
	return &object{play: l.play, role: in.role, parent: in.parent, place: at, attrs: syntax.Attrs{},
		collections: in.collections}
}

func (l *loader) block(src *syntax.Block, in within) (*block, error) {
	o := l.implicitBlock(in, src.Place)
	o.attrs, o.tags, o.vars = src.Attrs, src.Tags, src.Vars
	o.when = whenList(src.Attrs)
	o.collections = l.collectionsOf(src.Collections, in)
	name, _ := value.Text(value.OrNone(src.Attrs.Get("name")))
	b := &block{o: o, name: name}
	in.collections = o.collections
	errs := []error{l.play.defaults().check(src.Attrs)}
	for _, part := range []struct {
		from []syntax.Entry
		to   *[]item
	}{{src.Body, &b.body}, {src.Rescue, &b.rescue}, {src.Always, &b.always}} {
		got, err := l.items(part.from, b, in)
		*part.to, errs = got, append(errs, err)
	}
	return b, syntax.Join(errs...)
}

// items loads the entries of a block.
func (l *loader) items(entries []syntax.Entry, b *block, in within) ([]item, error) {
	var out []item
	var errs []error
	for _, e := range entries {
		if e.Block != nil {
			in := in
			in.parent = b.o
			inner, err := l.block(e.Block, in)
			out, errs = append(out, item{block: inner}), append(errs, err)
			continue
		}
		got, err := l.task(e.Task, b, in)
		out, errs = append(out, got...), append(errs, err)
	}
	return out, syntax.Join(errs...)
}

// task loads a task; for an import it returns what that imports.
func (l *loader) task(src *syntax.Task, b *block, in within) ([]item, error) {
	o := &object{
		isTask: true, play: l.play, role: in.role, parent: b.o, place: src.Place, attrs: src.Attrs, tags: src.Tags,
		vars: src.Vars, when: whenList(src.Attrs), collections: l.collectionsOf(src.Collections, in),
	}
	if err := l.play.defaults().check(src.Attrs); err != nil {
		return nil, err
	}
	t := &task{o: o, src: src, action: src.Action, handler: in.handlers}
	switch kind := includeKind(src.Action); kind {
	case importTasks:
		return l.importTasks(t, in)
	case includeEither:
		return l.oldInclude(t, in)
	case importRole, includeRole:
		args, err := l.roleArgs(src, src.Args)
		if err != nil {
			return nil, err
		}
		t.from = args
		if kind == importRole {
			return l.importRole(t, in)
		}
		t.action = plan.IncludeRole
		o.include = &include{dynamic: true, role: true, params: true, args: src.Args}
	case includeTasks:
		t.action = plan.IncludeTasks
		o.include = &include{dynamic: true, params: true, args: src.Args, file: rawParams(src)}
	default:
		t.action, t.foreign, t.plugin = l.project.actions.action(src.Action, o.collections)
		if err := misplaced(t, in); err != nil {
			return nil, err
		}
	}
	return []item{{task: t}}, nil
}

// misplaced is the error of a meta that stands where its action cannot be done. Before ansible-core 2.19 hosts say so
// when they come to it.
func misplaced(t *task, in within) error {
	outside := t.action == plan.MetaAction && in.role == nil && rawParams(t.src) == "end_role"
	if !outside || !t.o.play.project.cfg.Level.Has(dialect.EndRolePlace) {
		return nil
	}
	return &Error{Msg: "Cannot execute 'end_role' from outside of a role\nOrigin: <unknown>\n\nTASK: meta (end_role)\n"}
}

// collectionsOf returns the collections in force for an object with its own list.
func (l *loader) collectionsOf(own []string, in within) []string {
	if own == nil {
		return in.collections
	}
	return withFallback(own, l.play.collection)
}

// withFallback adds what Ansible adds to a list of collections: that of the playbook in front, and ansible.legacy last.
func withFallback(list []string, playbooks string) []string {
	out := append([]string(nil), list...)
	if playbooks != "" && !slices.Contains(out, playbooks) {
		out = append([]string{playbooks}, out...)
	}
	if len(out) > 0 && !slices.Contains(out, "ansible.builtin") && !slices.Contains(out, "ansible.legacy") {
		out = append(out, "ansible.legacy")
	}
	return out
}

func whenList(a syntax.Attrs) []value.Value { return items(a.Get("when")) }

func rawParams(t *syntax.Task) string {
	v, _ := t.Args.Get("_raw_params")
	s, _ := value.Text(value.OrNone(v))
	return s
}

// roleEntries reads the tasks or handlers of a role.
func (l *loader) roleEntries(r *role, sub, main string) ([]syntax.Entry, error) {
	files, err := r.found.Files(sub, main, false)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	n, err := l.project.loader.Once(files[0])
	if err != nil {
		return nil, err
	}
	if value.Falsy(n.Value) {
		return nil, nil
	}
	at := syntax.Place{File: files[0], Line: n.Mark.Line, Column: n.Mark.Column}
	if _, ok := n.Value.(*value.List); !ok {
		return nil, l.project.loader.Errorf(at, "The %s/main.yml file for role '%s' must contain a list of tasks", sub,
			r.found.Name)
	}
	return l.project.grammar.TaskList(files[0], n,
		syntax.TaskFile{Handlers: sub == "handlers", Collections: r.collections})
}

// reached returns a copy of a block, and of all above and below it, that a chain of roles has reached.
func (b *block) reached(chain []*role) *block {
	objects := map[*object]*object{}
	var copyObject func(o *object) *object
	copyObject = func(o *object) *object {
		if o == nil {
			return nil
		}
		if objects[o] == nil {
			c := *o
			objects[o] = &c
			c.parent = copyObject(o.parent)
		}
		return objects[o]
	}
	out := b.copied(copyObject)
	out.o.depChain = chain
	return out
}

func (b *block) copied(of func(*object) *object) *block {
	out := *b
	out.o = of(b.o)
	out.body, out.rescue, out.always = copyItems(b.body, of), copyItems(b.rescue, of), copyItems(b.always, of)
	return &out
}

func copyItems(list []item, of func(*object) *object) []item {
	out := make([]item, len(list))
	for i, it := range list {
		if it.block != nil {
			out[i].block = it.block.copied(of)
			continue
		}
		t := *it.task
		t.o = of(t.o)
		out[i].task = &t
	}
	return out
}

// dirOf returns the directory of an object's file.
func (o *object) dirOf() string { return filepath.Dir(o.place.File) }

// search returns the directories in which a step looks for files: those of the roles that reached it, then that of its
// file.
func (o *object) search() []string {
	var out []string
	chain := o.chain()
	for i := len(chain) - 1; i >= 0; i-- {
		out = append(out, chain[i].found.Path)
	}
	if dir := o.dirOf(); !slices.Contains(out, dir) {
		out = append(out, dir)
	}
	return out
}
