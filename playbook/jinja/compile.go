package jinja

import (
	"errors"

	"hark/modules/py/value"
)

// scope is where code is compiled: its names and what kind of place it is.
type scope struct {
	syms     *symbols
	toplevel bool // names that are set here are exported
	root     bool // directly in the template
	checked  bool // prints nothing once the template has extended another
	soft     bool // may not be reached: what is missing is told when it is
}

func (sc scope) inner() scope {
	return scope{syms: newSymbols(sc.syms, sc.syms.fn), checked: sc.checked}
}

// compiler turns the tree of one template into closures.
type compiler struct {
	exprCompiler
	blocks []*blockStmt   // in order
	known  bool           // an extends is certain to be reached
	has    bool           // the template has an extends at all
	names  map[string]int // of blocks
}

// compileTemplate compiles t.
func compileTemplate(t *Template) (err error) {
	c := &compiler{exprCompiler: exprCompiler{t: t}, names: map[string]int{}}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case bailout:
			var se *SyntaxError
			if errors.As(r.err, &se) {
				se.Name = t.name
			}
			err = r.err
		default:
			panic(r)
		}
	}()
	c.survey(t.body)
	t.fn = newFunction(nil)
	c.fn = t.fn
	sc := scope{syms: newSymbols(nil, t.fn), toplevel: true, root: true, checked: c.has}
	if t.x != nil {
		sc.syms.expr(t.x)
		enter := c.enter(sc.syms)
		x := c.expr(t.x, sc)
		t.eval = func(f *frame) (value.Value, error) {
			if err := enter(f); err != nil {
				return nil, err
			}
			return x(f)
		}
		return nil
	}
	t.root = c.compileRoot(t, sc)
	c.compileBlocks(t)
	return nil
}

func (c *exprCompiler) fail(line int, format string, args ...any) {
	panic(bailout{syntaxErrorf(line, format, args...)})
}

// survey finds blocks and extends wherever they are, and whether variables may be changed in place.
func (c *compiler) survey(body []stmt) {
	for _, st := range body {
		switch st := st.(type) {
		case *blockStmt:
			if c.names[st.name] > 0 {
				c.fail(st.stmtLine(), "block %s defined twice", value.ReprText(st.name))
			}
			c.names[st.name]++
			c.blocks = append(c.blocks, st)
			c.survey(st.body)
		case *extendsStmt:
			c.has = true
			c.t.mutates = true
		case *includeStmt, *importStmt, *fromStmt:
			c.t.mutates = true
		}
		eachPart(st, func(expr) {}, c.surveyExpr, c.survey)
	}
	if c.t.x != nil {
		c.surveyExpr(c.t.x)
	}
}

func (c *compiler) surveyExpr(x expr) {
	if x == nil {
		return
	}
	switch x := x.(type) {
	case *attrExpr:
		c.t.mutates = c.t.mutates || mutator(x.name)
	case *itemExpr:
		if k, ok := x.key.(*constExpr); ok {
			s, _ := value.Text(k.v)
			c.t.mutates = c.t.mutates || mutator(s)
		}
	case *filterExpr:
		c.t.mutates = c.t.mutates || x.name == "attr"
	}
	eachChild(x, c.surveyExpr)
}

// mutator reports whether a method of that name changes a list or dict.
func mutator(name string) bool {
	switch name {
	case "append", "extend", "insert", "remove", "pop", "popitem", "clear", "sort", "reverse",
		"update", "setdefault":
		return true
	}
	return false
}

func (c *compiler) compileRoot(t *Template, sc scope) execFunc {
	var self *local
	if reads(t.body, "self") {
		self = sc.syms.declare("self")
	}
	sc.syms.statements(t.body)
	enter := c.enter(sc.syms)
	body := c.statements(t.body, sc)
	return func(f *frame) error {
		if self != nil {
			f.slots[self.index] = &templateRef{f: f}
		}
		if err := enter(f); err != nil {
			return err
		}
		if err := body(f); err != nil {
			return err
		}
		if f.parent == nil {
			return nil
		}
		out, err := f.parent.render(f.run, f.names)
		f.out = append(f.out, out...)
		return err
	}
}

func (c *compiler) compileBlocks(t *Template) {
	if len(c.blocks) == 0 {
		return
	}
	t.blocks = map[string]*block{}
	for _, st := range c.blocks {
		b := &block{name: st.name, t: t, fn: newFunction(nil)}
		t.blocks[st.name] = b
		c.fn = b.fn
		sc := scope{syms: newSymbols(nil, b.fn)}
		var self, super *local
		if reads(st.body, "self") {
			self = sc.syms.declare("self")
		}
		if reads(st.body, "super") {
			super = sc.syms.declare("super")
		}
		sc.syms.statements(st.body)
		enter := c.enter(sc.syms)
		body := c.statements(st.body, sc)
		b.exec = func(f *frame) error {
			if self != nil {
				f.slots[self.index] = &templateRef{f: f}
			}
			if super != nil {
				f.slots[super.index] = superOf(f, b)
			}
			if err := enter(f); err != nil {
				return err
			}
			return body(f)
		}
	}
}

// enter returns the names of a scope their first values.
func (c *compiler) enter(s *symbols) execFunc {
	var loads []load
	var hops []int
	for _, b := range s.bound {
		ld := b.load
		if ld.kind == loadParam {
			continue
		}
		if loads == nil {
			loads, hops = make([]load, 0, len(s.bound)), make([]int, 0, len(s.bound))
		}
		loads = append(loads, ld)
		n := 0
		if ld.from != nil {
			n = c.hops(ld.from)
		}
		hops = append(hops, n)
	}
	if loads == nil {
		return func(*frame) error { return nil }
	}
	name := c.t.name
	return func(f *frame) error {
		for i, ld := range loads {
			var v value.Value
			switch ld.kind {
			case loadResolve:
				var err error
				if v, err = f.names.lookup(f.run, ld.to.name); err != nil {
					return at(err, name, 1)
				}
			case loadAlias:
				v = up(f, hops[i]).slots[ld.from.index]
			}
			f.slots[ld.to.index] = v
		}
		return nil
	}
}

// leave forgets the names of a scope.
func leave(f *frame, s *symbols) {
	for _, b := range s.bound {
		f.slots[b.to.index] = nil
	}
}

// hops returns how many functions lie between the current one and that of a name.
func (c *exprCompiler) hops(l *local) int {
	n := 0
	for fn := c.fn; fn != l.fn; fn = fn.parent {
		n++
	}
	return n
}

func up(f *frame, hops int) *frame {
	for ; hops > 0; hops-- {
		f = f.up
	}
	return f
}

// statements compiles a body.
func (c *compiler) statements(body []stmt, sc scope) execFunc {
	type placed struct {
		exec execFunc
		line int
	}
	list := make([]placed, 0, len(body))
	for _, st := range body {
		if exec := c.statement(st, sc); exec != nil {
			list = append(list, placed{exec, st.stmtLine()})
		}
	}
	if len(list) == 0 {
		return func(*frame) error { return nil }
	}
	name := c.t.name
	return func(f *frame) error {
		for i := range list {
			err := list[i].exec(f)
			if err == nil {
				continue
			}
			if err == errBreak || err == errContinue {
				return err
			}
			return at(err, name, list[i].line)
		}
		return nil
	}
}

// statement compiles one statement; nil does nothing.
func (c *compiler) statement(st stmt, sc scope) execFunc {
	switch st := st.(type) {
	case *outputStmt:
		return c.output(st, sc)
	case *ifStmt:
		return c.ifs(st, sc)
	case *forStmt:
		return c.loop(st, sc)
	case *setStmt:
		return c.set(st, sc)
	case *setBlockStmt:
		return c.setBlock(st, sc)
	case *withStmt:
		return c.with(st, sc)
	case *filterStmt:
		return c.filterBlock(st, sc)
	case *scopeStmt:
		return c.scopeOf(st, sc)
	case *macroStmt:
		return c.macro(st, sc)
	case *callStmt:
		return c.callBlock(st, sc)
	case *blockStmt:
		return c.block(st, sc)
	case *extendsStmt:
		return c.extends(st, sc)
	case *includeStmt:
		return c.include(st, sc)
	case *importStmt:
		return c.imports(st, sc)
	case *fromStmt:
		return c.from(st, sc)
	case *doStmt:
		x := c.expr(st.x, sc)
		return func(f *frame) error {
			_, err := x(f)
			return err
		}
	case *loopControl:
		err := errContinue
		if st.leave {
			err = errBreak
		}
		return func(*frame) error { return err }
	}
	c.fail(st.stmtLine(), "internal error: unknown statement")
	return nil
}

// Loop controls travel as errors up to their loop.
var (
	errBreak    = errors.New("break outside of a loop")
	errContinue = errors.New("continue outside of a loop")
)
