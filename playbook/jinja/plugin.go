package jinja

import (
	"errors"

	"hark/modules/dialect"
	"hark/modules/py/value"
)

// ErrNoPlugin is what a Scope's Call answers when it knows no plug-in of the name; a NoPlugin knows why, too.
var ErrNoPlugin = errors.New("no such plug-in")

// NoPlugin is an ErrNoPlugin with the reason that Ansible's plug-in loader gives.
type NoPlugin struct{ Reason string }

func (e *NoPlugin) Error() string { return e.Reason }

// Is makes it an ErrNoPlugin.
func (e *NoPlugin) Is(other error) bool { return other == ErrNoPlugin }

// filter finds a filter; nil if there is none.
func (e *Env) filter(name string) Filter {
	if e == nil {
		return nil
	}
	if f := e.Filters[name]; f != nil || e.IsPlugin == nil || !e.IsPlugin("filter", name) {
		return f
	}
	return PluginFilter
}

// test finds a test; nil if there is none.
func (e *Env) test(name string) Test {
	if e == nil {
		return nil
	}
	if t := e.Tests[name]; t != nil || e.IsPlugin == nil || !e.IsPlugin("test", name) {
		return t
	}
	return PluginTest
}

// strict reports whether a missing filter or test fails a template that does not reach it.
func (e *Env) strict() bool { return e != nil && e.Unknown != nil }

// lostPlugin is the error of reaching a missing filter or test that might not have been reached.
type lostPlugin struct{ error }

func (e lostPlugin) Unwrap() error { return e.error }

func lost(kind, name string) error {
	return lostPlugin{value.Errorf("TemplateRuntimeError", "No %s named %s found.", kind, value.ReprText(name))}
}

func isLost(err error) bool {
	_, ok := err.(lostPlugin)
	return ok
}

// reached is lost for a filter or test that the Scope did not have.
func reached(err error, sc scope, kind, name string) error {
	var missing *SyntaxError
	if sc.soft && errors.As(err, &missing) && missing.Late && missing.Msg == (*Env)(nil).unknown(kind, name) {
		return lost(kind, name)
	}
	return err
}

// PluginFilter returns a Filter that the Scope runs, under the name it is called with.
func PluginFilter(c *Call, in value.Value, args *Args) (value.Value, error) {
	return c.plugin("filter", in, args)
}

// PluginTest is a Test that the Scope runs, under the name it is called with.
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
		msg := c.Env.unknown(kind, c.Name)
		var why *NoPlugin
		if errors.As(err, &why) && c.Env.Unknown != nil { // else the words are Jinja's own
			msg = dialect.PluginNotFound.Text(c.Name, why.Reason)
		}
		return nil, &SyntaxError{Msg: msg, Name: c.Filename, Line: c.Line, Late: true}
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
