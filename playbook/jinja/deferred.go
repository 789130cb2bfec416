package jinja

import (
	"errors"
	"strings"

	"hark/modules/py/value"
)

// travels reports whether undefined values travel, and that values know themselves whether they may be templates.
func (t *Template) travels() bool { return t.o.Defer != nil }

// traveller returns the first undefined value among what a filter, test or method is given; nil where there is none,
// where such values do not travel, or where this one is about undefined values.
func (t *Template) traveller(name string, v value.Value, a *Args) value.Value {
	if t.o.Defer == nil {
		return nil
	}
	u := Travelling(a, v)
	switch {
	case u == nil:
		return nil
	case u.Broken && name != "type_debug":
		return u
	}
	switch strings.TrimPrefix(name, "ansible.builtin.") {
	case "default", "d", "defined", "undefined", "mandatory", "ternary", "type_debug", "vault", "vault_encrypted":
		return nil
	}
	return u
}

// Travelling returns the first undefined value among more and arguments, nil if there is none.
func Travelling(a *Args, more ...value.Value) *value.Undefined {
	for _, list := range [][]value.Value{more, a.Pos} {
		for _, v := range list {
			if u, ok := v.(*value.Undefined); ok && !u.Lenient {
				return u
			}
		}
	}
	for _, k := range a.Kw {
		if u, ok := k.V.(*value.Undefined); ok && !u.Lenient {
			return u
		}
	}
	return nil
}

// deferred returns the outcome of a filter, test or call: where undefined values travel, one that stands for the
// error.
func (t *Template) deferred(kind, name string, v value.Value, err error) (value.Value, error) {
	if t.o.Defer == nil {
		return v, err
	}
	if err == nil {
		if view, ok := v.(*value.View); ok {
			return value.NewList(view.Items()...), nil
		}
		return v, nil
	}
	var used *value.UndefinedError
	if errors.As(err, &used) && used.Undefined != nil && !used.Undefined.Lenient {
		return used.Undefined, nil
	}
	worded := t.o.Defer(kind, name, err)
	if worded == nil {
		return v, err
	}
	return &value.Undefined{Name: name, Msg: worded.Error(), Err: worded, Broken: true}, nil
}

// invokeDeferred calls a value where undefined values travel. Macros and lookups take them as they are.
func (t *Template) invokeDeferred(c *Call, fn value.Value, a *Args) (value.Value, error) {
	direct := false
	switch fn := fn.(type) {
	case *macro:
		direct = true
	case *Function:
		direct = fn.Direct
	}
	if !direct {
		if u := Travelling(a); u != nil {
			return u, nil
		}
	}
	v, err := invoke(c, fn, a)
	return t.deferred("", "", v, err)
}
