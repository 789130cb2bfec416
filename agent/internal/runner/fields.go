package runner

import (
	"context"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// fields are the keywords of a step, rendered for one execution. Conditions stay unrendered until they are judged.
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
	delegateKnown     bool // delegate_to is rendered
	async, poll       int64
	retries, delay    int64
	timeout           int64
	notify            []string
	environment       *value.Dict
	args              *value.Dict
	otherFacts        bool // other modules than the native one gather facts, see plan.FactsModules
	// own are the keywords of becoming another user that variables of the task's own host have overridden, in a task that
	// may be delegated.
	own []*plan.Keyword
	// checked are keywords that are rendered only to find errors, and read elsewhere as written.
	checked map[string]value.Value
}

// fieldOf maps keywords to fields. A keyword without a field is only checked, or has another form.
var fieldOf = map[string]func(f *fields) any{
	"no_log":             func(f *fields) any { return &f.noLog },
	"check_mode":         func(f *fields) any { return &f.check },
	"diff":               func(f *fields) any { return &f.diff },
	"become":             func(f *fields) any { return &f.become },
	"become_user":        func(f *fields) any { return &f.becomeUser },
	"become_method":      func(f *fields) any { return &f.becomeMethod },
	"become_flags":       func(f *fields) any { return &f.becomeFlags },
	"become_exe":         func(f *fields) any { return &f.becomeExe },
	"remote_user":        func(f *fields) any { return &f.remoteUser },
	"connection":         func(f *fields) any { return &f.connection },
	"port":               func(f *fields) any { return &f.port },
	"ignore_errors":      func(f *fields) any { return &f.ignoreErrors },
	"ignore_unreachable": func(f *fields) any { return &f.ignoreUnreachable },
	"delegate_to":        func(f *fields) any { return &f.delegate },
	"delegate_facts":     func(f *fields) any { return &f.delegateFacts },
	"async":              func(f *fields) any { return &f.async },
	"poll":               func(f *fields) any { return &f.poll },
	"retries":            func(f *fields) any { return &f.retries },
	"delay":              func(f *fields) any { return &f.delay },
	"timeout":            func(f *fields) any { return &f.timeout },
	"notify":             func(f *fields) any { return &f.notify },
	"environment":        func(f *fields) any { return &f.environment },
	"args":               func(f *fields) any { return &f.args },
}

// of returns the field of a keyword, nil if it has none.
func (f *fields) of(name string) any {
	if field := fieldOf[name]; field != nil {
		return field(f)
	}
	return nil
}

// value returns a rendered keyword, nil if it was not rendered.
func (f *fields) value(name string) value.Value {
	switch v := f.of(name).(type) {
	case *bool:
		return value.Bool(*v)
	case *int64:
		return value.Int(*v)
	case *string:
		return value.Str(*v)
	case *[]string:
		return value.FromGo(*v, value.KindStr)
	case **value.Dict:
		return dictOr(*v, nil)
	}
	return f.checked[name]
}

// rawFields returns the keywords of a task that failed before they could be rendered: a template is text, and text is
// true.
func (e *eval) rawFields() *fields {
	f := &fields{
		noLog: value.IsTrue(e.s.NoLog.V), ignoreErrors: asWritten(e.s.IgnoreErrors, e.g.play.Level),
		ignoreUnreachable: asWritten(e.s.IgnoreUnreachable, e.g.play.Level),
		check:             e.g.play.Check, diff: e.g.play.Diff,
	}
	if d, ok := value.Text(e.s.DelegateTo.V); ok {
		f.delegate = d
	}
	return f
}

// asWritten returns a keyword of failures before it is rendered: a text is true, and since ansible-core 2.21 false.
func asWritten(x plan.Expr, l plan.Level) bool {
	_, isBool := x.V.(value.Bool)
	return value.IsTrue(x.V) && (isBool || !l.Has(dialect.IgnoreAsWritten))
}

// context renders the keywords that are known before the conditions are judged. Its error matters only if they hold.
func (e *eval) context(ctx context.Context, f *fields) error {
	rd := &reader{ctx: ctx, e: e, contextual: true}
	rd.stage(plan.AtWay, f)
	f.becomePassword = e.g.start.BecomePassword
	if own, ok := rd.overridden(dialect.BecomeVariables(f.becomeMethod, dialect.BecomePass)); ok {
		f.becomePassword = rd.text("become_pass", own)
	}
	e.scope.Beneath = connectionVars{e, f}.variable
	rd.stage(plan.AtGuard, f)
	return rd.err
}

// fields renders the rest, once the conditions hold.
func (e *eval) fields(ctx context.Context, f *fields) error {
	rd := &reader{ctx: ctx, e: e}
	rd.stage(plan.AtCall, f)
	return rd.err
}

// dictOr returns first unless it is nil, else second, else an empty mapping.
func dictOr(first, second *value.Dict) *value.Dict {
	switch {
	case first != nil:
		return first
	case second != nil:
		return second
	}
	return value.NewDict()
}
