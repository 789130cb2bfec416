package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// reader renders one keyword after the other and keeps the first error.
type reader struct {
	ctx context.Context
	e   *eval
	// contextual says that these are keywords of the connection, whose errors name no place.
	contextual bool
	// of is the keyword within which these stand, whose place errors name; "" for keywords of the task.
	of  string
	err error
}

// keep sets a field unless a keyword could not be rendered: later keywords stay as written.
func keep[T any](rd *reader, field *T, v T) {
	if rd.err == nil {
		*field = v
	}
}

// stage renders the keywords of a task that count at a stage. Conditions are judged, not rendered.
func (rd *reader) stage(at plan.Stage, f *fields) {
	for _, k := range staged()[at] {
		rd.keyword(k, f)
	}
}

// staged returns the keywords of a task for each stage, in the order of the table.
var staged = sync.OnceValue(func() map[plan.Stage][]*plan.Keyword {
	out := map[plan.Stage][]*plan.Keyword{}
	all := plan.Keywords()
	for i := range all {
		if k := &all[i]; k.On.Has(plan.OnTask) && !k.Bare {
			out[k.Stage] = append(out[k.Stage], k)
		}
	}
	return out
})

// keyword renders a keyword into its field. A keyword that is not given keeps its value, or has the table's default.
func (rd *reader) keyword(k *plan.Keyword, f *fields) {
	switch k.Name {
	case "delegate_to":
		if f.delegateKnown {
			return
		}
	case "args":
		keep(rd, &f.otherFacts, rd.otherFacts())
		keep(rd, &f.args, rd.args(f.otherFacts))
		return
	case "environment":
		keep(rd, &f.environment, rd.environment(rd.e.s.Environment))
		return
	}
	x := *k.One(rd.e.s)
	if len(k.Vars) > 0 {
		own, ok := rd.overridden(k.Variables(f.becomeMethod))
		if ok && k.Becomes() && !rd.e.s.DelegateTo.IsZero() {
			f.own = append(f.own, k)
		}
		if ok {
			x = own
		}
	}
	rd.set(k, x, f)
}

// set renders a keyword's text into its field.
func (rd *reader) set(k *plan.Keyword, x plan.Expr, f *fields) {
	name := k.AnsibleName()
	switch to := f.of(k.Name).(type) {
	case *bool:
		if !x.IsZero() {
			keep(rd, to, rd.bool(name, x))
		}
	case *int64:
		otherwise, _ := value.AsInt(k.Default)
		keep(rd, to, rd.int(name, x, otherwise))
	case *string:
		keep(rd, to, rd.text(name, x))
	case *[]string:
		keep(rd, to, rd.texts(name, x))
	case nil:
		rd.check(k, x, f)
	}
}

// check renders a keyword without a field to find errors.
func (rd *reader) check(k *plan.Keyword, x plan.Expr, f *fields) {
	if x.IsZero() {
		return
	}
	var v value.Value
	switch k.Is {
	case plan.IsBool:
		v = value.Bool(rd.bool(k.Name, x))
	case plan.IsInt:
		v = value.Int(rd.int(k.Name, x, 0))
	default:
		v = value.Str(rd.debugger(x))
	}
	if rd.err == nil {
		if f.checked == nil {
			f.checked = map[string]value.Value{}
		}
		f.checked[k.Name] = v
	}
}

// render returns the value of a keyword, nil if it is not given or None. An omitted one has the value that it would
// inherit.
func (rd *reader) render(name string, x plan.Expr) value.Value {
	v := rd.once(name, x)
	if v != nil && templar.IsOmit(v) {
		v = rd.once(name, rd.e.s.Otherwise[strings.TrimSuffix(name, "_val")])
	}
	if v == nil || templar.IsOmit(v) || value.IsNone(v) {
		return nil
	}
	return v
}

func (rd *reader) once(name string, x plan.Expr) value.Value {
	if rd.err != nil || x.IsZero() {
		return nil
	}
	v, err := rd.e.tpl.Template(rd.ctx, x.V)
	if err != nil {
		rd.err = rd.fault(name, x, err)
		return nil
	}
	return v
}

// fault returns the error of a keyword that cannot be rendered. Ansible adds words and place when a variable is
// undefined or a value is refused.
func (rd *reader) fault(name string, x plan.Expr, err error) error {
	isUndefined := templar.IsUndefined(err)
	err = rd.e.check(rd.ctx, err)
	var f *fault
	if !errors.As(err, &f) {
		return err
	}
	if rd.e.has(dialect.KeywordWords) {
		return rd.processing(name, x, f)
	}
	switch f.kind {
	case "TypeError", "ValueError", "JSONDecodeError", "UnicodeDecodeError", "UnicodeEncodeError":
		k, _ := plan.KeywordNamed(name)
		rd.invalid(name, x, x.V, string(k.Is), f.text)
		return rd.err
	}
	if !isUndefined {
		f.keyword = !rd.contextual
		return f
	}
	text := "The field '" + name + "' has an invalid value, which includes an undefined variable. The error was: " + f.text
	if name == "args" {
		text = "The task includes an option with an undefined variable. The error was: " + f.text
	}
	return rd.placed(text, f.text)
}

// placed returns the fault of a keyword. Where Ansible has no place to show it repeats the cause.
func (rd *reader) placed(text, cause string) error {
	if rd.contextual {
		return &fault{text: text + ". " + cause}
	}
	return &fault{text: text, place: true, of: rd.of, again: cause}
}

// invalid returns the fault of a keyword that renders to v, which has the wrong type.
func (rd *reader) invalid(name string, x plan.Expr, v value.Value, kind, cause string) {
	raw, _ := value.ToStr(x.V)
	if rd.e.has(dialect.KeywordWords) {
		msg := "The value " + value.ReprText(value.Printed(v)) + " could not be converted to " + value.ReprText(kind) + "."
		rd.err = rd.processing(name, x, &fault{text: msg, links: []link{{msg: msg, apart: true, spot: spot{text: raw}}}})
		return
	}
	rd.err = rd.placed(fmt.Sprintf("the field '%s' has an invalid value (%s), and could not be converted to an %s."+
		"The error was: %s", name, raw, kind, cause), cause)
}

func (rd *reader) bool(name string, x plan.Expr) bool {
	v := rd.render(name, x)
	if v == nil {
		return false
	}
	b, err := value.StrictBool(v)
	if err != nil {
		rd.invalid(name, x, v, "bool", err.Error())
	}
	return b
}

func (rd *reader) text(name string, x plan.Expr) string {
	v := rd.render(name, x)
	if v == nil {
		return ""
	}
	s, err := value.ToStr(v)
	if err != nil {
		rd.err = rd.fault(name, x, err)
	}
	return s
}

func (rd *reader) int(name string, x plan.Expr, otherwise int64) int64 {
	v := rd.render(name, x)
	if v == nil {
		return otherwise
	}
	n, err := intOf(v)
	if err != nil {
		rd.invalid(name, x, v, "int", err.Error())
	}
	return n
}

// debugger returns when the debugger opens. It rejects words that Ansible does not know.
func (rd *reader) debugger(x plan.Expr) string {
	text := rd.text("debugger", x)
	switch text {
	case "", "always", "on_failed", "on_unreachable", "on_skipped", "never":
	default:
		rd.err = &fault{text: "'" + text + "' is not a valid value for debugger. Must be one of " +
			"always, never, on_failed, on_skipped, on_unreachable", place: true}
	}
	return text
}

func (rd *reader) texts(name string, x plan.Expr) []string {
	v := rd.render(name, x)
	if v == nil {
		return nil
	}
	items := []value.Value{v}
	if l, ok := v.(*value.List); ok {
		items = l.Items
	}
	var out []string
	for _, item := range items {
		s, err := value.ToStr(item)
		if err != nil {
			rd.err = rd.fault(name, x, err)
			return nil
		}
		out = append(out, s)
	}
	return out
}

// overridden returns the first variable that is set; it overrides the playbook.
func (rd *reader) overridden(names []string) (plan.Expr, bool) {
	if rd.err != nil {
		return plan.Expr{}, false
	}
	for _, name := range names {
		raw, ok, err := rd.e.scope.Raw(rd.ctx, name)
		if err != nil {
			rd.err = rd.e.check(rd.ctx, err)
		}
		if ok {
			return plan.Lit(raw), true
		}
	}
	return plan.Expr{}, false
}

// environment merges the mappings, outermost first.
func (rd *reader) environment(list []plan.Expr) *value.Dict {
	out := value.NewDict()
	for _, x := range list {
		if d, ok := x.V.(*value.Dict); ok {
			rd.variables(out, d)
			continue
		}
		v := rd.render("environment", x)
		if d, ok := v.(*value.Dict); ok {
			d.Each(func(k, v value.Value) bool { return out.SetKey(k, v) })
		} else if v != nil {
			shown, _ := value.Repr(value.NewList(x.V))
			rd.e.g.line.warn(rd.e.id, "could not parse environment value, skipping: "+shown)
		}
	}
	return out
}

// variables renders one mapping of the environment. While facts are gathered, it leaves out what needs them.
func (rd *reader) variables(out, d *value.Dict) {
	gathering := rd.e.gathers()
	for i := 0; i < d.Len() && rd.err == nil; i++ {
		k, v := d.At(i)
		rendered, err := rd.e.tpl.Template(rd.ctx, v)
		switch {
		case err == nil:
			if !rd.e.has(dialect.EnvironmentOmit) || !templar.IsOmit(rendered) {
				out.SetKey(k, rendered)
			}
		case gathering && (strings.Contains(err.Error(), "ansible_env") ||
			strings.Contains(err.Error(), "ansible_facts.env")):
		default:
			rd.err = rd.fault("environment", plan.Lit(d), err)
		}
	}
}

// args renders the arguments. Those of the playbook's mapping override those of `args: "{{ x }}"`, and both override
// module_defaults.
func (rd *reader) args(otherFacts bool) *value.Dict {
	if rd.err != nil {
		return nil
	}
	out, defaults, texts := value.NewDict(), rd.e.s.Defaults, rd.e.s.DefaultTexts
	if otherFacts {
		defaults, texts = rd.e.s.Facts.Defaults, rd.e.s.Facts.DefaultTexts
	}
	templates := texts()
	for i, d := range defaults {
		rd.overlay(out, d.Dict)
		rd.defaultsFrom(out, templates[i])
	}
	if rd.e.s.ArgsExpr != "" {
		rd.argsFromVariable(out)
	}
	rd.overlay(out, rd.e.s.Args.Dict)
	if rd.err != nil {
		return nil
	}
	return templar.StripOmit(out)
}

// defaultsFrom overlays module_defaults that are a template of a mapping; one without text is none.
func (rd *reader) defaultsFrom(out *value.Dict, text value.Source) {
	if rd.err != nil || text == (value.Source{}) {
		return
	}
	v, err := rd.e.tpl.Template(rd.ctx, text)
	if err != nil {
		rd.err = rd.fault("module_defaults", plan.Lit(text), err)
		return
	}
	d, ok := v.(*value.Dict)
	if !ok {
		rd.err = &fault{text: "module_defaults of " + rd.e.s.Written + " must be a dictionary, and are of type " + v.Type()}
		return
	}
	d.Each(func(k, v value.Value) bool { return out.SetKey(k, v) })
}

func (rd *reader) overlay(out, d *value.Dict) {
	if d.Len() == 0 || rd.err != nil {
		return
	}
	if rd.e.has(dialect.KeywordWords) {
		rd.overlayTagged(out, d)
		return
	}
	v, err := rd.e.tpl.Template(rd.ctx, d)
	if err != nil {
		rd.err = rd.fault("args", plan.Lit(d), err)
		return
	}
	if over, ok := v.(*value.Dict); ok {
		over.Each(func(k, v value.Value) bool { return out.SetKey(k, v) })
	}
}

// argsplat is the page that a warning names.
const argsplat = "https://docs.ansible.com/ansible/devel/reference_appendices/faq.html#argsplat-unsafe"

func (rd *reader) argsFromVariable(out *value.Dict) {
	v, err := rd.e.tpl.Template(rd.ctx, rd.e.s.ArgsText())
	if err != nil {
		rd.err = rd.fault("args", plan.Lit(rd.e.s.ArgsText()), err)
		return
	}
	if rd.e.has(dialect.ArgsMapping) && rd.e.g.play.InjectFacts {
		rd.e.notices.note(link{msg: "Using a template for task args is unsafe in some situations (see " + argsplat + ").",
			spot: spot{text: rd.e.s.ArgsExpr}}, "")
	}
	if rd.e.has(dialect.ArgsMapping) && templar.IsOmit(v) {
		return
	}
	d, ok := v.(*value.Dict)
	if !ok {
		text, _ := value.ToStr(v)
		rd.err = &fault{text: "invalid or malformed argument: '" + text + "'"}
		return
	}
	if rd.e.g.play.InjectFacts && !rd.e.has(dialect.ArgsMapping) {
		rd.e.g.line.warn(rd.e.id, "Using a variable for a task's 'args' is unsafe in some situations (see "+argsplat+")")
	}
	d.Each(func(k, v value.Value) bool { return out.SetKey(k, v) })
}
