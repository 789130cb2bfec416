// Package jinja is the template engine: Jinja2's language over Python's values, compiled once to closures. It knows
// no hosts, plays or modules; Ansible's own rules are in package templar, the filters and tests in package filters.
package jinja

import (
	"context"
	"errors"
	"time"

	"hark/modules/dialect"
	"hark/modules/py/localtime"
	"hark/modules/py/value"
)

// Scope gives a template its variables, looked up by name when they are used.
type Scope interface {
	// Var gives a variable, rendered. False means that it is not defined.
	Var(ctx context.Context, name string) (value.Value, bool, error)
	// Call runs a plug-in by kind ("lookup") and name.
	Call(ctx context.Context, plugin, name string, args []value.Value, kw *value.Dict) (value.Value, error)
}

// Loader is a Scope that has templates for include, import and extends.
type Loader interface {
	// Load gives a template by name; a *NotFoundError if there is none.
	Load(ctx context.Context, name string) (*Template, error)
}

// Spender is a Scope whose evaluations share a budget.
type Spender interface {
	Budget() *Budget
}

// Lookup is a lookup plug-in: it gives a list of values for its terms. The arguments wantlist, errors and allow_unsafe
// are not in kw.
type Lookup func(c *Call, terms []value.Value, kw *value.Dict) ([]value.Value, error)

// Filter is a filter: in | name(args).
type Filter func(c *Call, in value.Value, args *Args) (value.Value, error)

// Test is a test: in is name(args).
type Test func(c *Call, in value.Value, args *Args) (bool, error)

// Func is a global function or a method that templates can call.
type Func func(c *Call, args *Args) (value.Value, error)

// Env is the set of filters, tests and globals that templates are compiled with. It is read-only once used.
// A name that is missing is a syntax error of the template, as in Jinja2.
type Env struct {
	Filters map[string]Filter
	Tests   map[string]Test
	Globals map[string]value.Value
	// IsPlugin reports whether a filter or test (the kind) that is in neither map may be a plug-in of the Scope's,
	// which is then called. Nil: there are none.
	IsPlugin func(kind, name string) bool
	// Unknown words the error of a missing filter or test; nil leaves it to the engine.
	Unknown func(kind, name string) string
}

func (e *Env) unknown(kind, name string) string {
	if e != nil && e.Unknown != nil {
		return e.Unknown(kind, name)
	}
	return dialect.NoSuchPlugin.Text(kind, name) + "."
}

// Args are the arguments of a call.
type Args = value.Args

// Kwarg is one keyword argument.
type Kwarg = value.Kwarg

// Function is a Func as a value, so that it can be a global.
type Function struct {
	Name string
	Fn   Func
	// Direct functions take undefined values among their arguments where these travel, see Options.Defer.
	Direct bool
}

// Type returns that of Python's functions.
func (*Function) Type() string { return "function" }

// Str prints as Python prints a function.
func (f *Function) Str() string { return "<function " + f.Name + ">" }

// Repr is Str.
func (f *Function) Repr() string { return f.Str() }

// Call runs the function.
func (f *Function) Call(c *Call, args *Args) (value.Value, error) { return f.Fn(c, args) }

// Callable is a value that a template can call.
type Callable interface {
	value.Value
	Call(c *Call, args *Args) (value.Value, error)
}

// Call is what a filter, test or function may know of the place that calls it.
type Call struct {
	Ctx   context.Context
	Env   *Env
	Scope Scope
	Name  string // as written: the filter's, test's or function's name
	// Filename and Line are the place in the template, for errors.
	Filename string
	Line     int

	run *run
}

// Clock is a Scope that knows the time of whoever renders, in his zone.
type Clock interface{ Now() time.Time }

// Now returns that time, or this process's.
func (c *Call) Now() time.Time {
	if s, ok := c.Scope.(Clock); ok {
		return s.Now()
	}
	return localtime.Now()
}

// Filter applies another filter by name.
func (c *Call) Filter(name string, in value.Value, args *Args) (value.Value, error) {
	f := c.Env.filter(name)
	if f == nil {
		return nil, c.missing("filter", name)
	}
	if err := c.run.step(); err != nil {
		return nil, err
	}
	inner := *c
	inner.Name = name
	v, err := f(&inner, in, args)
	return v, c.late("filter", name, err)
}

// Test applies a test by name.
func (c *Call) Test(name string, in value.Value, args *Args) (bool, error) {
	t := c.Env.test(name)
	if t == nil {
		return false, c.missing("test", name)
	}
	if err := c.run.step(); err != nil {
		return false, err
	}
	inner := *c
	inner.Name = name
	ok, err := t(&inner, in, args)
	return ok, c.late("test", name, err)
}

// missing is the error of a filter or test that only running the template found to be missing: it has no line in Jinja.
func (c *Call) missing(kind, name string) error {
	return &SyntaxError{Msg: c.Env.unknown(kind, name) + "\n  line 0", Name: c.Filename, Line: c.Line}
}

// late is the error of what was called by name: of one that turned out to live nowhere that it is missing, else err.
func (c *Call) late(kind, name string, err error) error {
	var syntax *SyntaxError
	if errors.As(err, &syntax) && syntax.Late {
		return c.missing(kind, name)
	}
	return err
}

// Steps counts n units of work against the limit of the evaluation. A filter whose output is much larger than
// its input calls it before it makes the output.
func (c *Call) Steps(n int) error { return c.run.spend(n) }

// IsUnsafe reports whether the result of the evaluation will be unsafe. It is so of a call outside of one.
func (c *Call) IsUnsafe() bool { return c.run == nil || c.run.unsafe }

// MarkUnsafe makes the result of the evaluation unsafe, as the use of an unsafe variable does.
func (c *Call) MarkUnsafe() {
	if c.run != nil {
		c.run.unsafe = true
	}
}
