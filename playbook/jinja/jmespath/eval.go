package jmespath

import (
	"hark/modules/py/value"
)

var none = value.None{}

func identity() expr { return expr{eval: func(v value.Value) (value.Value, error) { return v, nil }} }

func constant(c value.Value) expr {
	return expr{eval: func(value.Value) (value.Value, error) { return c, nil }}
}

func field(name string) expr {
	return expr{field: name, eval: func(v value.Value) (value.Value, error) {
		if u, undefined := v.(*value.Undefined); undefined {
			return none, u.Use()
		}
		if !value.IsMapping(v) {
			return none, nil
		}
		item, ok, err := value.Item(v, value.Str(name))
		if err != nil || !ok {
			return none, err
		}
		return item, nil
	}}
}

func element(n int) expr {
	return expr{eval: func(v value.Value) (value.Value, error) {
		l, ok := v.(*value.List)
		at := n
		if ok && n < 0 {
			at += len(l.Items)
		}
		if !ok || at < 0 || at >= len(l.Items) {
			return none, nil
		}
		return l.Items[at], nil
	}}
}

func slice(parts [3]value.Value) expr {
	return expr{eval: func(v value.Value) (value.Value, error) {
		if _, ok := v.(*value.List); !ok {
			return none, nil
		}
		return value.Slice(v, parts[0], parts[1], parts[2])
	}}
}

// chain hands what left finds to right.
func chain(left, right expr) expr {
	return expr{eval: func(v value.Value) (value.Value, error) {
		v, err := left.eval(v)
		if err != nil {
			return nil, err
		}
		return right.eval(v)
	}}
}

// each collects what e finds in the items, without what is nothing.
func each(items []value.Value, e expr) (value.Value, error) {
	out := value.NewList()
	for _, item := range items {
		found, err := e.eval(item)
		if err != nil {
			return nil, err
		}
		if !value.IsNone(found) {
			out.Items = append(out.Items, found)
		}
	}
	return out, nil
}

func projection(left, right expr) expr {
	return expr{eval: func(v value.Value) (value.Value, error) {
		base, err := left.eval(v)
		l, ok := base.(*value.List)
		if err != nil || !ok {
			return none, err
		}
		return each(l.Items, right)
	}}
}

func valueProjection(left, right expr) expr {
	return expr{eval: func(v value.Value) (value.Value, error) {
		base, err := left.eval(v)
		if err != nil || !value.IsMapping(base) {
			return none, err
		}
		d, err := value.ToDict(base)
		if err != nil {
			return nil, err
		}
		return each(valuesOf(d), right)
	}}
}

func valuesOf(d *value.Dict) []value.Value {
	out := []value.Value{}
	d.Each(func(_, v value.Value) bool { out = append(out, v); return true })
	return out
}

func filtered(left, condition, right expr) expr {
	return expr{eval: func(v value.Value) (value.Value, error) {
		base, err := left.eval(v)
		l, ok := base.(*value.List)
		if err != nil || !ok {
			return none, err
		}
		var kept []value.Value
		for _, item := range l.Items {
			met, err := condition.eval(item)
			if err != nil {
				return nil, err
			}
			if !isFalse(met) {
				kept = append(kept, item)
			}
		}
		return each(kept, right)
	}}
}

func flatten(left expr) expr {
	return expr{eval: func(v value.Value) (value.Value, error) {
		base, err := left.eval(v)
		l, ok := base.(*value.List)
		if err != nil || !ok {
			return none, err
		}
		out := value.NewList()
		for _, item := range l.Items {
			if inner, ok := item.(*value.List); ok {
				out.Items = append(out.Items, inner.Items...)
			} else {
				out.Items = append(out.Items, item)
			}
		}
		return out, nil
	}}
}

func listOf(all []expr) expr {
	return expr{eval: func(v value.Value) (value.Value, error) {
		if value.IsNone(v) {
			return none, nil
		}
		out := value.NewList()
		for _, e := range all {
			item, err := e.eval(v)
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, item)
		}
		return out, nil
	}}
}

func hashOf(keys []string, all []expr) expr {
	return expr{eval: func(v value.Value) (value.Value, error) {
		if value.IsNone(v) {
			return none, nil
		}
		out := value.NewDict()
		for i, e := range all {
			item, err := e.eval(v)
			if err != nil {
				return nil, err
			}
			out.SetKey(value.Str(keys[i]), item)
		}
		return out, nil
	}}
}

// isFalse is the language's idea of false: nothing, what is empty, and false; 0 is true.
func isFalse(v value.Value) bool {
	if value.IsNone(v) || v == value.Bool(false) {
		return true
	}
	if l, ok := v.(*value.List); ok {
		return len(l.Items) == 0
	}
	if s, ok := value.Text(v); ok {
		return s == ""
	}
	if d, ok := v.(*value.Dict); ok {
		return d.Len() == 0
	}
	return false
}

func either(left, right expr) expr {
	return expr{eval: func(v value.Value) (value.Value, error) {
		found, err := left.eval(v)
		if err != nil || !isFalse(found) {
			return found, err
		}
		return right.eval(v)
	}}
}

func both(left, right expr) expr {
	return expr{eval: func(v value.Value) (value.Value, error) {
		found, err := left.eval(v)
		if err != nil || isFalse(found) {
			return found, err
		}
		return right.eval(v)
	}}
}

func not(e expr) expr {
	return expr{eval: func(v value.Value) (value.Value, error) {
		found, err := e.eval(v)
		if err != nil {
			return nil, err
		}
		if isNumber(found) {
			return value.Bool(false), nil
		}
		yes, err := value.Truth(found)
		return value.Bool(!yes), err
	}}
}

// isNumber reports whether a value is a number and no bool, which is a number in Python.
func isNumber(v value.Value) bool {
	if _, isBool := v.(value.Bool); isBool {
		return false
	}
	_, isFloat := v.(value.Float)
	return isFloat || value.AsBig(v) != nil
}

func comparison(op string, left, right expr) expr {
	return expr{eval: func(v value.Value) (value.Value, error) {
		x, err := left.eval(v)
		if err != nil {
			return nil, err
		}
		y, err := right.eval(v)
		if err != nil {
			return nil, err
		}
		if op == "==" || op == "!=" {
			same, err := equal(x, y)
			return value.Bool(same == (op == "==")), err
		}
		if !comparable(x) || !comparable(y) {
			return none, nil
		}
		return ordered(op, x, y)
	}}
}

func equal(x, y value.Value) (bool, error) {
	_, xBool := x.(value.Bool)
	_, yBool := y.(value.Bool)
	if xBool && isNumber(y) || yBool && isNumber(x) {
		return false, nil
	}
	return value.Equal(x, y)
}

func comparable(v value.Value) bool { return isNumber(v) || value.IsText(v) }

func ordered(op string, x, y value.Value) (value.Value, error) {
	n, err := value.Compare(op, x, y)
	if err != nil || n == 2 {
		return value.Bool(false), err
	}
	switch op {
	case "<":
		return value.Bool(n < 0), nil
	case "<=":
		return value.Bool(n <= 0), nil
	case ">":
		return value.Bool(n > 0), nil
	}
	return value.Bool(n >= 0), nil
}
