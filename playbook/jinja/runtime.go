package jinja

import (
	"context"

	"hark/modules/py/value"
)

// run is the state of one evaluation: its surroundings, its limits and what has been spent of them.
type run struct {
	ctx    context.Context
	env    *Env
	scope  Scope
	limits Limits
	clone  bool // variables may be changed in place, so they are copied when looked up

	budget  *Budget
	depth   int
	output  int
	unsafe  bool
	modules map[*Template]*module
}

func (r *run) step() error { return r.spend(1) }

func (r *run) spend(n int) error {
	if r == nil {
		return nil
	}
	before := r.budget.Steps
	r.budget.Steps -= n
	if r.budget.Steps < 0 || n < 0 {
		r.budget.Steps = min(r.budget.Steps, -1)
		return &LimitError{"the template takes too many steps"}
	}
	if before>>10 != r.budget.Steps>>10 {
		return r.ctx.Err()
	}
	return nil
}

func (r *run) enter() error {
	r.depth++
	if r.depth > r.limits.Depth {
		return &value.Error{Type: "RecursionError", Msg: "maximum recursion depth exceeded"}
	}
	return r.step()
}

func (r *run) leave() { r.depth-- }

// frame is the running state of a function: of the root of a template, a block, a macro.
type frame struct {
	run    *run
	names  *names
	slots  []value.Value
	up     *frame // of the function around it
	out    []value.Value
	parent *Template // that was extended
}

func (f *frame) inner(names *names, fn *function) *frame {
	return &frame{run: f.run, names: names, slots: make([]value.Value, len(fn.slots)), up: f}
}

// write prints a node.
func (f *frame) write(v value.Value) error {
	f.out = append(f.out, v)
	n := 16
	if s, ok := value.Text(v); ok {
		n = len(s)
	}
	f.run.output += n
	if f.run.output > f.run.limits.Output {
		return &LimitError{"the template prints too much"}
	}
	return f.run.spend(n >> 6)
}

// capture runs body and gives what it prints.
func (f *frame) capture(body execFunc) ([]value.Value, error) {
	before := f.out
	f.out = nil
	err := body(f)
	out := f.out
	f.out = before
	return out, err
}

// names is what a name that no scope sets is looked up in: Jinja's context.
type names struct {
	template *Template
	vars     map[string]value.Value // set at the top level of the template
	exported map[string]bool
	locals   map[string]value.Value // given by an including template
	bare     bool                   // without the variables of the run
	blocks   map[string][]*block
}

func newNames(t *Template) *names {
	n := &names{template: t}
	n.fillBlocks()
	return n
}

// fillBlocks notes the blocks of the template, which those that it extends add to.
func (n *names) fillBlocks() {
	if len(n.template.blocks) == 0 {
		return
	}
	n.blocks = map[string][]*block{}
	for name, b := range n.template.blocks {
		n.blocks[name] = []*block{b}
	}
}

// lookup resolves a name; nil means that it is not defined.
func (n *names) lookup(r *run, name string) (value.Value, error) {
	v, err := n.find(r, name)
	if v == nil || err != nil {
		return nil, err
	}
	if !r.unsafe && !n.template.travels() {
		r.unsafe = value.HasUnsafe(v)
	}
	return v, nil
}

func (n *names) find(r *run, name string) (value.Value, error) {
	if v, ok := n.vars[name]; ok {
		return v, nil
	}
	if v, ok := n.locals[name]; ok {
		return v, nil
	}
	if !n.bare && r.scope != nil {
		v, ok, err := r.scope.Var(r.ctx, name)
		if err != nil {
			return nil, err
		}
		if ok {
			if r.clone {
				v = value.Clone(v)
			}
			return v, nil
		}
	}
	if r.env != nil {
		if v, ok := r.env.Globals[name]; ok {
			return v, nil
		}
	}
	return nil, nil
}

func (n *names) set(name string, v value.Value, export bool) {
	if n.vars == nil {
		n.vars = map[string]value.Value{}
		n.exported = map[string]bool{}
	}
	n.vars[name] = v
	if export && name[0] != '_' {
		n.exported[name] = true
	}
}

// derive returns a context that sees all of n and the local variables over it.
func (n *names) derive(t *Template, locals map[string]value.Value) *names {
	d := newNames(t)
	d.bare = n.bare
	d.locals = make(map[string]value.Value, len(n.locals)+len(n.vars)+len(locals))
	for _, layer := range []map[string]value.Value{n.locals, n.vars, locals} {
		for k, v := range layer {
			if v != nil {
				d.locals[k] = v
			}
		}
	}
	return d
}

// evalFunc computes an expression, execFunc executes statements.
type (
	evalFunc func(f *frame) (value.Value, error)
	execFunc func(f *frame) error
)

// call makes what a filter, test or function gets to know.
func (f *frame) call(t *Template, name string, line int) *Call {
	return &Call{Ctx: f.run.ctx, Env: f.run.env, Scope: f.run.scope, Name: name, Filename: t.name, Line: line, run: f.run}
}
