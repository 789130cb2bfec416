package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hark/agent/internal/outside"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// fields are the keywords of a step, rendered for one execution. Conditions stay as they are: they are judged when they
// matter.
type fields struct {
	noLog             bool
	check, diff       bool
	become            bool
	becomeUser        string
	becomeMethod      string
	becomeFlags       string
	becomeExe         string
	becomePassword    string
	remoteUser        string
	connection        string
	port              int64
	ignoreErrors      bool
	ignoreUnreachable bool
	delegate          string
	delegateFacts     bool
	async, poll       int64
	retries, delay    int64
	timeout           int64
	notify            []string
	environment       *value.Dict
	args              *value.Dict
	otherFacts        bool // facts are not gathered by the native module, see plan.OtherFacts
}

// rawFields are what counts for a task that failed before its keywords could be rendered: a template is
// text, and text is true.
func (e *eval) rawFields() *fields {
	f := &fields{
		noLog: rawTruth(e.s.NoLog), ignoreErrors: rawTruth(e.s.IgnoreErrors), ignoreUnreachable: rawTruth(e.s.IgnoreUnreachable),
		check: e.r.doc.Play.Check, diff: e.r.doc.Play.Diff,
	}
	if d, ok := value.Text(e.s.DelegateTo.V); ok {
		f.delegate = d
	}
	return f
}

func rawTruth(x plan.Expr) bool {
	if x.IsZero() {
		return false
	}
	ok, err := value.Truth(x.V)
	return ok && err == nil
}

// reader renders keyword after keyword and keeps the first error.
type reader struct {
	ctx context.Context
	e   *eval
	// contextual: these keywords are those of the connection, whose errors name no place.
	contextual bool
	err        error
}

// keep sets a field unless a keyword could not be rendered: what was not reached stays as written.
func keep[T any](rd *reader, field *T, v T) {
	if rd.err == nil {
		*field = v
	}
}

// context renders the keywords that are known before the conditions are judged. Its error matters only if they hold.
func (e *eval) context(ctx context.Context, f *fields) error {
	rd := &reader{ctx: ctx, e: e, contextual: true}
	f.become = rd.boolVar("become", e.s.Become, "ansible_become")
	f.becomeMethod = rd.textVar("become_method", e.s.BecomeMethod, "ansible_become_method")
	own := outside.MethodVariable(f.becomeMethod)
	f.becomeExe = rd.textVar("become_exe", e.s.BecomeExe, own+"exe", "ansible_become_exe")
	f.becomeFlags = rd.textVar("become_flags", e.s.BecomeFlags, own+"flags", "ansible_become_flags")
	f.becomePassword = rd.textVar("become_pass", plan.Lit(value.UnsafeStr(e.r.start.BecomePassword)), own+"pass", "ansible_become_pass", "ansible_become_password")
	f.becomeUser = rd.textVar("become_user", e.s.BecomeUser, own+"user", "ansible_become_user")
	f.connection = rd.textVar("connection", e.s.Connection, "ansible_connection")
	f.remoteUser = rd.textVar("remote_user", e.s.RemoteUser, "ansible_ssh_user", "ansible_user")
	e.scope.Beneath = func(ctx context.Context, name string) (value.Value, bool, error) { return e.reached(ctx, f, name) }
	keep(rd, &f.noLog, rd.bool("no_log", e.s.NoLog))
	return rd.err
}

// fields renders the rest, once the conditions hold.
func (e *eval) fields(ctx context.Context, f *fields) error {
	rd := &reader{ctx: ctx, e: e}
	keep(rd, &f.port, rd.int("port", e.s.Port, 0))
	keep(rd, &f.environment, rd.environment(e.s.Environment))
	rd.bool("run_once", e.s.RunOnce)
	keep(rd, &f.ignoreErrors, rd.bool("ignore_errors", e.s.IgnoreErrors))
	keep(rd, &f.ignoreUnreachable, rd.bool("ignore_unreachable", e.s.IgnoreUnreachable))
	if !e.s.CheckMode.IsZero() {
		keep(rd, &f.check, rd.bool("check_mode", e.s.CheckMode))
	}
	if !e.s.Diff.IsZero() {
		keep(rd, &f.diff, rd.bool("diff", e.s.Diff))
	}
	rd.bool("any_errors_fatal", e.s.AnyErrorsFatal)
	rd.int("throttle", e.s.Throttle, 0)
	keep(rd, &f.timeout, rd.int("timeout", e.s.Timeout, 0))
	rd.debugger(e.s.Debugger)
	keep(rd, &f.otherFacts, rd.otherFacts())
	keep(rd, &f.args, rd.args(f.otherFacts))
	keep(rd, &f.async, rd.int("async_val", e.s.Async, 0))
	keep(rd, &f.delay, rd.int("delay", e.s.Delay, 5))
	keep(rd, &f.delegate, rd.text("delegate_to", e.s.DelegateTo))
	keep(rd, &f.delegateFacts, rd.bool("delegate_facts", e.s.DelegateFacts))
	keep(rd, &f.notify, rd.texts("notify", e.s.Notify))
	keep(rd, &f.poll, rd.int("poll", e.s.Poll, 15))
	keep(rd, &f.retries, rd.int("retries", e.s.Retries, 3))
	return rd.err
}

// render gives the value of a keyword, nil if it is not given or None. One that is omitted is what it would inherit.
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

// fault is the error of a keyword that cannot be rendered: Ansible adds words and place when a variable is undefined or
// a value is refused.
func (rd *reader) fault(name string, x plan.Expr, err error) error {
	isUndefined := templar.IsUndefined(err)
	err = rd.e.check(rd.ctx, err)
	var f *fault
	if !errors.As(err, &f) {
		return err
	}
	if rd.e.tagged() {
		return rd.keyword(name, x, f)
	}
	switch f.kind {
	case "TypeError", "ValueError", "JSONDecodeError", "UnicodeDecodeError", "UnicodeEncodeError":
		rd.invalid(name, x, kinds[name], f.text)
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

// kinds are what Ansible wants keywords to be.
var kinds = map[string]string{
	"args": "dict", "environment": "list", "notify": "list", "delegate_to": "string", "become_user": "string", "become_method": "string",
	"become_flags": "string", "become_exe": "string", "connection": "string", "remote_user": "string", "async_val": "int", "poll": "int",
	"retries": "int", "delay": "int", "timeout": "int", "ignore_errors": "bool", "ignore_unreachable": "bool", "become": "bool", "no_log": "bool",
	"port": "int", "throttle": "int", "run_once": "bool", "any_errors_fatal": "bool", "check_mode": "bool", "diff": "bool", "delegate_facts": "bool", "loop_var": "str", "index_var": "str", "pause": "float", "extended": "bool",
}

// placed is a fault of a keyword. Where Ansible has no place to show it repeats the cause.
func (rd *reader) placed(text, cause string) error {
	if rd.contextual {
		return &fault{text: text + ". " + cause}
	}
	return &fault{text: text, place: true}
}

func (rd *reader) invalid(name string, x plan.Expr, kind, cause string) {
	raw, _ := value.ToStr(x.V)
	if rd.e.tagged() {
		rd.err = rd.keyword(name, x, &fault{text: "The value " + value.ReprText(raw) + " could not be converted to " + value.ReprText(kind) + "."})
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
	b, err := boolOf(v)
	if err != nil {
		rd.invalid(name, x, "bool", err.Error())
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
		rd.invalid(name, x, "int", err.Error())
	}
	return n
}

// debugger is when the debugger opens. It refuses what Ansible does not know.
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

// overridden is a keyword of the connection: a variable of one of the names wins over what the playbook says.
func (rd *reader) overridden(x plan.Expr, names []string) plan.Expr {
	if rd.err != nil {
		return x
	}
	for _, name := range names {
		raw, ok, err := rd.e.scope.Raw(rd.ctx, name)
		if err != nil {
			rd.err = rd.e.check(rd.ctx, err)
		}
		if ok {
			return plan.Lit(raw)
		}
	}
	return x
}

func (rd *reader) textVar(name string, x plan.Expr, names ...string) string {
	return rd.text(name, rd.overridden(x, names))
}

func (rd *reader) boolVar(name string, x plan.Expr, names ...string) bool {
	return rd.bool(name, rd.overridden(x, names))
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
			rd.e.r.warn(rd.e.id, "could not parse environment value, skipping: "+shown)
		}
	}
	return out
}

// variables renders one mapping of the environment. While facts are gathered, what waits for them is left out.
func (rd *reader) variables(out, d *value.Dict) {
	gathering := rd.e.s.Action == "ansible.builtin.setup" || rd.e.s.Action == "ansible.builtin.gather_facts"
	for i := 0; i < d.Len() && rd.err == nil; i++ {
		k, v := d.At(i)
		rendered, err := rd.e.tpl.Template(rd.ctx, v)
		switch {
		case err == nil:
			out.SetKey(k, rendered)
		case gathering && (strings.Contains(err.Error(), "ansible_env") || strings.Contains(err.Error(), "ansible_facts.env")):
		default:
			rd.err = rd.fault("environment", plan.Lit(d), err)
		}
	}
}

// args renders the arguments; those of the playbook's mapping win over those of `args: "{{ x }}"`, and both over module_defaults.
func (rd *reader) args(otherFacts bool) *value.Dict {
	if rd.err != nil {
		return nil
	}
	out, defaults := value.NewDict(), rd.e.s.Defaults
	if otherFacts {
		defaults = rd.e.s.Facts.Defaults
	}
	for _, d := range defaults {
		rd.overlay(out, d.Dict)
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

func (rd *reader) overlay(out, d *value.Dict) {
	if d.Len() == 0 || rd.err != nil {
		return
	}
	if rd.e.tagged() {
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

func (rd *reader) argsFromVariable(out *value.Dict) {
	v, err := rd.e.tpl.Template(rd.ctx, value.YAMLStr(rd.e.s.ArgsExpr))
	if err != nil {
		rd.err = rd.fault("args", plan.Lit(value.YAMLStr(rd.e.s.ArgsExpr)), err)
		return
	}
	d, ok := v.(*value.Dict)
	if !ok {
		text, _ := value.ToStr(v)
		rd.err = &fault{text: "invalid or malformed argument: '" + text + "'"}
		return
	}
	if rd.e.r.doc.Play.InjectFacts {
		rd.e.r.warn(rd.e.id, "Using a variable for a task's 'args' is unsafe in some situations (see "+
			"https://docs.ansible.com/ansible/devel/reference_appendices/faq.html#argsplat-unsafe)")
	}
	d.Each(func(k, v value.Value) bool { return out.SetKey(k, v) })
}
