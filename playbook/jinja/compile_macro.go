package jinja

import "hark/modules/py/value"

// macro is a macro or the body of a call block as a value, bound to the place where it was defined.
type macro struct {
	def *macroDef
	up  *frame
}

// macroDef is a compiled macro.
type macroDef struct {
	t        *Template
	name     string // "" for a call block
	fn       *function
	params   []*local
	names    []string
	defaults []evalFunc // one per parameter, nil without default
	enter    execFunc
	body     execFunc

	caller, kwargs, varargs *local // nil if the macro does not use them
	explicitCaller          bool
}

// Type names Jinja's class.
func (*macro) Type() string { return "Macro" }

// QualifiedType names Jinja's class with its module.
func (*macro) QualifiedType() string { return "jinja2.runtime.Macro" }

// Str is Repr.
func (m *macro) Str() string { return m.Repr() }

// Repr prints as Jinja does.
func (m *macro) Repr() string {
	if m.def.name == "" {
		return "<Macro anonymous>"
	}
	return "<Macro " + value.ReprText(m.def.name) + ">"
}

// Attr returns what templates may ask of a macro.
func (m *macro) Attr(name string) (value.Value, bool) {
	d := m.def
	switch name {
	case "name":
		if d.name == "" {
			return value.None{}, true
		}
		return value.Str(d.name), true
	case "arguments":
		out := &value.Tuple{}
		for _, n := range d.names {
			out.Items = append(out.Items, value.Str(n))
		}
		return out, true
	case "catch_kwargs":
		return value.Bool(d.kwargs != nil), true
	case "catch_varargs":
		return value.Bool(d.varargs != nil), true
	case "caller":
		return value.Bool(d.caller != nil), true
	}
	return nil, false
}

// Call runs the macro. Its result is what it prints.
func (m *macro) Call(c *Call, args *Args) (value.Value, error) {
	d := m.def
	r := m.up.run
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.leave()
	f := m.up.inner(m.up.names, d.fn)
	if err := d.bind(f, args); err != nil {
		return nil, err
	}
	if err := d.enter(f); err != nil {
		return nil, err
	}
	for i, p := range d.params {
		if f.slots[p.index] != nil {
			continue
		}
		if d.defaults[i] == nil {
			f.slots[p.index] = &value.Undefined{Name: d.names[i],
				Msg: "parameter " + value.ReprText(d.names[i]) + " was not provided"}
			continue
		}
		v, err := d.defaults[i](f)
		if err != nil {
			return nil, err
		}
		f.slots[p.index] = v
	}
	if err := d.body(f); err != nil {
		return nil, err
	}
	return d.t.concat(f.out)
}

// bind puts the arguments into the slots of the parameters.
func (d *macroDef) bind(f *frame, args *Args) error {
	n := min(len(args.Pos), len(d.params))
	for i := range n {
		f.slots[d.params[i].index] = args.Pos[i]
	}
	used := map[string]bool{}
	for i := n; i < len(d.params); i++ {
		if v, ok := args.KwOf(d.names[i]); ok {
			f.slots[d.params[i].index] = v
			used[d.names[i]] = true
		}
	}
	if d.caller != nil && !d.explicitCaller {
		v, ok := args.KwOf("caller")
		if !ok || value.IsNone(v) {
			v = &value.Undefined{Name: "caller", Msg: "No caller defined"}
		}
		used["caller"] = true
		f.slots[d.caller.index] = v
	}
	if err := d.bindKwargs(f, args, used); err != nil {
		return err
	}
	if d.varargs != nil {
		f.slots[d.varargs.index] = value.NewTuple(args.Pos[n:]...)
	} else if len(args.Pos) > len(d.params) {
		return value.TypeErrorf("macro %s takes not more than %d argument(s)", d.quoted(), len(d.params))
	}
	return nil
}

func (d *macroDef) bindKwargs(f *frame, args *Args, used map[string]bool) error {
	rest := value.NewDict()
	for _, k := range args.Kw {
		if !used[k.Name] {
			rest.SetKey(value.Str(k.Name), k.V)
		}
	}
	if d.kwargs != nil {
		f.slots[d.kwargs.index] = rest
		return nil
	}
	if rest.Len() == 0 {
		return nil
	}
	if _, ok := rest.Get("caller"); ok {
		return value.TypeErrorf("macro %s was invoked with two values for the special caller argument."+
			" This is most likely a bug.", d.quoted())
	}
	first, _ := rest.At(0)
	name, _ := value.Text(first)
	return value.TypeErrorf("macro %s takes no keyword argument %s", d.quoted(), value.ReprText(name))
}

func (d *macroDef) quoted() string {
	if d.name == "" {
		return "None"
	}
	return value.ReprText(d.name)
}

// macroDef compiles the body of a macro or call block.
func (c *compiler) macroDef(st *macroStmt, sc scope) *macroDef {
	d := &macroDef{t: c.t, name: st.name, fn: newFunction(c.fn)}
	outer := c.fn
	c.fn = d.fn
	defer func() { c.fn = outer }()
	inner := scope{syms: newSymbols(sc.syms, d.fn)}
	for _, p := range st.params {
		d.params = append(d.params, inner.syms.declare(p.name))
		d.names = append(d.names, p.name)
	}
	c.specialParams(d, st, inner)
	inner.syms.exprs(st.defaults)
	inner.syms.statements(st.body)
	d.enter = c.enter(inner.syms)
	d.defaults = make([]evalFunc, len(st.params))
	for i, x := range st.defaults {
		d.defaults[len(st.params)-len(st.defaults)+i] = c.expr(x, inner)
	}
	d.body = c.statements(st.body, inner)
	return d
}

// specialParams declares caller, kwargs and varargs if the body uses them.
func (c *compiler) specialParams(d *macroDef, st *macroStmt, inner scope) {
	named := map[string]int{}
	for i, p := range st.params {
		named[p.name] = i + 1
	}
	if reads(st.body, "caller") {
		if i := named["caller"]; i > 0 {
			d.explicitCaller = true
			d.caller = d.params[i-1]
			if i <= len(st.params)-len(st.defaults) {
				c.fail(st.stmtLine(),
					`When defining macros or call blocks the special "caller" argument must be omitted or be given a default.`)
			}
		} else {
			d.caller = inner.syms.declare("caller")
		}
	}
	if named["kwargs"] == 0 && reads(st.body, "kwargs") {
		d.kwargs = inner.syms.declare("kwargs")
	}
	if named["varargs"] == 0 && reads(st.body, "varargs") {
		d.varargs = inner.syms.declare("varargs")
	}
}

func (c *compiler) macro(st *macroStmt, sc scope) execFunc {
	d := c.macroDef(st, sc)
	assign := c.assignName(st.name, sc)
	return func(f *frame) error { return assign(f, &macro{def: d, up: f}) }
}

func (c *compiler) callBlock(st *callStmt, sc scope) execFunc {
	d := c.macroDef(st.macro, sc)
	caller := func(f *frame) (value.Value, error) { return &macro{def: d, up: f}, nil }
	call := c.call(st.call, sc, caller)
	return func(f *frame) error {
		v, err := call(f)
		if err != nil {
			return err
		}
		return f.write(v)
	}
}
