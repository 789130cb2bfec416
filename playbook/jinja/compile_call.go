package jinja

import (
	"hark/modules/py/value"
	"hark/playbook/jinja/methods"
)

// args compiles the arguments of a call.
func (c *exprCompiler) args(a callArgs, sc scope) func(f *frame) (*Args, error) {
	if len(a.pos) == 0 && len(a.kw) == 0 && a.star == nil && a.starred == nil {
		none := &Args{}
		return func(*frame) (*Args, error) { return none, nil }
	}
	if out := c.constArgs(a); out != nil {
		return func(*frame) (*Args, error) { return out, nil }
	}
	pos, kw := c.list(a.pos, sc), c.list(a.kw, sc)
	var star, starred evalFunc
	if a.star != nil {
		star = c.expr(a.star, sc)
	}
	if a.starred != nil {
		starred = c.expr(a.starred, sc)
	}
	names := a.names
	return func(f *frame) (*Args, error) {
		out := &Args{}
		var err error
		if out.Pos, err = pos(f); err != nil {
			return nil, err
		}
		if star != nil {
			if err := addStar(f, out, star); err != nil {
				return nil, err
			}
		}
		if len(names) > 0 {
			vals, err := kw(f)
			if err != nil {
				return nil, err
			}
			out.Kw = make([]Kwarg, len(names))
			for i, v := range vals {
				out.Kw[i] = Kwarg{Name: names[i], V: v}
			}
		}
		if starred != nil {
			return out, addStarred(f, out, starred)
		}
		return out, nil
	}
}

// constArgs are arguments that are all constants; nil if some are not. Nobody changes arguments in place.
func (c *exprCompiler) constArgs(a callArgs) *Args {
	if a.star != nil || a.starred != nil {
		return nil
	}
	out := &Args{}
	for _, x := range a.pos {
		k, ok := x.(*constExpr)
		if !ok || c.embeds(k) {
			return nil
		}
		out.Pos = append(out.Pos, k.v)
	}
	for i, x := range a.kw {
		k, ok := x.(*constExpr)
		if !ok || c.embeds(k) {
			return nil
		}
		out.Kw = append(out.Kw, Kwarg{Name: a.names[i], V: k.v})
	}
	return out
}

func addStar(f *frame, out *Args, star evalFunc) error {
	v, err := star(f)
	if err != nil {
		return err
	}
	items, err := value.Elements(v)
	if err != nil {
		return err
	}
	out.Pos = append(out.Pos, items...)
	return nil
}

func addStarred(f *frame, out *Args, starred evalFunc) error {
	v, err := starred(f)
	if err != nil {
		return err
	}
	if u, ok := v.(*value.Undefined); ok {
		return &value.UndefinedError{Msg: u.Msg, Undefined: u}
	}
	d, err := value.ToDict(v)
	if err != nil {
		return value.TypeErrorf("argument after ** must be a mapping, not %s", v.Type())
	}
	for i := range d.Len() {
		k, item := d.At(i)
		name, ok := value.Text(k)
		if !ok {
			return value.TypeErrorf("keywords must be strings")
		}
		if _, twice := out.KwOf(name); twice {
			return value.TypeErrorf("got multiple values for keyword argument '%s'", name)
		}
		out.Kw = append(out.Kw, Kwarg{Name: name, V: item})
	}
	return nil
}

// call compiles a call. caller, if given, is passed as the keyword argument of that name.
func (c *exprCompiler) call(x *callExpr, sc scope, caller evalFunc) evalFunc {
	args := c.args(x.args, sc)
	t, line := c.t, x.exprLine()
	if caller != nil {
		plain := args
		args = func(f *frame) (*Args, error) {
			a, err := plain(f)
			if err != nil {
				return nil, err
			}
			v, err := caller(f)
			return &Args{Pos: a.Pos, Kw: append(a.Kw, Kwarg{Name: "caller", V: v})}, err
		}
	}
	if attr, ok := x.fn.(*attrExpr); ok {
		return c.methodCall(attr, args, sc, line)
	}
	fn := c.expr(x.fn, sc)
	return func(f *frame) (value.Value, error) {
		v, err := fn(f)
		if err != nil {
			return nil, err
		}
		return t.invoke(f, v, args, line)
	}
}

func (t *Template) invoke(f *frame, fn value.Value, args func(*frame) (*Args, error), line int) (value.Value, error) {
	a, err := args(f)
	if err != nil {
		return nil, err
	}
	if err := f.run.step(); err != nil {
		return nil, err
	}
	if t.o.Defer == nil {
		return invoke(f.call(t, "", line), fn, a)
	}
	return t.invokeDeferred(f.call(t, "", line), fn, a)
}

// methodCall compiles x.name(args) without making the bound method where it can.
func (c *exprCompiler) methodCall(x *attrExpr, args func(*frame) (*Args, error), sc scope, line int) evalFunc {
	obj, name, t := c.expr(x.x, sc), x.name, c.t
	return func(f *frame) (value.Value, error) {
		v, err := obj(f)
		if err != nil {
			return nil, err
		}
		if m := methods.Of(v, name); m != nil {
			a, err := args(f)
			if err != nil {
				return nil, err
			}
			if err := f.run.step(); err != nil {
				return nil, err
			}
			if u := t.traveller("", v, a); u != nil {
				return u, nil
			}
			out, err := m(v, a)
			return t.deferred("", name, out, err)
		}
		fn, err := GetAttr(v, name)
		if err != nil {
			return nil, err
		}
		return t.invoke(f, fn, args, line)
	}
}

// filterOf compiles a filter. The first of the filters of a block has no input in the tree: it gets body.
func (c *exprCompiler) filterOf(x *filterExpr, body evalFunc, sc scope) evalFunc {
	in := body
	if inner, ok := x.x.(*filterExpr); ok {
		in = c.filterOf(inner, body, sc)
	} else if x.x != nil {
		in = c.expr(x.x, sc)
	}
	filter := c.findFilter(x, sc)
	args := c.args(x.args, sc)
	t, name, line := c.t, x.name, x.exprLine()
	return func(f *frame) (value.Value, error) {
		v, a, err := operands(f, in, args)
		if err != nil {
			return nil, err
		}
		if u := t.traveller(name, v, a); u != nil {
			return u, nil
		}
		out, err := filter(f.call(t, name, line), v, a)
		if err = reached(err, sc, "filter", name); isLost(err) {
			return nil, err
		}
		return t.deferred("filter", name, out, sealedFirst(err, v, a))
	}
}

// operands returns what a filter or test works on, for one step of the run.
func operands(f *frame, in evalFunc, args func(*frame) (*Args, error)) (value.Value, *Args, error) {
	v, err := in(f)
	if err != nil {
		return nil, nil, err
	}
	a, err := args(f)
	if err != nil {
		return nil, nil, err
	}
	return v, a, f.run.step()
}

// sealedFirst is the error of a filter or test: that a vault string cannot be opened is why, if there is one.
func sealedFirst(err error, in value.Value, args *Args) error {
	if err == nil {
		return nil
	}
	if why := value.Sealed(in); why != nil {
		return why
	}
	for _, a := range args.Pos {
		if why := value.Sealed(a); why != nil {
			return why
		}
	}
	return err
}

func (c *exprCompiler) findFilter(x *filterExpr, sc scope) Filter {
	env := c.t.o.Env
	if f := env.filter(x.name); f != nil {
		return f
	}
	if sc.soft && !env.strict() {
		return func(*Call, value.Value, *Args) (value.Value, error) { return nil, lost("filter", x.name) }
	}
	c.fail(x.exprLine(), "%s", env.unknown("filter", x.name))
	return nil
}

func (c *exprCompiler) test(x *testExpr, sc scope) evalFunc {
	env := c.t.o.Env
	test := env.test(x.name)
	switch {
	case test == nil && sc.soft && !env.strict():
		test = func(*Call, value.Value, *Args) (bool, error) { return false, lost("test", x.name) }
	case test == nil:
		c.fail(x.exprLine(), "%s", env.unknown("test", x.name))
	}
	in, args := c.expr(x.x, sc), c.args(x.args, sc)
	t, name, line := c.t, x.name, x.exprLine()
	return func(f *frame) (value.Value, error) {
		v, a, err := operands(f, in, args)
		if err != nil {
			return nil, err
		}
		if u := t.traveller(name, v, a); u != nil {
			return u, nil
		}
		ok, err := test(f.call(t, name, line), v, a)
		if err = reached(err, sc, "test", name); isLost(err) {
			return nil, err
		}
		return t.deferred("test", name, value.Bool(ok), sealedFirst(err, v, a))
	}
}
