package templar

import (
	"context"
	"errors"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// In the language of ansible-core 2.19 text from YAML, inventories and the command line (value.Source) is trusted as
// a template, all other text is not. A dict renders its entries when they are read. What cannot be rendered is an
// undefined value that holds the error; it fails what uses it, or the whole in whose result it is left.

// tagged renders a value and finishes it.
func (t *Templar) tagged(ctx context.Context, v value.Value, r rendering, s *scope) (value.Value, error) {
	if text, ok := v.(value.Source); ok {
		if !t.trusts(text) {
			return v, nil
		}
		out, err := t.rendered(ctx, text.Text(), r, s)
		if err == nil {
			out, err = t.finished(out)
		}
		return out, about(taggedError(err, false), text.Text())
	}
	out, err := t.finished(t.lazily(ctx, v, s))
	return out, taggedError(err, false)
}

// trusts reports whether a trusted text looks like a template.
func (t *Templar) trusts(s value.Source) bool {
	return t.possiblyTemplate(s.Text()) || strings.HasPrefix(s.Text(), overrideHeader)
}

// rendered evaluates a text that is a template. The result may be undefined, and what is in it too.
func (t *Templar) rendered(ctx context.Context, src string, r rendering, s *scope) (value.Value, error) {
	if name, ok := singleVar(src); ok && r.flavor != flavorText && t.syntax == nil && isName(name) {
		in := *s
		in.src = src
		v, found, err := in.Var(ctx, name)
		if err != nil {
			return nil, err
		}
		if found && (!value.IsText(v) || src[len(src)-1] != '\n') {
			return v, nil
		}
	}
	p := t.o.Engine.compile(src, r.settings)
	if p.err != nil {
		return nil, about(taggedError(p.err, false), src)
	}
	in := s.evaluating(p, r)
	in.src = src
	v, _, err := p.t.EvalUnsafe(ctx, in)
	if err != nil {
		return nil, about(taggedError(err, false), src)
	}
	if u, ok := v.(*value.Undefined); ok {
		return sourced(u, src), nil
	}
	return keepNewlines(p, v, false), nil
}

// sourced returns an undefined value that knows which template it comes from.
func sourced(u *value.Undefined, src string) *value.Undefined {
	err := u.Err
	if err == nil {
		err = taggedError(u.Use(), false)
	}
	with := *u
	with.Err = about(err, src)
	return &with
}

// isName reports whether a word is a variable in an expression, and neither a constant nor a number.
func isName(word string) bool {
	switch word {
	case "", "true", "false", "none", "True", "False", "None", "self", "not":
		return false
	}
	return word[0] < '0' || word[0] > '9'
}

// lazily returns a value whose templates are rendered when they are read: the entries of dicts later, all others now.
func (t *Templar) lazily(ctx context.Context, v value.Value, s *scope) value.Value {
	switch v := v.(type) {
	case value.Source:
		if !t.trusts(v) {
			return v
		}
		out, err := t.deeperText(ctx, v, s)
		if err != nil {
			return broken(err)
		}
		return out
	case *value.Vault:
		if err := value.Sealed(v); err != nil {
			return broken(sealed(v, err))
		}
	case *value.List:
		if t.settled(v, 0) {
			return v
		}
		return &value.List{Items: t.lazyItems(ctx, v.Items, s)}
	case *value.Lines:
		if t.settled(v, 0) {
			return v
		}
		return t.lazily(ctx, v.List(), s)
	case *value.Tuple:
		return &value.Tuple{Items: t.lazyItems(ctx, v.Items, s), Names: v.Names}
	case *value.Dict:
		if t.settled(v, 0) {
			return v
		}
		out := value.NewDict()
		for i := range v.Len() {
			k, item := v.Kept(i)
			if !t.settled(item, 0) {
				raw := item
				item = value.NewLater(func() value.Value { return t.lazily(ctx, raw, s) }, broken(taggedLoop()))
			}
			out.SetKey(k, item)
		}
		return out
	}
	return v
}

func (t *Templar) deeperText(ctx context.Context, v value.Source, s *scope) (value.Value, error) {
	if err := s.deeper(); err != nil {
		return nil, taggedLoop()
	}
	defer s.higher()
	return t.rendered(ctx, v.Text(), t.usual(), s)
}

func (t *Templar) lazyItems(ctx context.Context, items []value.Value, s *scope) []value.Value {
	out := make([]value.Value, len(items))
	for i, item := range items {
		out[i] = t.lazily(ctx, item, s)
	}
	return out
}

// settled reports whether there is no template in a value.
func (t *Templar) settled(v value.Value, depth int) bool {
	if depth > maxNesting {
		return false
	}
	switch v := v.(type) {
	case value.Source:
		return !t.trusts(v)
	case *value.List:
		for _, item := range v.Items {
			if !t.settled(item, depth+1) {
				return false
			}
		}
	case *value.Tuple:
		return t.settled(&value.List{Items: v.Items}, depth)
	case *value.Dict:
		for i := range v.Len() {
			if _, item := v.Kept(i); !t.settled(item, depth+1) {
				return false
			}
		}
	case *value.Later:
		return false
	case *value.Lines:
		if text := v.Text(); text != nil {
			return t.settled(text, depth)
		}
		return t.settled(v.List(), depth)
	}
	return true
}

// broken returns the value of what cannot be rendered.
func broken(err error) *value.Undefined {
	var used *value.UndefinedError
	if !errors.As(err, &used) || used.Undefined == nil || used.Undefined.Lenient {
		return &value.Undefined{Msg: err.Error(), Err: err, Broken: !IsUndefined(err)}
	}
	if worded, ok := err.(*Error); ok && worded.Src != "" && used.Undefined.Err == nil {
		with := *used.Undefined
		with.Err = worded
		return &with
	}
	return used.Undefined
}

// Undefined returns the value that stands for what cannot be rendered in the tagged language: who uses it fails with
// the error.
func Undefined(err error) value.Value { return broken(err) }

// lazyVar returns a variable as an expression sees it.
func (s *scope) lazyVar(ctx context.Context, name string, raw value.Value) (value.Value, error) {
	if name == "play_hosts" {
		s.t.deprecated("The `play_hosts` magic variable is deprecated.", "Use `ansible_play_batch` instead.", s.src, next)
	}
	if o, ok := s.t.vars.(Outdated); ok && !s.t.local.Has(name) {
		if why, instead, version := o.Outgoing(name); why != "" {
			s.t.deprecated(why, instead, s.src, version)
		}
	}
	text, isText := raw.(value.Source)
	if !isText || !s.t.trusts(text) {
		return s.t.lazily(ctx, raw, &scope{t: s.t, up: s, work: s.work}), nil
	}
	for at := s; at != nil; at = at.up {
		if at.name == name {
			return broken(about(taggedLoop(), text.Text())), nil
		}
	}
	v, err := s.t.deeperText(ctx, text, &scope{t: s.t, up: s, name: name, work: s.work})
	if err != nil && !passThrough(err) {
		return broken(err), nil
	}
	return v, err
}

func taggedLoop() error {
	return &Error{Class: "AnsibleTemplateError",
		Msg: "Recursive loop detected in template: maximum recursion depth exceeded"}
}

// concatTagged makes the result of what a template printed: one value is itself, several are a text. None prints as
// nothing.
func concatTagged(nodes []value.Value) (value.Value, error) {
	var one value.Value = value.None{}
	n := 0
	for _, v := range nodes {
		if !value.IsNone(v) {
			one = v
			n++
		}
	}
	if n <= 1 {
		return one, nil
	}
	var b strings.Builder
	b.Grow(value.TextSize(nodes))
	for _, v := range nodes {
		if value.IsNone(v) || IsOmit(v) {
			continue
		}
		if err := printable(v, 0); err != nil {
			return nil, err
		}
		s, err := value.ToStr(listed(v))
		if err != nil {
			return nil, err
		}
		b.WriteString(s)
	}
	return value.Str(b.String()), nil
}

// listed returns a value that was found printable, as it prints: tuples and views are lists, at any depth.
func listed(v value.Value) value.Value {
	items := func(all []value.Value) *value.List {
		out := &value.List{Items: make([]value.Value, len(all))}
		for i, item := range all {
			out.Items[i] = listed(item)
		}
		return out
	}
	switch v := v.(type) {
	case *value.List:
		return items(v.Items)
	case *value.Tuple:
		return items(v.Items)
	case *value.View:
		return items(v.Items())
	case *value.Dict:
		out := value.NewDict()
		v.Each(func(k, item value.Value) bool { return out.SetKey(k, listed(item)) })
		return out
	}
	return v
}

// printable is the error of printing what holds an undefined value.
func printable(v value.Value, depth int) error {
	if depth > maxNesting {
		return taggedLoop()
	}
	switch v := v.(type) {
	case *value.Undefined:
		return v.Use()
	case *value.List:
		return printableItems(v.Items, depth)
	case *value.Tuple:
		return printableItems(v.Items, depth)
	case *value.Dict:
		for i := range v.Len() {
			_, item := v.At(i)
			if err := printable(item, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func printableItems(items []value.Value, depth int) error {
	for _, item := range items {
		if err := printable(item, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// deferTagged words the error of a filter, test or call for the undefined value that stands for it.
func (e *Engine) deferTagged(kind, name string, err error) error {
	var syntax *jinja.SyntaxError
	switch {
	// Ansible knows when it compiles what is missing
	case passThrough(err), ErrorClass(err) == "RecursionError", errors.As(err, &syntax) && syntax.Late:
		return nil
	case kind == "":
		return taggedError(err, false)
	}
	if !strings.Contains(name, ".") && (e.env.Filters[name] != nil || e.env.Tests[name] != nil) {
		name = "ansible.builtin." + name
	}
	return pluginFailed(kind, name, err)
}

func pluginFailed(kind, name string, err error) error {
	return &Error{Class: "AnsibleTemplatePluginRuntimeError", Err: err,
		Msg: bounded("The " + kind + " plugin " + value.ReprText(name) + " failed: " + plainTypes(err.Error()))}
}

// taggedError words why a template or expression cannot be rendered.
func taggedError(err error, expression bool) error {
	if err == nil || passThrough(err) {
		return err
	}
	what := "template"
	if expression {
		what = "expression"
	}
	if e, ok := err.(*Error); ok && e.Src != "" && e.Class != "AnsibleError" { // worded where it happened
		return partly(e, what)
	}
	var used *value.UndefinedError
	if errors.As(err, &used) {
		u := used.Undefined
		switch {
		case u == nil:
			return &Error{Class: "AnsibleUndefinedVariable", Msg: err.Error(), Err: err}
		case u.Err != nil:
			return partly(u.Err, what)
		case u.Lenient:
			return &Error{Class: "AnsibleTemplateError", Msg: "Error rendering " + what + ": " + u.Msg, Err: err}
		}
		return &Error{Class: "AnsibleUndefinedVariable", Msg: plainTypes(u.Tagged()), Err: err}
	}
	var worded *Error
	if errors.As(err, &worded) && worded.Class != "AnsibleError" {
		return partly(worded, what)
	}
	var syntax *jinja.SyntaxError
	if errors.As(err, &syntax) {
		return &Error{Class: "AnsibleTemplateSyntaxError", Msg: "Syntax error in " + what + ": " + syntax.Msg, Err: err}
	}
	var missing *jinja.NotFoundError
	if errors.As(err, &missing) && !missing.Several {
		return &Error{Class: "AnsibleTemplateError",
			Msg: "Error rendering " + what + ": " + value.ReprText(missing.Name) + " not found in search path", Err: err}
	}
	return &Error{Class: "AnsibleTemplateError", Msg: bounded("Error rendering " + what + ": " + plainTypes(err.Error())),
		Err: err}
}

// partly is an error of a template or expression; one that is about a value alone is the cause of the template's.
func partly(err error, what string) error {
	if e, ok := err.(*Error); ok && e.Part {
		return &Error{Class: "AnsibleTemplateError", Msg: "Error rendering " + what + ": " + e.Msg, Err: e}
	}
	return err
}

// plainTypes returns a message in which all text is of the type str.
func plainTypes(msg string) string {
	if !strings.Contains(msg, "Ansible") && !strings.Contains(msg, "NativeJinja") {
		return msg
	}
	return strings.NewReplacer("AnsibleUnicode", "str", "AnsibleUnsafeText", "str", "NativeJinjaUnsafeText", "str",
		"NativeJinjaText", "str",
		"AnsibleVaultEncryptedUnicode", "str").Replace(msg)
}
