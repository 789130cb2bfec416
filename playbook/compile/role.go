package compile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/roles"
	"hark/playbook/syntax"
	"hark/playbook/vars"
)

// role is one role of a play. Roles with the same name, parameters, conditions, tags and vars are the same, as in
// Ansible.
type role struct {
	object
	found    roles.Found
	params   *value.Dict // keys of its entry that are no keywords
	defaults *value.Dict
	roleVars *value.Dict
	deps     []*role
	parents  []*role // roles that depend on it or include it
	from     roles.From

	allowDuplicates bool
	public          *bool // what an import says of its variables: nil is the setting private_role_vars
	included        bool  // by include_role or import_role, not an entry of roles:
	identity        string

	blocks, handlers []*block
	// handlersOut are the handlers with the chain of roles that first reached them; they are emitted once.
	handlersOut []*block
	handlersSet bool
}

func (r *role) fullName() string { return r.found.FullName() }

// roleCall is a request for a role.
type roleCall struct {
	entry       *syntax.RoleEntry
	parent      *role    // the role that depends on it, or whose task includes it
	near        string   // the directory that holds the depending role
	collections []string // to search for a short name
	from        roles.From
	included    bool
	imported    bool  // by import_role
	validate    bool  // insert the check of its argument specs
	depth       int   // of imports within each other
	task        *task // the import or include that asks; nil for an entry of roles: or of dependencies
}

// maxRoles is how deep roles may depend on each other.
const maxRoles = 100

// role loads a role, or returns it if the play has loaded it already.
func (l *loader) role(c roleCall) (*role, error) {
	name, err := l.roleName(c)
	if err != nil {
		return nil, l.play.at(c.entry.Place, err)
	}
	found, err := l.play.finder().Find(name, l.play.base, c.near, c.collections)
	if err != nil {
		return nil, l.noRole(c, err)
	}
	key := roleKey(found, c)
	if r := l.play.roleCache[key]; r != nil && !l.project.cfg.Level.Has(dialect.RolesApart) {
		r.addParent(c.parent)
		return r, nil
	}
	if l.loading[key] || len(l.loading) > maxRoles {
		return nil, l.play.wrong(c.entry.Place, "A recursion loop was detected with the roles specified. "+
			"Make sure child roles do not have dependencies on parent roles")
	}
	l.loading[key] = true
	defer delete(l.loading, key)
	r := &role{found: found, params: c.entry.Params, from: c.from, included: c.included, identity: key}
	r.object = object{
		place: c.entry.Place, attrs: c.entry.Attrs, tags: c.entry.Tags, vars: c.entry.Vars,
		when: items(c.entry.Attrs.Get("when")), play: l.play,
	}
	r.addParent(c.parent)
	if err := l.readRole(r, c); err != nil {
		return nil, err
	}
	l.play.roleCache[key] = r
	return r, nil
}

// roleName returns the name of the role. Tasks that include or import one have rendered it already: it may be text from
// a host.
func (l *loader) roleName(c roleCall) (string, error) {
	if c.included {
		return c.entry.Name, nil
	}
	return l.play.text(c.entry.Name, nil)
}

// missingRole is the error of a role that does not exist, asked for by a task or, if that is nil, by an entry.
type missingRole struct {
	err  *Error
	task *task
}

func (e *missingRole) Error() string { return e.err.Error() }
func (e *missingRole) Unwrap() error { return e.err }

// noRole returns the text of a missingRole. Ansible points at the role's name, unless a template made it.
func (l *loader) noRole(c roleCall, err error) error {
	place, text := c.entry.Place, err.Error()
	var unfound *roles.NotFoundError
	if l.project.cfg.Level.Has(dialect.RoleWords) && errors.As(err, &unfound) {
		text = "The role '" + unfound.Name + "' was not found in: " + strings.Join(unfound.Searched, ":")
	}
	if c.task != nil {
		if templar.IsTemplateText(c.task.from.name) {
			return &missingRole{&Error{Msg: text, Place: place}, c.task}
		}
		place = l.argumentPlace(c.task, "name", "role")
	}
	return &missingRole{l.play.wrong(place, "%s", text), c.task}
}

func (r *role) addParent(parent *role) {
	if parent != nil && !slices.Contains(r.parents, parent) {
		r.parents = append(r.parents, parent)
	}
}

// roleKey identifies roles of a play as Ansible does.
func roleKey(f roles.Found, c roleCall) string {
	parts := []string{f.FullName(), fmt.Sprint(c.included), fmt.Sprintf("%+v", c.from)}
	params := value.NewDict()
	params.Set("params", dictOrNone(c.entry.Params))
	params.Set("vars", dictOrNone(c.entry.Vars))
	params.Set("when", value.NewList(items(c.entry.Attrs.Get("when"))...))
	params.Set("tags", value.NewList(c.entry.Tags...))
	if raw, err := value.Encode(params); err == nil {
		parts = append(parts, string(raw))
	} else {
		parts = append(parts, c.entry.Place.String())
	}
	// The parameters may be secret, and the key goes to the hosts.
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

func dictOrNone(d *value.Dict) value.Value {
	if d == nil {
		return value.None{}
	}
	return d
}

// readRole reads the files of a role. It goes on after an error, to report all.
func (l *loader) readRole(r *role, c roleCall) error {
	var errs []error
	note := func(err error) {
		var noFile *roles.NoFileError
		if errors.As(err, &noFile) && noFile.NoDir && !l.project.cfg.Level.Has(dialect.RoleDirectories) {
			return
		}
		if !c.included || !l.project.cfg.Level.Has(dialect.RescuableRoles) || !errors.As(err, &noFile) {
			err = l.play.at(c.entry.Place, err)
		}
		errs = append(errs, err)
	}
	note(l.play.defaults().check(c.entry.Attrs))
	if c.imported {
		c.from = r.found.Imported(c.from)
		r.from = c.from
	}
	var err error
	merge := l.project.cfg.HashMerge
	r.roleVars, err = r.found.Vars(l.project.loader, "vars", c.from.Vars, merge)
	note(err)
	r.defaults, err = r.found.Vars(l.project.loader, "defaults", c.from.Defaults, merge)
	note(err)
	meta, err := roles.ReadMeta(l.project.grammar, r.found)
	note(err)
	r.allowDuplicates = meta.AllowDuplicates
	note(l.dependencies(r, meta))
	l.project.foreign.Add(r.found.Path) // after theirs
	r.setCollections(meta.Collections, l.play.collection)
	tasks, err := l.roleEntries(r, "tasks", c.from.Tasks)
	note(err)
	if c.validate {
		check, err := l.validation(r, meta)
		note(err)
		tasks = append(check, tasks...)
	}
	in := within{role: r, collections: r.collections, depth: c.depth}
	r.blocks, err = l.blocks(tasks, in)
	note(err)
	handlers, err := l.roleEntries(r, "handlers", c.from.Handlers)
	note(err)
	in.handlers = true
	r.handlers, err = l.blocks(handlers, in)
	note(err)
	return syntax.Join(errs...)
}

// dependencies loads the roles that meta/main.yml names.
func (l *loader) dependencies(r *role, meta *roles.Meta) error {
	var collections []string
	if r.found.Collection != "" {
		collections = append(collections, r.found.Collection)
	}
	collections = append(collections, "ansible.legacy")
	var errs []error
	for _, entry := range meta.Dependencies {
		dep, err := l.role(roleCall{
			entry: entry, parent: r, near: filepath.Dir(r.found.Path), collections: collections, validate: true,
		})
		if err != nil {
			errs = append(errs, err)
			continue
		}
		r.deps = append(r.deps, dep)
	}
	return syntax.Join(errs...)
}

// setCollections sets the collections in force in the role: it inherits none.
func (r *role) setCollections(own []string, playbooks string) {
	switch {
	case r.found.Collection != "":
		r.collections = append(r.collections, r.found.Collection)
	case playbooks != "":
		r.collections = append(r.collections, playbooks)
	}
	for _, c := range own {
		if !slices.Contains(r.collections, c) {
			r.collections = append(r.collections, c)
		}
	}
	if len(r.collections) == 0 || slices.Contains(r.collections, "ansible.builtin") ||
		slices.Contains(r.collections, "ansible.legacy") {
		return
	}
	if r.found.Collection != "" {
		r.collections = append(r.collections, "ansible.builtin")
	} else {
		r.collections = append(r.collections, "ansible.legacy")
	}
}

// allDeps returns all dependencies, deepest first, in the order in which they run.
func (r *role) allDeps() []*role {
	var out []*role
	for _, d := range r.deps {
		out = append(append(out, d.allDeps()...), d)
	}
	return out
}

// defaultVars returns the defaults of the role with those of its dependencies and of the roles that reached it.
func (r *role) defaultVars(chain []*role, merge bool) *value.Dict {
	var out *value.Dict
	for _, d := range r.allDeps() {
		out = vars.Combine(out, d.defaultVars(nil, merge), merge)
	}
	for _, parent := range chain {
		out = vars.Combine(out, parent.defaults, merge)
	}
	return vars.Combine(out, r.defaults, merge)
}

// allVars returns the vars of the role likewise.
func (r *role) allVars(chain []*role, merge bool) *value.Dict {
	var out *value.Dict
	for _, parent := range chain {
		out = vars.Combine(out, parent.vars, merge)
		out = vars.Combine(out, parent.roleVars, merge)
	}
	if r.play.project.cfg.Level.Has(dialect.RoleVarsOwn) {
		return vars.Combine(vars.Combine(out, r.exported(merge), merge), r.vars, merge)
	}
	for _, d := range r.allDeps() {
		out = vars.Combine(out, d.allVars(nil, merge), merge)
	}
	out = vars.Combine(out, r.vars, merge)
	return vars.Combine(out, r.roleVars, merge)
}

// exported returns the vars of a role that the rest of the play sees. Since ansible-core 2.15 these are those of its
// files, and not those of the entry or import that names it.
func (r *role) exported(merge bool) *value.Dict {
	if !r.play.project.cfg.Level.Has(dialect.RoleVarsOwn) {
		return r.allVars(nil, merge)
	}
	var out *value.Dict
	for _, d := range r.allDeps() {
		out = vars.Combine(out, d.roleVars, merge)
	}
	return vars.Combine(out, r.roleVars, merge)
}

func (r *role) allParams(chain []*role, merge bool) *value.Dict {
	var out *value.Dict
	for _, parent := range chain {
		out = vars.Combine(out, parent.params, merge)
	}
	return vars.Combine(out, r.params, merge)
}

// plan returns the role for steps that a chain of roles has reached.
func (r *role) plan(chain []*role, merge bool) *plan.Role {
	return &plan.Role{
		Name: r.found.Name, FQCN: r.fullName(), Path: r.found.Path, Collection: r.found.Collection,
		Identity: r.identity, AllowDuplicates: r.allowDuplicates,
		Defaults: plan.Dict{Dict: r.defaultVars(chain, merge)},
		Vars:     plan.Dict{Dict: r.allVars(chain, merge)},
		Params:   plan.Dict{Dict: r.allParams(chain, merge)},
	}
}

// compile returns the blocks of the role after those of its dependencies, each with the chain of roles that reached it.
// An empty block ends each role.
func (r *role) compile(chain []*role) []*block {
	chain = append(append([]*role(nil), chain...), r)
	var out []*block
	for _, d := range r.deps {
		out = append(out, d.compile(chain)...)
	}
	for _, b := range r.blocks {
		out = append(out, b.reached(chain))
	}
	end := &block{o: &object{play: r.play, role: r, depChain: chain, place: r.place}, roleEnd: true}
	return append(out, end)
}

// handlerBlocks returns the handlers likewise. For a role that is reached again it returns the same ones.
func (r *role) handlerBlocks(chain []*role) []*block {
	if r.handlersSet {
		return r.handlersOut
	}
	r.handlersSet = true
	chain = append(append([]*role(nil), chain...), r)
	for _, d := range r.deps {
		r.handlersOut = append(r.handlersOut, d.handlerBlocks(chain)...)
	}
	for _, b := range r.handlers {
		r.handlersOut = append(r.handlersOut, b.reached(chain))
	}
	return r.handlersOut
}

// validation returns the task that checks a role's parameters, if it has an argument spec for this entry point.
func (l *loader) validation(r *role, meta *roles.Meta) ([]syntax.Entry, error) {
	specs, err := r.found.ArgSpecs(l.project.loader, meta.All)
	if err != nil || specs == nil {
		return nil, err
	}
	entryPoint := "main"
	if r.from.Tasks != "" {
		entryPoint = r.from.Tasks
	}
	v, _ := specs.Get(entryPoint)
	spec, ok := v.(*value.Dict)
	if !ok || spec.Len() == 0 {
		return nil, nil
	}
	name := "Validating arguments against arg spec '" + entryPoint + "'"
	if short, ok := spec.Get("short_description"); ok {
		text, _ := value.Text(short)
		name += " - " + text
	}
	options, ok := spec.Get("options")
	if !ok {
		options = value.NewDict()
	}
	where := value.NewDict()
	where.Set("type", value.Str("role"))
	where.Set("name", value.Str(r.found.Name))
	where.Set("argument_spec_name", value.Str(entryPoint))
	where.Set("path", value.Str(r.found.Path))
	args := value.NewDict()
	args.Set("argument_spec", options)
	args.Set("provided_arguments", overlay(value.NewDict(), r.params))
	args.Set("validate_args_context", where)
	return []syntax.Entry{{Task: &syntax.Task{
		Place: r.place, Name: name, Action: modules.ValidateArgumentSpec, Args: args,
		Tags: []value.Value{value.Str("always")}, Attrs: syntax.Attrs{},
	}}}, nil
}

// roleNames returns the roles of a play for the magic variables: those it names and those that they depend on.
func roleNames(list []*role) (play, dependent []string) {
	for _, r := range list {
		play = append(play, r.fullName())
		for _, d := range r.allDeps() {
			if !slices.Contains(dependent, d.fullName()) {
				dependent = append(dependent, d.fullName())
			}
		}
	}
	return play, dependent
}
