package jinja

import "hark/modules/py/value"

// assignFunc stores a value in a target.
type assignFunc func(f *frame, v value.Value) error

// assign compiles a target. Names set at the top level of a template are exported.
func (c *compiler) assign(target expr, sc scope) assignFunc {
	switch target := target.(type) {
	case *nameExpr:
		return c.assignName(target.name, sc)
	case *nsRef:
		return c.assignNamespace(target, sc)
	case *tupleExpr:
		items := make([]assignFunc, len(target.items))
		for i, x := range target.items {
			items[i] = c.assign(x, sc)
		}
		return func(f *frame, v value.Value) error { return unpack(f, v, items) }
	}
	c.fail(target.exprLine(), "internal error: cannot assign")
	return nil
}

func (c *compiler) assignName(name string, sc scope) assignFunc {
	index := sc.syms.find(name).index
	if !sc.toplevel {
		return func(f *frame, v value.Value) error {
			f.slots[index] = v
			return nil
		}
	}
	return func(f *frame, v value.Value) error {
		f.slots[index] = v
		f.names.set(name, v, true)
		return nil
	}
}

func (c *compiler) assignNamespace(target *nsRef, sc scope) assignFunc {
	read := c.name(&nameExpr{target.pos, target.name}, sc)
	return func(f *frame, v value.Value) error {
		x, err := read(f)
		if err != nil {
			return err
		}
		ns, ok := x.(*value.Namespace)
		if !ok {
			return value.Errorf("TemplateRuntimeError", "cannot assign attribute on non-namespace object")
		}
		ns.Attrs.SetKey(value.Str(target.attr), v)
		return nil
	}
}

func unpack(f *frame, v value.Value, targets []assignFunc) error {
	items, err := value.Elements(v)
	if err != nil {
		if _, ok := err.(*value.Error); ok {
			return value.TypeErrorf("cannot unpack non-iterable %s object", v.Type())
		}
		return err
	}
	if len(items) < len(targets) {
		return value.ValueErrorf("not enough values to unpack (expected %d, got %d)", len(targets), len(items))
	}
	if len(items) > len(targets) {
		return value.ValueErrorf("too many values to unpack (expected %d)", len(targets))
	}
	for i, assign := range targets {
		if err := assign(f, items[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *compiler) set(st *setStmt, sc scope) execFunc {
	x := c.expr(st.x, sc)
	assign := c.assign(st.target, sc)
	return func(f *frame) error {
		v, err := x(f)
		if err != nil {
			return err
		}
		return assign(f, v)
	}
}

// captured compiles a body whose output is made one value.
func (c *compiler) captured(body []stmt, filter *filterExpr, sc scope) evalFunc {
	inner := sc.inner()
	inner.checked = false
	inner.syms.statements(body)
	if filter != nil {
		inner.syms.expr(filter)
	}
	enter := c.enter(inner.syms)
	exec := c.statements(body, inner)
	t := c.t
	made := func(f *frame) (value.Value, error) {
		if err := enter(f); err != nil {
			return nil, err
		}
		nodes, err := f.capture(exec)
		if err != nil {
			return nil, err
		}
		return t.concat(nodes)
	}
	if filter != nil {
		made = c.filterOf(filter, made, inner)
	}
	return func(f *frame) (value.Value, error) {
		v, err := made(f)
		leave(f, inner.syms)
		return v, err
	}
}

func (c *compiler) setBlock(st *setBlockStmt, sc scope) execFunc {
	made := c.captured(st.body, st.filter, sc)
	assign := c.assign(st.target, sc)
	return func(f *frame) error {
		v, err := made(f)
		if err != nil {
			return err
		}
		return assign(f, v)
	}
}

func (c *compiler) filterBlock(st *filterStmt, sc scope) execFunc {
	made := c.captured(st.body, st.filter, sc)
	return func(f *frame) error {
		v, err := made(f)
		if err != nil {
			return err
		}
		return f.write(v)
	}
}

func (c *compiler) with(st *withStmt, sc scope) execFunc {
	inner := sc.inner()
	for _, t := range st.targets {
		inner.syms.target(t, true)
	}
	inner.syms.statements(st.body)
	enter := c.enter(inner.syms)
	targets := make([]assignFunc, len(st.targets))
	values := make([]evalFunc, len(st.values))
	for i := range st.targets {
		targets[i] = c.assign(st.targets[i], inner)
		values[i] = c.expr(st.values[i], sc)
	}
	body := c.statements(st.body, inner)
	return func(f *frame) error {
		defer leave(f, inner.syms)
		if err := enter(f); err != nil {
			return err
		}
		for i, assign := range targets {
			v, err := values[i](f)
			if err != nil {
				return err
			}
			if err := assign(f, v); err != nil {
				return err
			}
		}
		return body(f)
	}
}

func (c *compiler) scopeOf(st *scopeStmt, sc scope) execFunc {
	inner := sc.inner()
	inner.syms.statements(st.body)
	enter := c.enter(inner.syms)
	body := c.statements(st.body, inner)
	return func(f *frame) error {
		defer leave(f, inner.syms)
		if err := enter(f); err != nil {
			return err
		}
		return body(f)
	}
}
