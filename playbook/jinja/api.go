// Package jinja is the template engine: Jinja2's language over Python's values, compiled once to closures.
// It knows no hosts, plays or modules; Ansible's own rules are in package templar, the filters and tests in package filters.
package jinja

import (
	"context"

	"hark/playbook/jinja/value"
)

// Scope gives a template its variables, looked up by name when they are used.
type Scope interface {
	// Var gives a variable, rendered. False means that it is not defined.
	Var(ctx context.Context, name string) (value.Value, bool, error)
	// Call runs a plug-in by kind ("lookup") and name.
	Call(ctx context.Context, plugin, name string, args []value.Value, kw *value.Dict) (value.Value, error)
}

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

// Args are the arguments of a call.
type Args struct {
	Pos []value.Value
	Kw  []Kwarg
}

// Kwarg is one keyword argument.
type Kwarg struct {
	Name string
	V    value.Value
}

// run is the state of one evaluation: limits and what has been spent of them.
type run struct {
	steps int
}
