// Package methods holds the methods and attributes of Python's types that templates can reach. It is a closed list:
// nothing of Go, and none of Python's internals, can be reached through it.
package methods

import "hark/modules/py/value"

// Func is a method: self and the arguments it is called with.
type Func func(self value.Value, args *value.Args) (value.Value, error)

// Of returns the method of that name of the type of v; nil if it has none.
func Of(v value.Value, name string) Func {
	switch v.(type) {
	case *value.Dict:
		return dictMethod(name)
	case *value.List:
		return listMethod(name)
	case value.Str, value.Source, value.Rendered, value.UnsafeStr, value.NativeStr, value.NativeUnsafeStr, value.Markup,
		value.Omit, *value.Vault:
		return textMethod(name)
	case *value.Tuple, value.Range:
		return sequenceMethod(name)
	case value.Int, *value.BigInt, value.Bool:
		return intMethod(name)
	case value.Float:
		return floatMethod(name)
	case value.Bytes:
		return bytesMethod(name)
	case *value.View:
		return viewMethod(name)
	case value.Mapping:
		return mappingMethod(name)
	}
	return nil
}

// Attr returns an attribute of a value of one of Python's types: a method bound to it or a datum. False means that
// the type has none of that name.
func Attr(v value.Value, name string) (value.Value, bool) {
	if m := Of(v, name); m != nil {
		return &value.Func{Name: name, Self: v, Fn: func(args *value.Args) (value.Value, error) { return m(v, args) }}, true
	}
	if name == "__class__" {
		return value.ClassOf(v), true
	}
	switch v := v.(type) {
	case value.Int, *value.BigInt, value.Bool:
		return intAttr(v, name)
	case value.Float:
		return floatAttr(v, name)
	case value.Range:
		return rangeAttr(v, name)
	case *value.Tuple:
		for i, have := range v.Names {
			if have == name && i < len(v.Items) {
				return v.Items[i], true
			}
		}
	}
	return nil, false
}

func rangeAttr(r value.Range, name string) (value.Value, bool) {
	switch name {
	case "start":
		return value.Int(r.Start), true
	case "stop":
		return value.Int(r.Stop), true
	case "step":
		return value.Int(r.Step), true
	}
	return nil, false
}

// wantInt returns an integer argument.
func wantInt(v value.Value) (int, error) {
	n, ok := value.AsInt(v)
	if !ok {
		if u, undefined := v.(*value.Undefined); undefined {
			return 0, u.Use()
		}
		return 0, value.TypeErrorf("'%s' object cannot be interpreted as an integer", value.NativeType(v))
	}
	return int(n), nil
}

// Flag is a bool argument of Python's functions in C, which take it as an integer.
func Flag(v value.Value) (bool, error) {
	if value.AsBig(v) != nil {
		if n, fits := value.AsInt(v); !fits || n != int64(int32(n)) {
			return false, value.Errorf("OverflowError", "Python int too large to convert to C int")
		}
	}
	n, err := wantInt(v)
	return n != 0, err
}

// optInt returns an integer argument that may be left out.
func optInt(v value.Value, def int) (int, error) {
	if v == nil {
		return def, nil
	}
	return wantInt(v)
}
