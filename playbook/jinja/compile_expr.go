package jinja

import (
	"strings"
	"sync/atomic"

	"hark/modules/py/value"
)

// exprCompiler compiles expressions within a function. It knows no statements.
type exprCompiler struct {
	t  *Template
	fn *function // that is being compiled
}

// expr compiles an expression.
func (c *exprCompiler) expr(x expr, sc scope) evalFunc {
	switch x := x.(type) {
	case *constExpr:
		v := x.v
		if text, ok := v.(value.Str); ok && c.embeds(x) {
			constant := c.t.o.Constant
			return func(f *frame) (value.Value, error) { return constant(f.run.ctx, f.run.scope, string(text)) }
		}
		return func(*frame) (value.Value, error) { return v, nil }
	case *nameExpr:
		return c.name(x, sc)
	case *tupleExpr:
		items := c.list(x.items, sc)
		return func(f *frame) (value.Value, error) {
			vals, err := items(f)
			return &value.Tuple{Items: vals}, err
		}
	case *listExpr:
		items := c.list(x.items, sc)
		return func(f *frame) (value.Value, error) {
			vals, err := items(f)
			return &value.List{Items: vals}, err
		}
	case *dictExpr:
		return c.dict(x, sc)
	case *binaryExpr:
		return c.binary(x, sc)
	case *unaryExpr:
		return c.unary(x, sc)
	case *concatExpr:
		items := c.list(x.items, sc)
		return func(f *frame) (value.Value, error) {
			vals, err := items(f)
			if err != nil {
				return nil, err
			}
			return value.Concat(vals)
		}
	case *compareExpr:
		return c.compare(x, sc)
	case *condExpr:
		return c.cond(x, sc)
	case *attrExpr:
		return c.chain(x, sc)
	case *itemExpr:
		return c.item(x, sc)
	case *callExpr:
		return c.call(x, sc, nil)
	case *filterExpr:
		return c.filterOf(x, nil, sc)
	case *testExpr:
		return c.test(x, sc)
	case *sliceExpr:
		c.fail(x.exprLine(), "unexpected ':'")
	}
	c.fail(x.exprLine(), "internal error: unknown expression")
	return nil
}

// embeds reports whether a constant is text which looks like a template, where that matters.
func (c *exprCompiler) embeds(x *constExpr) bool {
	text, ok := x.v.(value.Str)
	return ok && c.t.o.Constant != nil &&
		(strings.Contains(string(text), "{{") || strings.Contains(string(text), "{%") || strings.Contains(string(text), "{#"))
}

// missing is an undefined value that one place of a template gives always anew: it is made once.
type missing struct {
	of   value.Value // what has no such attribute; nil for a variable
	name string
	made atomic.Pointer[value.Undefined]
}

func (m *missing) value() *value.Undefined {
	if u := m.made.Load(); u != nil {
		return u
	}
	u := value.UndefinedName(m.name)
	if m.of != nil {
		u = value.UndefinedAttr(m.of, value.Str(m.name))
	}
	m.made.Store(u)
	return u
}

// name compiles the reading of a variable.
func (c *exprCompiler) name(x *nameExpr, sc scope) evalFunc {
	l := sc.syms.find(x.name)
	index, hops := l.index, c.hops(l)
	if hops == 0 {
		return func(f *frame) (value.Value, error) {
			if v := f.slots[index]; v != nil {
				return v, nil
			}
			return l.missing.value(), nil
		}
	}
	return func(f *frame) (value.Value, error) {
		if v := up(f, hops).slots[index]; v != nil {
			return v, nil
		}
		return l.missing.value(), nil
	}
}

// list compiles a row of expressions.
func (c *exprCompiler) list(items []expr, sc scope) func(f *frame) ([]value.Value, error) {
	evals := make([]evalFunc, len(items))
	for i, x := range items {
		evals[i] = c.expr(x, sc)
	}
	return func(f *frame) ([]value.Value, error) {
		out := make([]value.Value, len(evals))
		for i, eval := range evals {
			v, err := eval(f)
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
		return out, nil
	}
}

func (c *exprCompiler) dict(x *dictExpr, sc scope) evalFunc {
	keys, vals := c.list(x.keys, sc), c.list(x.vals, sc)
	return func(f *frame) (value.Value, error) {
		ks, err := keys(f)
		if err != nil {
			return nil, err
		}
		vs, err := vals(f)
		if err != nil {
			return nil, err
		}
		d := value.NewDict()
		for i, k := range ks {
			if !d.SetKey(k, vs[i]) {
				return nil, value.Hashable(k)
			}
		}
		return d, nil
	}
}

func (c *exprCompiler) binary(x *binaryExpr, sc scope) evalFunc {
	left, right := c.expr(x.left, sc), c.expr(x.right, sc)
	if x.op == "and" || x.op == "or" {
		stop := x.op == "or"
		return func(f *frame) (value.Value, error) {
			v, err := left(f)
			if err != nil {
				return nil, err
			}
			ok, err := value.Truth(v)
			if err != nil || ok == stop {
				return v, err
			}
			return right(f)
		}
	}
	op := x.op
	return func(f *frame) (value.Value, error) {
		a, err := left(f)
		if err != nil {
			return nil, err
		}
		b, err := right(f)
		if err != nil {
			return nil, err
		}
		return value.Binary(op, a, b)
	}
}

func (c *exprCompiler) unary(x *unaryExpr, sc scope) evalFunc {
	operand := c.expr(x.x, sc)
	if x.op == "not" {
		return func(f *frame) (value.Value, error) {
			v, err := operand(f)
			if err != nil {
				return nil, err
			}
			ok, err := value.Truth(v)
			return value.Bool(!ok), err
		}
	}
	op := x.op
	return func(f *frame) (value.Value, error) {
		v, err := operand(f)
		if err != nil {
			return nil, err
		}
		return value.Unary(op, v)
	}
}

func (c *exprCompiler) compare(x *compareExpr, sc scope) evalFunc {
	first := c.expr(x.first, sc)
	rest := make([]evalFunc, len(x.ops))
	ops := make([]string, len(x.ops))
	for i, op := range x.ops {
		rest[i], ops[i] = c.expr(op.x, sc), op.op
	}
	return func(f *frame) (value.Value, error) {
		left, err := first(f)
		if err != nil {
			return nil, err
		}
		for i, eval := range rest {
			right, err := eval(f)
			if err != nil {
				return nil, err
			}
			ok, err := CompareOp(ops[i], left, right)
			if err != nil || !ok {
				return value.Bool(false), err
			}
			left = right
		}
		return value.Bool(true), nil
	}
}

// CompareOp is a comparison of Python: == != < <= > >= in notin.
func CompareOp(op string, a, b value.Value) (bool, error) {
	switch op {
	case "==":
		return value.Equal(a, b)
	case "!=":
		ok, err := value.Equal(a, b)
		return !ok, err
	case "in":
		return value.Contains(b, a)
	case "notin":
		ok, err := value.Contains(b, a)
		return !ok, err
	}
	n, err := value.Compare(op, a, b)
	if err != nil {
		return false, err
	}
	switch op {
	case "<":
		return n == -1, nil
	case "<=":
		return n == -1 || n == 0, nil
	case ">":
		return n == 1, nil
	}
	return n == 1 || n == 0, nil
}

func (c *exprCompiler) cond(x *condExpr, sc scope) evalFunc {
	sc.soft = true
	test, then := c.expr(x.test, sc), c.expr(x.then, sc)
	otherwise := c.noElse(x.exprLine())
	if x.otherwise != nil {
		otherwise = c.expr(x.otherwise, sc)
	}
	return func(f *frame) (value.Value, error) {
		v, err := test(f)
		if err != nil {
			return nil, err
		}
		ok, err := value.Truth(v)
		if err != nil {
			return nil, err
		}
		if ok {
			return then(f)
		}
		return otherwise(f)
	}
}

// noElse returns the value of an inline if that is false and has no else.
func (c *exprCompiler) noElse(line int) evalFunc {
	u := &value.Undefined{Lenient: true, Msg: "the inline if-expression on " + c.position(line) +
		" evaluated to false and no else section was defined."}
	return func(*frame) (value.Value, error) { return u, nil }
}

func (c *exprCompiler) item(x *itemExpr, sc scope) evalFunc {
	if _, _, ok := c.lastStep(x); ok {
		return c.chain(x, sc)
	}
	obj := c.expr(x.x, sc)
	if s, ok := x.key.(*sliceExpr); ok {
		return c.slice(obj, s, sc)
	}
	key, travels := c.expr(x.key, sc), c.t.travels()
	return func(f *frame) (value.Value, error) {
		v, err := obj(f)
		if err != nil {
			return nil, err
		}
		k, err := key(f)
		if err != nil {
			return nil, err
		}
		if u, ok := k.(*value.Undefined); ok && travels {
			return u, nil
		}
		return GetItem(v, k)
	}
}

func (c *exprCompiler) slice(obj evalFunc, s *sliceExpr, sc scope) evalFunc {
	var parts [3]evalFunc
	for i, x := range []expr{s.start, s.stop, s.step} {
		if x != nil {
			parts[i] = c.expr(x, sc)
		}
	}
	return func(f *frame) (value.Value, error) {
		v, err := obj(f)
		if err != nil {
			return nil, err
		}
		var at [3]value.Value
		for i, eval := range parts {
			if eval == nil {
				continue
			}
			if at[i], err = eval(f); err != nil {
				return nil, err
			}
		}
		return value.Slice(v, at[0], at[1], at[2])
	}
}
