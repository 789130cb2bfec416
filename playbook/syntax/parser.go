package syntax

import (
	"slices"

	"hark/modules/dialect"
	"hark/modules/py/cwd"
	"hark/modules/py/value"
)

// Grammar reads playbooks and task files. Its methods report all errors in the form of a file together: the error is an
// *Error or an Errors. It may be used concurrently if its Loader may.
type Grammar struct {
	Loader *Loader
	// IsAction reports whether a name is that of an action or module; collections are the `collections` in force. The
	// error is that of an action that was removed. Nil accepts every name.
	IsAction func(name string, collections []string) (bool, error)
	// Foresee, if set, is called with the roles of a play before its tasks are read: roles may contain modules.
	Foresee func(file string, entries []*RoleEntry, collections []string)
	// IsLookup reports whether a name may follow with_; nil accepts every name.
	IsLookup func(name string) bool
	// LenientTasks makes unknown keywords of tasks a warning (invalid_task_attribute_failed=False).
	LenientTasks bool
}

// TaskFile is what surrounds the file or list that Tasks read.
type TaskFile struct {
	// Handlers says that the entries are handlers.
	Handlers bool
	// Collections are those of the file's role or play.
	Collections []string
}

// Playbook reads a playbook, of a collection if it is in one. Places name the file by its absolute path.
func (g *Grammar) Playbook(file, collection string) (*Playbook, error) {
	file, err := cwd.Abs(file)
	if err != nil {
		return nil, err
	}
	n, err := g.Loader.Once(file)
	if err != nil {
		return nil, err
	}
	r := &reader{report: g.report(file), g: g}
	if collection != "" {
		r.home = []string{collection}
		r.collections = r.home
	}
	l, ok := n.Value.(*value.List)
	switch {
	case value.IsNone(n.Value):
		return nil, &Error{Msg: "Empty playbook, nothing to do: " + file}
	case !ok:
		return nil, g.Loader.Errorf(placeOf(file, n), dialect.PlaybookNotAList.Format, g.class(n.Value), file)
	case len(l.Items) == 0:
		return nil, &Error{Msg: "A playbook must contain at least one play: " + file}
	}
	pb := &Playbook{File: file}
	for _, item := range n.Items {
		pb.Entries = append(pb.Entries, r.playbookEntry(item))
	}
	return pb, Join(r.errs...)
}

// Tasks reads a file of tasks or handlers. An empty file has none.
func (g *Grammar) Tasks(file string, in TaskFile) ([]Entry, error) {
	n, err := g.Loader.Once(file)
	if err != nil {
		return nil, err
	}
	return g.TaskList(file, n, in)
}

// TaskList reads tasks from a node of a file.
func (g *Grammar) TaskList(file string, n *Node, in TaskFile) ([]Entry, error) {
	r := &reader{report: g.report(file), g: g, handlers: in.Handlers, collections: in.Collections}
	if value.IsNone(n.Value) {
		return nil, nil
	}
	entries := r.entries(n, "included task files must contain a list of tasks", placeOf(file, n))
	return entries, Join(r.errs...)
}

// Roles reads a list of roles: the dependencies of a role.
func (g *Grammar) Roles(file string, n *Node) ([]*RoleEntry, error) {
	r := &reader{report: g.report(file), g: g}
	roles := r.roles(n, placeOf(file, n))
	return roles, Join(r.errs...)
}

// Apply reads the mapping of a dynamic include's apply: keywords of a block.
func (g *Grammar) Apply(d *value.Dict, at Place) (*Block, error) {
	r := &reader{report: g.report(at.File), g: g}
	n := nodeOf(d)
	b := &Block{Place: at}
	r.block(n, b, at)
	return b, Join(r.errs...)
}

// report holds the errors of one file, with their places in it.
type report struct {
	loader *Loader
	file   string
	errs   []error
}

func (r *report) place(n *Node) Place { return placeOf(r.file, n) }

// fail records an error at a node, and returns it so that the caller can complete it.
func (r *report) fail(n *Node, format string, a ...any) *Error {
	return r.failAt(r.place(n), format, a...)
}

// failAt records an error at a place.
func (r *report) failAt(p Place, format string, a ...any) *Error {
	e := r.loader.Errorf(p, format, a...)
	r.errs = append(r.errs, e)
	return e
}

// say records an error for which Ansible shows no place.
func (r *report) say(format string, a ...any) *Error { return r.failAt(Place{}, format, a...) }

// reader is one file being read.
type reader struct {
	*report
	g           *Grammar
	handlers    bool
	home        []string // the collection that contains the playbook, in force everywhere
	collections []string // in force here
}

// report returns the errors of a file, none yet.
func (g *Grammar) report(file string) *report { return &report{loader: g.Loader, file: file} }

func (g *Grammar) class(v value.Value) string { return g.Loader.class(v) }

// class returns Python's class of a value of a file.
func (l *Loader) class(v value.Value) string {
	if !l.Level.Has(dialect.PlaybookWords) {
		return Class(v)
	}
	switch v.(type) {
	case *value.Dict:
		return "<class 'ansible.module_utils._internal._datatag._AnsibleTaggedDict'>"
	case *value.List:
		return "<class 'ansible.module_utils._internal._datatag._AnsibleTaggedList'>"
	case value.Source:
		return "<class 'ansible.module_utils._internal._datatag._AnsibleTaggedStr'>"
	case value.Int:
		return "<class 'ansible.module_utils._internal._datatag._AnsibleTaggedInt'>"
	}
	return Class(v)
}

// inherit sets the collections in force for an object with its own list. restore resets them.
func (r *reader) inherit(own []string) (restore func()) {
	before := r.collections
	if own != nil {
		r.collections = slices.Concat(r.home, own)
	}
	return func() { r.collections = before }
}
