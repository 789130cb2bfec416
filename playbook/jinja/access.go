package jinja

import (
	"hark/modules/py/value"
	"hark/playbook/jinja/methods"
)

// GetAttr is x.name: an attribute or, if there is none, an element of that name, else undefined.
func GetAttr(x value.Value, name string) (value.Value, error) {
	if v, ok, err := attribute(x, name); ok || err != nil {
		return v, err
	}
	key := value.Str(name)
	v, ok, err := value.Item(x, key)
	if err != nil {
		return nil, err
	}
	if !ok {
		return value.UndefinedAttr(x, key), nil
	}
	return v, nil
}

// attribute returns an attribute of Python's object.
func attribute(x value.Value, name string) (value.Value, bool, error) {
	switch x := x.(type) {
	case *value.Undefined:
		if x.Lenient {
			return nil, false, &value.UndefinedError{Msg: x.Msg, Undefined: x}
		}
		return x, true, nil
	case *value.Vault:
		if err := value.Sealed(x); err != nil {
			return nil, false, err
		}
	case value.Object:
		v, ok := x.Attr(name)
		return v, ok, nil
	}
	v, ok := methods.Attr(x, name)
	return v, ok, nil
}

// GetItem is x[key]: an element or, if key is text, an attribute of that name, else undefined.
func GetItem(x, key value.Value) (value.Value, error) {
	v, ok, err := value.Item(x, key)
	if ok || err != nil {
		return v, err
	}
	if name, isText := value.Text(key); isText {
		if v, ok, err := attribute(x, name); ok || err != nil {
			return v, err
		}
	}
	return value.UndefinedAttr(x, key), nil
}

// invoke calls a value.
func invoke(c *Call, fn value.Value, args *Args) (value.Value, error) {
	switch fn := fn.(type) {
	case Callable:
		return fn.Call(c, args)
	case *value.Func:
		return fn.Fn(args)
	case *value.Undefined:
		return nil, &value.UndefinedError{Msg: fn.Msg, Undefined: fn}
	}
	switch fn.(type) {
	case *value.Dict, *value.List: // Jinja looks for marks of the callable in a cache first
		return nil, value.TypeErrorf("unhashable type: '%s'", fn.Type())
	}
	return nil, value.TypeErrorf("'%s' object is not callable", fn.Type())
}

// Attribute returns an attribute of Python's object, without looking for an element of that name.
func Attribute(x value.Value, name string) (v value.Value, found bool, err error) {
	return attribute(x, name)
}
