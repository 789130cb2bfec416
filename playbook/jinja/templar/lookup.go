package templar

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"hark/modules/dialect"
	"hark/modules/py/datetime"
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// ansibleGlobals returns the functions that Ansible adds to Jinja's.
func ansibleGlobals() map[string]value.Value {
	fn := func(name string, f jinja.Func) value.Value { return &jinja.Function{Name: name, Fn: f} }
	return map[string]value.Value{
		"lookup": fn("lookup", lookup),
		"query":  fn("query", query),
		"q":      fn("q", query),
		"now":    fn("now", now),
		"undef":  fn("undef", undef),
	}
}

func lookup(c *jinja.Call, args *jinja.Args) (value.Value, error) {
	return looking(c, args, "lookup")
}

// looking does what lookup and query have in common. Since ansible-core 2.19 the name of the plug-in is no keyword, so
// that plug-ins can have an option called name.
func looking(c *jinja.Call, args *jinja.Args, called string) (value.Value, error) {
	s, isScope := c.Scope.(*scope)
	if !isScope {
		return nil, ansibleError(nil, "lookups cannot be used here")
	}
	if s.t.o.Engine.tagged {
		if len(args.Pos) == 0 {
			return nil, value.TypeErrorf("_%s() missing 1 required positional argument: 'plugin_name'", called)
		}
		kw := value.NewDict()
		for _, k := range args.Kw {
			kw.SetKey(value.Str(k.Name), k.V)
		}
		return s.lookup(c, args.Pos[0], args.Pos[1:], kw)
	}
	method := map[string]string{"lookup": "Templar._lookup", "query": "Templar._query_lookup"}[called]
	kw := value.NewDict()
	for _, k := range args.Kw {
		if k.Name != "name" {
			kw.SetKey(value.Str(k.Name), k.V)
		}
	}
	terms := args.Pos
	name, named := args.KwOf("name")
	switch {
	case named && len(terms) > 0:
		return nil, value.TypeErrorf("%s() got multiple values for argument 'name'", method)
	case !named && len(terms) == 0:
		return nil, value.TypeErrorf("%s() missing 1 required positional argument: 'name'", method)
	case !named:
		name, terms = terms[0], terms[1:]
	}
	return s.lookup(c, name, terms, kw)
}

func query(c *jinja.Call, args *jinja.Args) (value.Value, error) {
	kw := append([]jinja.Kwarg(nil), args.Kw...)
	return looking(c, &jinja.Args{Pos: args.Pos, Kw: append(kw, jinja.Kwarg{Name: "wantlist", V: value.Bool(true)})},
		"query")
}

// Call runs a lookup and gives its result as a list, or a filter or test that is not hark's own.
func (s *scope) Call(ctx context.Context, plugin, name string, args []value.Value,
	kw *value.Dict) (value.Value, error) {
	if plugin != "lookup" {
		if s.t.o.Plugin == nil {
			return nil, jinja.ErrNoPlugin
		}
		return s.t.o.Plugin(ctx, plugin, name, args, kw)
	}
	c := &jinja.Call{Ctx: ctx, Env: s.t.env(), Scope: s, Name: name}
	return s.lookup(c, value.Str(name), args, kw)
}

// lookup runs a lookup as Ansible's function of that name does.
func (s *scope) lookup(c *jinja.Call, nameV value.Value, terms []value.Value, kw *value.Dict) (value.Value, error) {
	name, err := value.ToStr(nameV)
	if err != nil {
		return nil, err
	}
	if s.noLookups {
		return nil, ansibleError(nil, "The lookup `%s` was found, however lookups were disabled from templating", name)
	}
	wantlist, err := takeFlag(kw, "wantlist")
	if err != nil {
		return nil, err
	}
	allowUnsafe, err := takeFlag(kw, "allow_unsafe")
	if err != nil {
		return nil, err
	}
	mode := "strict"
	if v, ok := kw.Get("errors"); ok {
		mode = value.Printed(v)
		kw.Delete(value.Str("errors"))
	}
	if s.t.o.Engine.tagged {
		return s.taggedLookup(c, name, mode, wantlist, terms, kw)
	}
	if !c.IsUnsafe() { // then nothing but source text has made them
		terms = value.Again(value.NewList(terms...)).(*value.List).Items
	}
	listed, err := s.t.templateItems(c.Ctx, terms, s.t.usual(), s)
	if err != nil {
		return nil, err
	}
	ran, err := s.run(c, name, listed.(*value.List).Items, kw)
	if err != nil {
		if err := s.lookupError(name, mode, err); err != nil {
			return nil, err
		}
		if wantlist {
			return value.NewList(), nil
		}
		return value.None{}, nil
	}
	return lookupResult(c, ran, wantlist, allowUnsafe), nil
}

func takeFlag(kw *value.Dict, name string) (bool, error) {
	v, ok := kw.Get(name)
	if !ok {
		return false, nil
	}
	kw.Delete(value.Str(name))
	return value.Truth(v)
}

// run finds the lookup plug-in and runs it.
func (s *scope) run(c *jinja.Call, name string, terms []value.Value, kw *value.Dict) (value.Value, error) {
	if f := s.t.o.Engine.lookups[name]; f != nil {
		items, err := f(c, terms, kw)
		return &value.List{Items: items}, err
	}
	if s.t.o.TemplateFile != nil && shortName(name) == "template" {
		return s.templateLookup(c.Ctx, terms, kw)
	}
	if s.t.o.Lookup != nil {
		return s.elsewhere(c.Ctx, name, terms, kw)
	}
	return nil, ErrUnknownLookup
}

// elsewhere runs a lookup that is not the engine's own. Undefined values cannot be sent to where it runs: they are an
// error, but for the default of env, which is one only where a variable is not set. An empty list stands for it then,
// which no variable is.
func (s *scope) elsewhere(ctx context.Context, name string, terms []value.Value, kw *value.Dict) (value.Value, error) {
	def, _ := kw.Get("default")
	_, unset := def.(*value.Undefined)
	if unset = unset && shortName(name) == "env"; unset {
		kw.Set("default", value.NewList())
	}
	if err := failUndefined(kw, 0); err != nil {
		return nil, err
	}
	ran, err := s.t.o.Lookup(ctx, name, terms, kw)
	items, isList := ran.(*value.List)
	if err != nil || !unset || !isList {
		return ran, err
	}
	for i, item := range items.Items {
		if _, missing := item.(*value.List); missing && i < len(terms) {
			return nil, &Error{Class: "AnsibleUndefinedVariable",
				Msg: `The "env" lookup, found an undefined variable: ` + firstWord(terms[i])}
		}
	}
	return ran, nil
}

func firstWord(v value.Value) string {
	if words := strings.Fields(value.Printed(v)); len(words) > 0 {
		return words[0]
	}
	return ""
}

func shortName(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, "ansible.builtin."), "ansible.legacy.")
}

// lookupError words a failed lookup; nil if the failure is to be ignored.
func (s *scope) lookupError(name, mode string, err error) error {
	class := ErrorClass(err)
	switch {
	case passThrough(err):
		return err
	case errors.Is(err, ErrUnknownLookup):
		return ansibleError(err, dialect.LookupNotFound.Format, name)
	case class == "AnsibleUndefinedVariable" || class == "UndefinedError":
		return &Error{Class: "AnsibleUndefinedVariable", Msg: err.Error(), Err: err}
	case class == "AnsibleOptionsError", class == "AnsiblePluginRemovedError":
		return err
	}
	msg := "Lookup failed but the error is being ignored: " + err.Error()
	failure := err
	if class != "AnsibleLookupError" {
		msg = fmt.Sprintf(
			"An unhandled exception occurred while running the lookup plugin '%s'. Error was a %s, original message: %s",
			name, classRepr(err), err)
		failure = because("AnsibleError", err, msg)
	}
	switch mode {
	case "warn":
		s.t.warn(msg)
		return nil
	case "ignore":
		return nil
	}
	return failure
}

// lookupResult makes what a template gets of what a plug-in gave: all of it is unsafe unless that is allowed, and
// text is joined with commas unless a list is wanted.
func lookupResult(c *jinja.Call, ran value.Value, wantlist, allowUnsafe bool) value.Value {
	if n, err := value.Len(ran); err == nil && n == 0 || allowUnsafe {
		return ran
	}
	c.MarkUnsafe()
	if wantlist {
		return value.Unsafe(ran)
	}
	if d, ok := ran.(*value.Dict); ok {
		ran = value.NewList(d.Keys()...) // some plug-ins give mappings
	}
	l, ok := ran.(*value.List)
	if !ok {
		return value.Unsafe(ran)
	}
	texts := make([]string, len(l.Items))
	for i, item := range l.Items {
		s, isText := value.Text(item)
		if !isText {
			if len(l.Items) == 1 {
				return value.Unsafe(item)
			}
			return value.Unsafe(ran)
		}
		texts[i] = s
	}
	joined := strings.Join(texts, ",")
	switch l.Items[0].(type) {
	case value.NativeStr, value.NativeUnsafeStr:
		return value.NativeUnsafeStr(joined)
	}
	return value.UnsafeStr(joined)
}

func now(c *jinja.Call, args *jinja.Args) (value.Value, error) {
	a, err := args.BindCall("Templar._now_datetime", value.Opt("utc", value.Bool(false)), value.Opt("fmt", value.None{}))
	if err != nil {
		return nil, err
	}
	utc, err := value.Truth(a[0])
	if err != nil {
		return nil, err
	}
	at := c.Now()
	here := at.Location()
	if utc {
		at = at.UTC()
	}
	return nowValue(at, here, a[1])
}

func undef(_ *jinja.Call, args *jinja.Args) (value.Value, error) {
	a, err := args.BindCall("Templar._make_undefined", value.Opt("hint", value.None{}))
	if err != nil {
		return nil, err
	}
	if hint, ok := value.Text(a[0]); ok && hint != "" {
		return value.UndefinedHint(hint), nil
	}
	return value.UndefinedHint("Mandatory variable has not been overridden"), nil
}

// UndefText returns a template that comes to an undefined value with a message, which stays a message whatever it
// says.
func UndefText(why string) value.Value {
	return value.SourceText("{{ undef(" + value.ReprText(why) + ") }}")
}

func nowValue(at time.Time, here *time.Location, format value.Value) (value.Value, error) {
	naive := datetime.Naive(at)
	naive.Here = here
	if f, ok := value.Text(format); ok && f != "" {
		text, err := naive.Format(f)
		return value.Str(text), err
	}
	return naive, nil
}
