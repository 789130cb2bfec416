package jinja

import (
	"fmt"

	"hark/modules/py/value"
)

// loop compiles a for.
func (c *compiler) loop(st *forStmt, sc scope) execFunc {
	if st.recursive {
		return c.recursiveLoop(st, sc)
	}
	iter := c.expr(st.iter, sc)
	run := c.loopBody(st, sc)
	return func(f *frame) error {
		v, err := iter(f)
		if err != nil {
			return err
		}
		return run(f, v, nil, 0)
	}
}

// recursiveLoop compiles a loop that its body can call: its own function at run time.
func (c *compiler) recursiveLoop(st *forStmt, sc scope) execFunc {
	iter := c.expr(st.iter, sc)
	outer := c.fn
	fn := newFunction(outer)
	c.fn = fn
	inner := sc
	inner.syms = newSymbols(sc.syms, fn)
	inner.checked = false
	run := c.loopBody(st, inner)
	c.fn = outer
	t := c.t
	var render func(f *frame, v value.Value, depth int) (value.Value, error)
	render = func(f *frame, v value.Value, depth int) (value.Value, error) {
		if err := f.run.enter(); err != nil {
			return nil, err
		}
		defer f.run.leave()
		in := f.inner(f.names, fn)
		again := func(v value.Value, depth int) (value.Value, error) { return render(f, v, depth) }
		if err := run(in, v, again, depth); err != nil {
			return nil, err
		}
		return t.concat(in.out)
	}
	return func(f *frame) error {
		v, err := iter(f)
		if err != nil {
			return err
		}
		out, err := render(f, v, 0)
		if err != nil {
			return err
		}
		return f.write(out)
	}
}

// loopFunc runs a loop over a value.
type loopFunc func(f *frame, over value.Value, again recurse, depth int) error

type recurse func(over value.Value, depth int) (value.Value, error)

func (c *compiler) loopBody(st *forStmt, sc scope) loopFunc {
	c.checkLoopNames(st)
	body := sc.inner()
	var loopVar *local
	if st.recursive || reads(st.body, "loop") || len(c.blocks) > 0 && hasScopedBlock(st.body) {
		loopVar = body.syms.declare("loop")
	}
	body.syms.target(st.target, true)
	body.syms.statements(st.body)
	enter := c.enter(body.syms)
	assign := c.assign(st.target, body)
	exec := c.statements(st.body, body)
	keep := c.loopFilter(st, sc)
	orElse := c.loopElse(st, sc)
	return func(f *frame, over value.Value, again recurse, depth int) error {
		it, err := value.Iterate(over)
		if err != nil {
			return err
		}
		whole := false
		walk := &loopWalk{it: it, keep: keep, f: f, over: over, again: again, depth: depth}
		for {
			v, ok, err := walk.next()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			if err := f.run.step(); err != nil {
				return err
			}
			if err := assign(f, v); err != nil {
				return err
			}
			if loopVar != nil {
				f.slots[loopVar.index] = walk
			}
			if err := enter(f); err != nil {
				return err
			}
			err = exec(f)
			if err == errBreak {
				break
			}
			if err != nil && err != errContinue {
				return err
			}
			whole = whole || err == nil
		}
		leave(f, body.syms)
		if !whole { // a round that was broken off does not count for Jinja's else
			return orElse(f)
		}
		return nil
	}
}

// checkLoopNames refuses to assign to loop anywhere in a loop.
func (c *compiler) checkLoopNames(st *forStmt) {
	var target func(x expr)
	target = func(x expr) {
		switch x := x.(type) {
		case *nameExpr:
			if x.name == "loop" {
				c.fail(x.exprLine(), "Can't assign to special loop variable in for-loop target")
			}
		case *tupleExpr:
			for _, item := range x.items {
				target(item)
			}
		}
	}
	var body func([]stmt)
	body = func(list []stmt) {
		for _, s := range list {
			eachPart(s, target, func(expr) {}, body)
		}
	}
	target(st.target)
	body(st.body)
	body(st.orElse)
}

func hasScopedBlock(body []stmt) bool {
	found := false
	var look func([]stmt)
	look = func(list []stmt) {
		for _, s := range list {
			if b, ok := s.(*blockStmt); ok {
				found = found || b.scoped
				look(b.body)
			}
			eachPart(s, func(expr) {}, func(expr) {}, look)
		}
	}
	look(body)
	return found
}

// loopFilter compiles the if of a loop; nil keeps everything.
func (c *compiler) loopFilter(st *forStmt, sc scope) func(f *frame, v value.Value) (bool, error) {
	if st.test == nil {
		return nil
	}
	inner := sc.inner()
	inner.syms = newApart(sc.syms, c.fn) // loop.last and loop.length look ahead from within the body
	inner.syms.target(st.target, true)
	inner.syms.expr(st.test)
	enter := c.enter(inner.syms)
	assign := c.assign(st.target, inner)
	test := c.expr(st.test, inner)
	entered := func(f *frame, v value.Value) (bool, error) {
		if err := enter(f); err != nil {
			return false, err
		}
		if err := assign(f, v); err != nil {
			return false, err
		}
		ok, err := test(f)
		if err != nil {
			return false, err
		}
		return value.Truth(ok)
	}
	return entered
}

func (c *compiler) loopElse(st *forStmt, sc scope) execFunc {
	if st.orElse == nil {
		return func(*frame) error { return nil }
	}
	inner := sc.inner()
	inner.syms.statements(st.orElse)
	enter := c.enter(inner.syms)
	body := c.statements(st.orElse, inner)
	return func(f *frame) error {
		defer leave(f, inner.syms)
		if err := enter(f); err != nil {
			return err
		}
		return body(f)
	}
}

// loopWalk is the state of a running loop, and the variable loop.
type loopWalk struct {
	it    *value.Iterator
	keep  func(f *frame, v value.Value) (bool, error)
	f     *frame
	over  value.Value
	again recurse
	depth int

	index   int // of the current item, from 0
	started bool
	before  value.Value
	current value.Value
	ahead   []value.Value // read but not yet looped over
	length  int
	known   bool // length is
	changed value.Value
}

// next goes to the next item.
func (l *loopWalk) next() (value.Value, bool, error) {
	var v value.Value
	if len(l.ahead) > 0 {
		v, l.ahead = l.ahead[0], l.ahead[1:]
	} else {
		var ok bool
		var err error
		if v, ok, err = l.read(); !ok || err != nil {
			return nil, false, err
		}
	}
	if l.started {
		l.index++
	}
	l.started = true
	l.before, l.current = l.current, v
	return v, true, nil
}

// read takes the next item that the loop's if keeps.
func (l *loopWalk) read() (value.Value, bool, error) {
	for {
		v, ok := l.it.Next()
		if !ok {
			return nil, false, nil
		}
		if l.keep == nil {
			return v, true, nil
		}
		if err := l.f.run.step(); err != nil {
			return nil, false, err
		}
		keep, err := l.keep(l.f, v)
		if err != nil {
			return nil, false, err
		}
		if keep {
			return v, true, nil
		}
	}
}

// peek looks one item ahead.
func (l *loopWalk) peek() (value.Value, bool) {
	if len(l.ahead) == 0 {
		v, ok, err := l.read()
		if !ok || err != nil {
			return nil, false
		}
		l.ahead = append(l.ahead, v)
	}
	return l.ahead[0], true
}

// total returns the number of items. A loop with an if is read to its end for it.
func (l *loopWalk) total() int {
	if l.known {
		return l.length
	}
	l.known = true
	if l.keep == nil {
		if n, err := value.Len(l.over); err == nil {
			l.length = n
			return n
		}
	}
	for {
		v, ok, err := l.read()
		if !ok || err != nil {
			break
		}
		l.ahead = append(l.ahead, v)
	}
	l.length = l.index + 1 + len(l.ahead)
	return l.length
}

// Type names Jinja's class.
func (l *loopWalk) Type() string { return "LoopContext" }

// QualifiedType names Jinja's class with its module.
func (l *loopWalk) QualifiedType() string { return "jinja2.runtime.LoopContext" }

// Str is Repr.
func (l *loopWalk) Str() string { return l.Repr() }

// Repr prints as Jinja does.
func (l *loopWalk) Repr() string { return fmt.Sprintf("<LoopContext %d/%d>", l.index+1, l.total()) }

// Len returns the number of items.
func (l *loopWalk) Len() int { return l.total() }

// Attr gives loop.index and its like.
func (l *loopWalk) Attr(name string) (value.Value, bool) {
	switch name {
	case "index":
		return value.Int(l.index + 1), true
	case "index0":
		return value.Int(l.index), true
	case "revindex":
		return value.Int(l.total() - l.index), true
	case "revindex0":
		return value.Int(l.total() - l.index - 1), true
	case "first":
		return value.Bool(l.index == 0), true
	case "last":
		_, more := l.peek()
		return value.Bool(!more), true
	case "length":
		return value.Int(l.total()), true
	case "depth":
		return value.Int(l.depth + 1), true
	case "depth0":
		return value.Int(l.depth), true
	case "previtem":
		if l.index == 0 {
			return value.UndefinedHint("there is no previous item"), true
		}
		return l.before, true
	case "nextitem":
		v, ok := l.peek()
		if !ok {
			return value.UndefinedHint("there is no next item"), true
		}
		return v, true
	case "cycle":
		return &value.Func{Name: "cycle", Fn: l.cycle}, true
	case "changed":
		return &value.Func{Name: "changed", Fn: l.isChanged}, true
	}
	return nil, false
}

func (l *loopWalk) cycle(args *Args) (value.Value, error) {
	if len(args.Pos) == 0 {
		return nil, value.TypeErrorf("no items for cycling given")
	}
	return args.Pos[l.index%len(args.Pos)], nil
}

func (l *loopWalk) isChanged(args *Args) (value.Value, error) {
	now := value.NewTuple(args.Pos...)
	if l.changed != nil {
		same, err := value.Equal(l.changed, now)
		if err != nil || same {
			return value.Bool(false), err
		}
	}
	l.changed = now
	return value.Bool(true), nil
}

// Call is loop(items) in a recursive loop.
func (l *loopWalk) Call(_ *Call, args *Args) (value.Value, error) {
	a, err := args.BindCall("LoopContext.__call__", value.Req("iterable"))
	if err != nil {
		return nil, err
	}
	if l.again == nil {
		return nil, value.TypeErrorf("The loop must have the 'recursive' marker to be called recursively.")
	}
	return l.again(a[0], l.depth+1)
}
