// Package templar is Ansible's layer over the template engine: which strings are templates, how variables
// are rendered when they are looked up, what a result is converted to, and how conditions are judged.
// It knows no hosts, plays or modules; variables and lookups are given to it.
package templar

import (
	"context"
	"strings"
	"time"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/filters"
)

// Vars gives raw variables: what they hold is rendered by the Templar when a template looks them up.
type Vars interface {
	// Raw gives a variable as it was written; false means that there is none. The Templar does not change it.
	Raw(ctx context.Context, name string) (value.Value, bool, error)
	// Names lists all variables, for lookups such as varnames.
	Names(ctx context.Context) []string
}

// Outdated are Vars some of which are deprecated.
type Outdated interface {
	// Outgoing explains why a variable should not be used, what to use instead and which ansible-core will not have
	// it; "" of others.
	Outgoing(name string) (why, instead, version string)
}

// LookupFunc runs a lookup that needs more than its arguments. It gives what the plug-in's run would: a
// list, before it is joined or wrapped. Arguments are rendered; wantlist, errors and allow_unsafe are taken out of kw.
// ErrUnknownLookup says that there is no such plug-in.
type LookupFunc func(ctx context.Context, name string, args []value.Value, kw *value.Dict) (value.Value, error)

// PluginFunc runs a filter or test (the kind) that is not hark's own. args begins with the value that it is applied to.
// jinja.ErrNoPlugin says that there is none of the name.
type PluginFunc func(ctx context.Context, kind, name string, args []value.Value, kw *value.Dict) (value.Value, error)

// Options are what a Templar works with. The zero value renders with nothing but its variables.
type Options struct {
	// Engine holds the filters and the compiled templates. Share one per process; nil makes an own one.
	Engine *Engine
	// Native keeps Python types through expressions (jinja2_native).
	Native bool
	// Do and LoopControls switch Jinja's extensions of these names on (jinja2_extensions).
	Do, LoopControls bool
	// Lookup runs lookups that are not computed from their arguments only; nil knows none.
	Lookup LookupFunc
	// TemplateFile finds and reads a file for the lookup template, which is rendered here then; nil leaves that
	// lookup to Lookup.
	TemplateFile func(name string) (path string, text value.Source, err error)
	// Plugins, from Engine.WithPlugins, adds filters and tests that Plugin runs.
	Plugins *jinja.Env
	Plugin  PluginFunc
	// Load reads a template that another includes, imports or extends; false means that there is no such file.
	Load func(ctx context.Context, name string) (text value.Source, found bool, err error)
	// BrokenConditions is allow_broken_conditionals: the tagged language takes conditions that are no bools.
	BrokenConditions bool
	// Secrets takes what filters hide, as from ansible-core 2.22 on (Engine.Hiding); nil drops it.
	Secrets filters.Secrets
	// Deprecated receives deprecations of the tagged language; nil drops them.
	Deprecated func(Deprecation)
	// Noted receives warnings of the tagged language in the same way, but for the version; nil takes what they say
	// for a warning.
	Noted func(msg, help, src string)
	// Warn receives warnings for the user; nil drops them.
	Warn func(msg string)
	// Now is the time of whoever renders, in his zone; nil is this process's.
	Now func() time.Time
}

// Tagged reports whether they are those of the language of ansible-core 2.19.
func (o *Options) Tagged() bool { return o.Engine != nil && o.Engine.tagged }

// Has reports whether they are those of a language that has a change.
func (o *Options) Has(c *dialect.Change) bool { return o.Engine != nil && o.Engine.level().Has(c) }

// Extensions switches Jinja's extensions on by their names in Python, jinja2.ext.do or do. Those that concern other
// things than the language change nothing.
func (o *Options) Extensions(names []string) {
	for _, name := range names {
		switch strings.TrimPrefix(strings.TrimSpace(name), "jinja2.ext.") {
		case "do", "ExprStmtExtension":
			o.Do = true
		case "loopcontrols", "LoopControlExtension":
			o.LoopControls = true
		}
	}
}

// Templar renders values with one host's variables. It is not safe for concurrent use; With is cheap.
type Templar struct {
	vars  Vars
	local *value.Dict
	o     Options
	// syntax is that of the file being rendered, which holds for the variables in it too; nil is the usual.
	syntax *jinja.Syntax
}

// New makes a Templar for the variables.
func New(v Vars, o Options) *Templar {
	if o.Engine == nil {
		o.Engine = NewEngine()
	}
	return &Templar{vars: v, o: o}
}

// With returns a Templar that sees the local variables before all others. A dict that is nil adds nothing.
func (t *Templar) With(local *value.Dict) *Templar {
	if local.Len() == 0 {
		return t
	}
	if t.local.Len() > 0 {
		merged := t.local.Copy()
		local.Each(func(k, v value.Value) bool { merged.SetKey(k, v); return true })
		local = merged
	}
	return &Templar{vars: t.vars, local: local, o: t.o, syntax: t.syntax}
}

// raw returns a variable as it was written.
func (t *Templar) raw(ctx context.Context, name string) (value.Value, bool, error) {
	if v, ok := t.local.Get(name); ok {
		return v, true, nil
	}
	if t.vars != nil {
		if v, ok, err := t.vars.Raw(ctx, name); ok || err != nil {
			return v, ok, err
		}
	}
	if name == "omit" {
		return value.Omit{}, true, nil
	}
	return nil, false, nil
}

func (t *Templar) warn(msg string) {
	if t.o.Warn != nil {
		t.o.Warn(msg)
	}
}

// Trusted reports whether v is text of a playbook, an inventory, a file of variables or the command line, which may
// be a template or an expression.
func Trusted(v value.Value) bool {
	_, ok := v.(value.Source)
	return ok
}

// Braced returns the text of an expression as a template that is nothing else, as far as the text may be one.
func Braced(v value.Value) value.Value {
	switch text := v.(type) {
	case value.Source:
		return text.Braced()
	case value.Rendered:
		return text.Braced()
	}
	s, _ := value.Text(v)
	return value.TextLike(v, "{{"+s+"}}")
}

// rendering is how a value is rendered.
type rendering struct {
	settings
	noLookups bool // lookups fail
	// mark is that of the finisher.
	mark func(error) string
}

func (t *Templar) extensions() settings {
	return settings{syntax: t.syntax, do: t.o.Do, loopControls: t.o.LoopControls, env: t.o.Plugins}
}

func (t *Templar) usual() rendering {
	r := rendering{settings: t.extensions()}
	r.escape = true
	if t.o.Native {
		r.flavor = flavorNative
	}
	return r
}

// Template renders a value as Ansible does: text that holds a template is rendered and, if the result looks like
// a list, dict or bool, converted; lists and dicts are rendered inside; unsafe text and all else stay as they are.
// The result may share lists and dicts with v and with the variables: it must not be changed in place.
func (t *Templar) Template(ctx context.Context, v value.Value) (value.Value, error) {
	if !t.o.Engine.tagged && t.inert(v, 0) {
		return v, nil
	}
	ctx, s, err := enter(ctx, t)
	if err != nil {
		return nil, err
	}
	if t.o.Engine.tagged {
		return t.tagged(ctx, v, t.usual(), s)
	}
	return t.template(ctx, v, t.usual(), s)
}

// Text renders v and gives it as text, without converting the result to a list, dict or bool.
func (t *Templar) Text(ctx context.Context, v value.Value) (string, error) {
	if text, ok := value.Text(v); ok && !t.o.Engine.tagged && !t.possiblyTemplate(text) {
		return text, nil
	}
	ctx, s, err := enter(ctx, t)
	if err != nil {
		return "", err
	}
	r := t.usual()
	r.flavor = flavorText
	if t.o.Engine.tagged {
		v, err := t.tagged(ctx, v, r, s)
		if err != nil {
			return "", err
		}
		return value.ToStr(v)
	}
	v, err = t.template(ctx, v, r, s)
	if err != nil {
		return "", err
	}
	return value.ToStr(v)
}

func (t *Templar) template(ctx context.Context, v value.Value, r rendering, s *scope) (value.Value, error) {
	switch v := v.(type) {
	case value.UnsafeStr, value.NativeUnsafeStr, value.None, value.Bool, value.Int, value.Float:
		return v, nil
	case value.Source:
		return t.templateText(ctx, v, v.Text(), r, s)
	case value.Rendered:
		return t.templateText(ctx, v, v.Text(), r, s)
	case value.Str, value.NativeStr, value.Markup:
		return data(v), nil
	case *value.List:
		if t.inert(v, 0) {
			return v, nil
		}
		return t.templateItems(ctx, v.Items, r, s)
	case *value.Tuple:
		return t.templateItems(ctx, v.Items, r, s)
	case *value.Dict:
		if t.inert(v, 0) {
			return v, nil
		}
		return t.templateDict(ctx, v, r, s)
	case value.Mapping:
		d, err := value.PrintedDict(v)
		if err != nil {
			return nil, err
		}
		return t.template(ctx, d, r, s)
	}
	return v, nil
}

// inner returns how the elements of a list or dict are rendered: the settings of the whole do not reach them.
func (t *Templar) inner(r rendering) rendering {
	in := t.usual()
	in.noLookups = r.noLookups
	return in
}

func (t *Templar) templateItems(ctx context.Context, items []value.Value, r rendering, s *scope) (value.Value, error) {
	if err := s.deeper(); err != nil {
		return nil, err
	}
	defer s.higher()
	out := make([]value.Value, len(items))
	for i, item := range items {
		v, err := t.template(ctx, item, t.inner(r), s)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return &value.List{Items: out}, nil
}

func (t *Templar) templateDict(ctx context.Context, d *value.Dict, r rendering, s *scope) (value.Value, error) {
	if err := s.deeper(); err != nil {
		return nil, err
	}
	defer s.higher()
	out := value.NewDict()
	for i := range d.Len() {
		k, item := d.At(i)
		v, err := t.template(ctx, item, t.inner(r), s)
		if err != nil {
			return nil, err
		}
		if isWild(k) {
			k = value.Unsafe(k)
		}
		out.SetKey(k, v)
	}
	return out, nil
}

// data is text that Go has made, of what it has come to know: nothing that is rendered. Unless it is a word or a
// number, neither is what a template makes of it.
func data(v value.Value) value.Value {
	if isWild(v) {
		return value.Unsafe(v)
	}
	return v
}

// isWild reports whether v is text made by Go code that could be evaluated.
func isWild(v value.Value) bool {
	switch v.(type) {
	case value.Str, value.NativeStr, value.Markup:
		s, _ := value.Text(v)
		return !value.Inert(s)
	}
	return false
}

// inert reports whether rendering would not change a value, so that it need not be copied.
func (t *Templar) inert(v value.Value, depth int) bool {
	if depth > maxNesting {
		return false
	}
	switch v := v.(type) {
	case value.Source:
		return !t.possiblyTemplate(v.Text())
	case value.Rendered:
		return !t.possiblyTemplate(v.Text())
	case value.Str, value.NativeStr, value.Markup:
		return !isWild(v)
	case *value.List:
		for _, item := range v.Items {
			if !t.inert(item, depth+1) {
				return false
			}
		}
	case *value.Lines:
		return v.Text() != nil && t.inert(v.Text(), depth+1)
	case *value.Dict:
		for i := range v.Len() {
			if k, item := v.Kept(i); isWild(k) || !t.inert(item, depth+1) {
				return false
			}
		}
	case *value.Tuple, value.Mapping, value.Range:
		return false
	}
	return true
}

// possiblyTemplate reports whether text has the beginning of a tag.
func (t *Templar) possiblyTemplate(s string) bool {
	if t.syntax == nil {
		return possiblyTemplate(s)
	}
	return strings.Contains(s, t.syntax.BlockStart) || strings.Contains(s, t.syntax.VariableStart) ||
		strings.Contains(s, t.syntax.CommentStart)
}

// possiblyTemplate is that for the usual tags.
func possiblyTemplate(s string) bool {
	for {
		i := strings.IndexByte(s, '{')
		if i < 0 || i+1 >= len(s) {
			return false
		}
		switch s[i+1] {
		case '{', '%', '#':
			return true
		}
		s = s[i+1:]
	}
}
