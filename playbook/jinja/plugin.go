package jinja

import (
	"errors"

	"hark/modules/py/value"
)

// ErrNoPlugin is what a Scope's Call answers when it knows no plug-in of the name.
var ErrNoPlugin = errors.New("no such plug-in")

// filter finds a filter; nil if there is none.
func (e *Env) filter(name string) Filter {
	if e == nil {
		return nil
	}
	if f := e.Filters[name]; f != nil || e.Elsewhere == nil || !e.Elsewhere("filter", name) {
		return f
	}
	return PluginFilter
}

// test finds a test; nil if there is none.
func (e *Env) test(name string) Test {
	if e == nil {
		return nil
	}
	if t := e.Tests[name]; t != nil || e.Elsewhere == nil || !e.Elsewhere("test", name) {
		return t
	}
	return PluginTest
}

// PluginFilter is a Filter that the Scope runs, under the name by which it is called.
func PluginFilter(c *Call, in value.Value, args *Args) (value.Value, error) {
	return c.plugin("filter", in, args)
}

// PluginTest is a Test that the Scope runs, under the name by which it is called.
func PluginTest(c *Call, in value.Value, args *Args) (bool, error) {
	v, err := c.plugin("test", in, args)
	if err != nil {
		return false, err
	}
	return value.Truth(v)
}

// plugin calls a plug-in of the Scope with the value that it is applied to before its arguments.
func (c *Call) plugin(kind string, in value.Value, args *Args) (value.Value, error) {
	pos, kw := []value.Value{in}, value.NewDict()
	if args != nil {
		pos = append(pos, args.Pos...)
		for _, k := range args.Kw {
			kw.Set(k.Name, k.V)
			if err := usable(k.V); err != nil {
				return nil, err
			}
		}
	}
	for _, v := range pos {
		if err := usable(v); err != nil {
			return nil, err
		}
	}
	v, err := c.Scope.Call(c.Ctx, kind, c.Name, pos, kw)
	if errors.Is(err, ErrNoPlugin) {
		return nil, &SyntaxError{Msg: c.Env.unknown(kind, c.Name), Name: c.Filename, Line: c.Line, Late: true}
	}
	return v, err
}

// usable is the error of giving an undefined value away.
func usable(v value.Value) error {
	if u, ok := v.(*value.Undefined); ok {
		return u.Use()
	}
	return nil
}
