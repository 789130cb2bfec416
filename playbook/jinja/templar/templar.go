// Package templar is Ansible's layer over the template engine: which strings are templates, how variables
// are rendered when they are looked up, what a result is converted to, and how conditions are judged.
// It knows no hosts, plays or modules; variables and lookups are given to it.
package templar

import (
	"context"
	"time"

	"hark/playbook/jinja"
	"hark/playbook/jinja/value"
)

// Vars gives raw variables: what they hold is rendered by the Templar when a template looks them up.
type Vars interface {
	// Raw gives a variable as it was written; false means that there is none.
	Raw(ctx context.Context, name string) (value.Value, bool, error)
	// Names lists all variables, for lookups such as varnames.
	Names(ctx context.Context) []string
}

// LookupFunc runs a lookup that needs more than its arguments. It gives what the plug-in's run would: a
// list, before it is joined or wrapped. Arguments are rendered; wantlist, errors and allow_unsafe are taken out of kw.
type LookupFunc func(ctx context.Context, name string, args []value.Value, kw *value.Dict) (value.Value, error)

// Options are what a Templar works with. The zero value renders with nothing but its variables.
type Options struct {
	// Engine holds the filters and the compiled templates. Share one per process; nil makes an own one.
	Engine *Engine
	// Native keeps Python types through expressions (jinja2_native).
	Native bool
	// Lookup runs lookups that are not computed from their arguments alone; nil knows none.
	Lookup LookupFunc
	// Load reads a template that another includes, imports or extends; false means that there is no such file.
	Load func(ctx context.Context, name string) (text string, found bool, err error)
	// Warn receives warnings for the user; nil drops them.
	Warn func(msg string)
	// Now is the clock of now(); nil is time.Now.
	Now func() time.Time
}

// FileOptions are the options of the template module.
type FileOptions struct {
	// Name is the file's name, for errors.
	Name string
	// NoTrimBlocks keeps the newline after a block tag; Ansible removes it unless told otherwise.
	NoTrimBlocks bool
	LstripBlocks bool
	// NewlineSequence ends lines in the output; "" is "\n".
	NewlineSequence string
	// Delimiters, "" for the usual ones.
	BlockStart, BlockEnd, VariableStart, VariableEnd, CommentStart, CommentEnd string
}

// OmitToken is the value of the variable omit: an argument that renders to it is left out.
const OmitToken = "__omit_place_holder__d46ea2f2b4b1a2cb5b3a4dd1f4fd0ac5ba9dbd33"

// Engine holds what all Templars of a process can share: the set of filters, tests and globals, and the
// compiled templates in a bounded cache. It is safe for concurrent use.
type Engine struct {
	env *jinja.Env
}

// Templar renders values with one host's variables. It is not safe for concurrent use; With is cheap.
type Templar struct {
	vars  Vars
	local *value.Dict
	o     Options
}
