package compile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/roles"
	"hark/playbook/search"
	"hark/playbook/syntax"
)

// Unit is a play compiled for one batch: its plan, and what dynamic includes add to it while it runs. Several
// goroutines may call its methods.
type Unit struct {
	Plan *plan.Plan
	// Start is the step at which to begin, if Batch.StartAt was given; "" if no step has that name.
	Start plan.ID

	mu sync.Mutex

	// guarded by mu after Compile
	play         *Play
	includes     map[plan.ID]*task // the dynamic includes among the steps
	handlers     map[*object]bool  // lists of handlers that were already emitted
	handlerCount int
	groups       int
	roleKeys     map[string]string
	roles        map[string]*plan.Role // of the unfinished plan or fragment
	reach        *reach
	observes     bool // some step looks at other hosts
	surveys      map[*plan.Step]*survey
	readings     readings
	steering     map[*value.Dict][]string // the names in a dict for which plan.Steers is true
	inlined      int                      // bytes of files that travel in the plan
	touched      bool                     // an earlier step may have changed files of the controller
}

// maxIncludes is how many dynamic includes may stand in each other. A file that includes itself would go on for ever;
// ansible-core 2.14.18 ends such a play at the 248th, where Python's recursion limit stops it.
const maxIncludes = 247

const tooDeep = "Exceeded maximum object depth. This may have been caused by excessive role recursion. " +
	"maximum recursion depth exceeded"

// IncludeError says why an include fails for its host. Any other error of Include ends the run.
type IncludeError struct {
	// Reason is the text of the task's failure.
	Reason string
	// Shown says that Ansible shows the text as an error of its own: for roles, and at level 2.19 and later for files.
	Shown bool
	// Text is the text that is shown then, Reason if it is "".
	Text string
}

func (e *IncludeError) Error() string { return e.Reason }

// Include compiles the result of one evaluation of a dynamic include, as the fragment with the given index under the
// step. The step's ID may be that of a handler's run. The caller makes sure that hosts which include the same with the
// same arguments and variables get the same fragment, and that no two fragments of a step have one index.
func (u *Unit) Include(ctx context.Context, step plan.ID, call Call, index int) (*plan.Fragment, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	t := u.include(step)
	if t == nil {
		return nil, fmt.Errorf("internal error: step %s includes nothing", step)
	}
	if t.o.includesAbove() >= maxIncludes {
		return nil, errors.New(tooDeep)
	}
	in := &inclusion{u: u, t: t, call: call, under: *t.o}
	inc := *t.o.include
	in.under.include = &inc
	in.under.vars = overlay(t.o.vars, call.Vars)
	in.out = &plan.Fragment{Index: index, Roles: map[string]*plan.Role{}}
	var err error
	if t.from != nil {
		err = in.role()
	} else {
		err = in.file()
	}
	if err != nil {
		return nil, err
	}
	err = in.emit(step.Under(index))
	var ours *Error
	// in 2.14 a tag that cannot be rendered ends the run
	if u.play.project.cfg.Level.Has(dialect.LostInclude) && errors.As(err, &ours) {
		err = &IncludeError{Reason: ours.Msg, Shown: true, Text: ours.Error()}
	}
	return in.out, err
}

// include returns the task of a step, or of the handler whose run the step is.
func (u *Unit) include(id plan.ID) *task {
	if t := u.includes[id]; t != nil {
		return t
	}
	for handler, t := range u.includes {
		if t.handler && len(handler) < len(id) && id[len(id)-len(handler)-1:] == "."+handler {
			return t
		}
	}
	return nil
}

// inclusion is one unfinished evaluation of a dynamic include.
type inclusion struct {
	u     *Unit
	t     *task
	call  Call
	under object // the include with the variables of this evaluation
	out   *plan.Fragment

	blocks, handlers []*block
}

// includedFile finds the file of a dynamic include, as importedFile does, with the role's own tasks first.
func (l *loader) includedFile(t *task, name string) string {
	dirs, _ := l.play.includingDirs(t.o.parent) // as far as their names can be rendered
	role := t.o.role
	file := ""
	for _, dir := range dirs {
		if role == nil {
			file = l.play.base.Relative(string(l.play.base), dir, name, false)
		} else {
			under := role.found.Path
			if file = l.play.base.Relative(under, "tasks", name, false); !search.Exists(file) {
				file = l.play.base.Relative(search.Join(under, "tasks", dir), "tasks", name, false)
			}
		}
		if search.Exists(file) {
			return file
		}
	}
	switch {
	case file != "":
		return file
	case role == nil:
		return l.play.base.Path(name)
	case t.handler:
		return l.play.base.Relative(role.found.Path, "handlers", name, true)
	}
	return l.play.base.Relative(role.found.Path, "tasks", name, true)
}

// emit makes the steps of what was included.
func (in *inclusion) emit(prefix plan.ID) error {
	u := in.u
	outer := u.roles
	u.roles = in.out.Roles
	defer func() {
		maps.Copy(outer, in.out.Roles)
		u.roles = outer
	}()
	c := &compiler{play: u.play, unit: u, prefix: prefix, keepAll: in.t.handler, observed: true}
	in.out.Blocks = c.blocks(in.blocks)
	if in.t.handler {
		plan.Walk(in.out.Blocks, func(s *plan.Step) { s.Handler = true })
	}
	// Roles that the included tasks import have added theirs to the play's; those already emitted are left out.
	u.play.importedHandlers = append(u.play.importedHandlers, in.handlers...)
	in.out.Handlers = u.handlerSteps(u.play.importedHandlers, &c.errs)
	return syntax.Join(c.errs...)
}

// parent returns the parent of the included blocks: the include, or a block with the keywords of apply.
func (in *inclusion) parent(apply value.Value) (*object, error) {
	under := &in.under
	d, _ := apply.(*value.Dict)
	if d.Len() == 0 {
		return under, nil
	}
	b, err := in.u.play.project.grammar.Apply(d, under.place)
	if err != nil {
		return nil, err
	}
	return &object{
		play: in.u.play, role: under.role, parent: under, place: under.place, attrs: b.Attrs, tags: b.Tags, vars: b.Vars,
		when: whenList(b.Attrs), collections: under.collections,
	}, nil
}

// file includes a file of tasks.
func (in *inclusion) file() error {
	t, p, load := in.t, in.u.play, in.u.play.loader()
	name := firstText(in.call.Args, "_raw_params", "file")
	if name == "" {
		return &IncludeError{Reason: "No file specified for " + t.src.Action}
	}
	file := load.includedFile(t, name)
	in.under.include.file = name
	// The tasks below render the values of apply.
	apply, _ := t.src.Args.Get("apply")
	parent, err := in.parent(apply)
	if err != nil {
		return err
	}
	entries, err := load.taskFile(file, parent, t.handler)
	var missing *syntax.NotFoundError
	if errors.As(err, &missing) {
		text := dialect.FileNotFound.Text(file) + " on the Ansible Controller"
		if p.project.cfg.Level.Has(dialect.IncludeLost) {
			return &IncludeError{Reason: missing.Error()}
		}
		if p.project.cfg.Level.Has(dialect.LostInclude) {
			return &IncludeError{Shown: true, Reason: text + ": Unable to retrieve file contents.\n" + text + ".\n" +
				"If you are using a module and expect the file to exist on the remote, see the remote_src option: [Errno 2] No " +
				"such file or directory: '" + file + "'"}
		}
		return &IncludeError{Reason: text + "."}
	}
	var form *syntax.Error
	if errors.As(err, &form) && form.General {
		return &IncludeError{Reason: form.Error()} // only errors of a parser end the run
	}
	if err != nil {
		return err
	}
	n, err := p.project.loader.Once(file)
	if p.project.cfg.Level.Has(dialect.EmptyInclude) || err != nil || !value.IsNone(n.Value) {
		in.out.Path = file // before ansible-core 2.19 an empty file is not reported
	}
	in.blocks, err = load.blocks(entries, within{parent: parent, role: t.o.role, collections: parent.collections,
		handlers: t.handler})
	return err
}

func firstText(d *value.Dict, names ...string) string {
	for _, name := range names {
		if v, ok := d.Get(name); ok {
			if s, _ := value.Text(v); s != "" {
				return s
			}
		}
	}
	return ""
}

// role includes a role.
func (in *inclusion) role() error {
	t, p, cfg := in.t, in.u.play, &in.u.play.project.cfg
	load := p.loader()
	args, err := load.renderedArgs(t.src, &in.under, in.call.Args)
	if err != nil {
		return err
	}
	r, err := load.role(roleCall{
		task:   t,
		entry:  &syntax.RoleEntry{Place: t.o.place, Name: args.name, Vars: in.under.vars, Attrs: syntax.Attrs{}},
		parent: t.o.role, collections: t.o.collections, from: args.from, included: true, validate: args.validate,
	})
	var missing *missingRole
	if errors.As(err, &missing) && missing.task == t {
		reason := err.Error()
		if cfg.Level.Has(dialect.LostInclude) {
			reason, _, _ = strings.Cut(reason, "\n")
		}
		switch {
		case args.rescuable:
			return &IncludeError{Reason: err.Error()}
		case cfg.Level.Has(dialect.IncludeFrom):
			return &syntax.Error{Msg: "Could not include role: " + reason +
				"\n\nCould not include role.\n\n<<< caused by >>>\n\n" + err.Error()}
		}
		return &IncludeError{Reason: reason, Shown: true, Text: err.Error()}
	}
	var noFile *roles.NoFileError
	if errors.As(err, &noFile) && args.rescuable {
		return &IncludeError{Reason: noFile.Error()}
	}
	if err != nil {
		return err
	}
	r.allowDuplicates = args.allowDuplicates
	public := args.public != nil && *args.public
	if public || cfg.Level.Has(dialect.IncludedRoleNames) {
		in.out.RoleNames, in.out.DependentRoles = roleNames([]*role{r})
	}
	in.under.include.file = r.found.Path
	parent, err := in.parent(dictOrNone(args.apply))
	if err != nil {
		return err
	}
	if public {
		p.roles = append(p.roles, r)
		in.out.RoleDefaults = plan.Dict{Dict: r.defaultVars(nil, cfg.HashMerge)}
		if !cfg.PrivateRoleVars {
			in.out.RoleVars = plan.Dict{Dict: r.exported(cfg.HashMerge)}
		}
	}
	in.blocks, in.handlers = r.placed(parent, t.o.role)
	return nil
}
