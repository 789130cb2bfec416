package jinja

import (
	"context"
	"strings"
	"sync/atomic"

	"hark/modules/py/value"
)

// Template is a compiled template. It is safe for concurrent use.
type Template struct {
	name    string
	o       Options
	body    []stmt
	x       expr // of a bare expression
	root    execFunc
	eval    evalFunc
	fn      *function
	blocks  map[string]*block
	mutates bool
	// printed is how many pieces the last evaluation printed: the next has room for them from the start.
	printed atomic.Int32
}

// block is one definition of a block.
type block struct {
	name string
	t    *Template
	fn   *function
	exec execFunc
}

// Parse compiles a template.
func Parse(src string, o Options) (*Template, error) {
	if err := o.Syntax.check(); err != nil {
		return nil, err
	}
	body, err := parseTemplate(src, &o)
	if err != nil {
		return nil, err
	}
	t := &Template{name: o.Name, o: o, body: body}
	return t, compileTemplate(t)
}

// ParseExpr compiles a bare expression, without delimiters.
func ParseExpr(src string, o Options) (*Template, error) {
	x, err := parseExpression(src, &o)
	if err != nil {
		return nil, err
	}
	t := &Template{name: o.Name, o: o, x: x}
	return t, compileTemplate(t)
}

// Eval evaluates the template. The result is what Options.Concat makes of what it prints, or the value of a bare
// expression. It is unsafe if an unsafe variable was looked up.
func (t *Template) Eval(ctx context.Context, s Scope) (value.Value, error) {
	v, unsafe, err := t.EvalUnsafe(ctx, s)
	if err == nil && unsafe {
		v = value.Unsafe(v)
	}
	return v, err
}

// EvalUnsafe is Eval that reports whether the result must be made unsafe instead of doing it.
func (t *Template) EvalUnsafe(ctx context.Context, s Scope) (v value.Value, unsafe bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	// all in one piece of memory, as most templates are as short as they are many
	e := &struct {
		run   run
		frame frame
		names names
		slots [4]value.Value
		out   [4]value.Value
	}{
		run:   run{ctx: ctx, env: t.o.Env, scope: s, limits: t.o.Limits.withDefaults(), clone: t.mutates},
		names: names{template: t},
	}
	e.names.fillBlocks()
	e.frame = frame{run: &e.run, names: &e.names, slots: e.slots[:], out: e.out[:0]}
	if len(t.fn.slots) > len(e.slots) {
		e.frame.slots = make([]value.Value, len(t.fn.slots))
	}
	if shared, ok := s.(Spender); ok {
		e.run.budget = shared.Budget()
	}
	if e.run.budget == nil {
		e.run.budget = NewBudget()
	}
	if t.eval != nil {
		v, err = t.eval(&e.frame)
		return v, e.run.unsafe, at(err, t.name, 1)
	}
	if n := int(t.printed.Load()); n > len(e.out) {
		e.frame.out = make([]value.Value, 0, n)
	}
	if err := t.root(&e.frame); err != nil {
		return nil, false, at(err, t.name, 1)
	}
	t.printed.Store(int32(min(len(e.frame.out), 1<<16)))
	v, err = t.concat(e.frame.out)
	return v, e.run.unsafe, at(err, t.name, 1)
}

// concat makes the result of nodes.
func (t *Template) concat(nodes []value.Value) (value.Value, error) {
	if t.o.Concat != nil {
		return t.o.Concat(nodes)
	}
	var b strings.Builder
	b.Grow(value.TextSize(nodes))
	for _, n := range nodes {
		s, err := value.ToStr(n)
		if err != nil {
			return nil, err
		}
		b.WriteString(s)
	}
	return value.Str(b.String()), nil
}

// render runs the whole template into nodes, in the names of an including template.
func (t *Template) render(r *run, n *names) ([]value.Value, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.leave()
	f := &frame{run: r, names: n, slots: make([]value.Value, len(t.fn.slots))}
	err := t.root(f)
	return f.out, err
}

// module is a template that was imported: what it set at its top level.
type module struct {
	t     *Template
	names *names
	out   []value.Value
}

// Type names Jinja's class.
func (*module) Type() string { return "TemplateModule" }

// QualifiedType names Jinja's class with its module.
func (*module) QualifiedType() string { return "jinja2.environment.TemplateModule" }

// Attr returns what the template exports.
func (m *module) Attr(name string) (value.Value, bool) {
	if !m.names.exported[name] {
		return nil, false
	}
	v, ok := m.names.vars[name]
	return v, ok
}

// Str returns what the template prints.
func (m *module) Str() string {
	v, err := m.t.concat(m.out)
	if err != nil {
		return ""
	}
	s, err := value.ToStr(v)
	if err != nil {
		return ""
	}
	return s
}

// Repr prints as Jinja does.
func (m *module) Repr() string { return "<TemplateModule " + value.ReprText(m.t.name) + ">" }

// module runs the template without the variables of the run, once in an evaluation.
func (t *Template) module(r *run) (*module, error) {
	if m := r.modules[t]; m != nil {
		return m, nil
	}
	n := newNames(t)
	n.bare = true
	m, err := t.moduleIn(r, n)
	if err != nil {
		return nil, err
	}
	if r.modules == nil {
		r.modules = map[*Template]*module{}
	}
	r.modules[t] = m
	return m, nil
}

func (t *Template) moduleIn(r *run, n *names) (*module, error) {
	out, err := t.render(r, n)
	return &module{t: t, names: n, out: out}, err
}
