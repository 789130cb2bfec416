package runner

import (
	"context"
	"errors"
	"slices"

	"hark/agent/internal/report"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/foreign"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// task is one step being done by the host: the runs of its module, and what comes of them.
type task struct {
	r    *walk
	s    *plan.Step
	id   plan.ID
	base *eval
	mod  *modules.Module
	name string
	// f are the keywords that count for the whole of the task: of a loop those as written.
	f *fields
	// loopErr is why the loop's items are not known; it matters only if the conditions hold.
	loopErr error
	loop    bool
	started bool
	// shown: the debugger has shown how the task came out.
	shown bool
	// included are the calls of a dynamic include, one for each item that was not skipped, labels those of their items; fragments are what they
	// brought.
	included  []wire.IncludeCall
	labels    []value.Value
	fragments []plan.Fragment
}

func (r *walk) newTask(ctx context.Context, s *plan.Step, id plan.ID) (*task, error) {
	if err := r.refresh(ctx); err != nil {
		return nil, err
	}
	t := &task{r: r, s: s, id: id, base: r.newEval(s, id, nil)}
	t.resolve(ctx)
	t.f = t.base.rawFields()
	t.name = s.Name
	if s.Name != "" {
		switch name, err := t.base.tpl.Text(ctx, value.YAMLStr(s.Name)); {
		case err == nil:
			t.name = name
		case t.base.tagged():
			t.name = t.base.markedName(ctx, s.Name)
		}
	}
	return t, r.line.broken()
}

// resolve finds the module. Its name may be a template: what follows sees the name that it renders to.
func (t *task) resolve(ctx context.Context) {
	if written := value.YAMLStr(t.s.Written); templar.IsTemplate(written) {
		if name, err := t.base.tpl.Text(ctx, written); err == nil {
			rendered := *t.s
			rendered.Written, rendered.Action = name, t.r.cfg.Modules.FullName(name)
			t.s, t.base.s = &rendered, &rendered
		}
	}
	name := t.s.Action
	if t.s.Foreign != nil {
		name = foreign.Name
	}
	t.mod, _ = t.r.cfg.Modules.Get(name)
}

// task does a step that calls a module.
func (r *walk) task(ctx context.Context, s *plan.Step, id plan.ID) (flow, error) {
	t, err := r.newTask(ctx, s, id)
	if err != nil {
		return failed, err
	}
	if f := t.allows(ctx); f != nil {
		return t.refused(ctx, f)
	}
	res, err := t.result(ctx)
	if err != nil {
		return failed, err
	}
	if t, res, err = t.debugged(ctx, res); err != nil {
		return failed, err
	}
	if r.changesInventory(t.s) {
		r.stale = true
	}
	return t.conclude(ctx, res)
}

// result does the task and gives its result. Only an error that breaks the run is an error.
func (t *task) result(ctx context.Context) (*result.Result, error) {
	res, err := t.execute(ctx)
	var f *fault
	if errors.As(err, &f) {
		res = t.base.failed(ctx, f)
		res.NoLog = result.FlagOf(t.f.noLog)
		return res, t.r.line.broken()
	}
	if err != nil {
		return nil, err
	}
	if _, ok := res.Get("changed"); !ok {
		res.Set("changed", value.Bool(false))
	}
	return res, nil
}

func (t *task) execute(ctx context.Context) (*result.Result, error) {
	items, err := t.items(ctx)
	if err != nil {
		var f *fault
		if !errors.As(err, &f) || !errors.Is(err, errUndefinedLoop) {
			return nil, err
		}
		t.loopErr = f
	}
	switch {
	case items == nil:
		x := &execution{t: t, e: t.base, f: t.f, sight: newSight()}
		return x.run(ctx)
	case len(items) == 0:
		t.loop = true
		t.f.noLog = t.s.NoLog.V == value.Bool(true) // nothing was rendered: Ansible hides only what is hidden in writing
		res := result.New()
		res.Set("changed", value.Bool(false))
		res.Set("skipped", value.Bool(true))
		res.Set("skipped_reason", value.Str("No items in the list"))
		res.Set("results", value.NewList())
		res.Items = []*result.Result{}
		return res, nil
	}
	t.loop = true
	return t.run(ctx, items)
}

// begin tells once that the host has begun the step.
func (t *task) begin() {
	if !t.started {
		t.started = true
		t.r.line.emit(wire.Event{Kind: wire.Started, Step: t.id, Name: t.name})
	}
}

// conclude draws the consequences of the result: for the variables, the handlers and the way on.
func (t *task) conclude(ctx context.Context, res *result.Result) (flow, error) {
	if t.r.held.undone() {
		return failed, errBeyond
	}
	if t.r.held.isBeyond() && res.Status() != result.Failed { // a template may have hidden it
		res.Set("failed", value.Bool(true))
		res.Set("msg", value.UnsafeStr(errBeyond.Error()))
	}
	if !t.loop {
		t.traced(res)
	}
	t.base.putNotices(res)
	res = t.report(t.f).Fit(res, true)
	o := t.report(t.f).Brief(res)
	o.Loop, o.Shown = t.loop, t.shown
	f := onward
	ran := false
	switch o.Status {
	case wire.StatusFailed:
		ran = true
		f = t.failed(ctx, o, res)
	case wire.StatusUnreachable:
		if t.f.ignoreUnreachable {
			o.Ignored = true
		} else {
			f = unreachable
		}
	case wire.Skipped:
	default:
		ran = true
		if err := t.notify(ctx, o, res); err != nil {
			return failed, err
		}
		t.facts(ctx, o, res)
	}
	o.FailAll = (o.Status == wire.StatusFailed || o.Status == wire.StatusUnreachable) && !o.Ignored && t.fatal(ctx)
	t.registered(o, res)
	o.Included = t.includedFiles()
	if role := t.r.roles[t.s.Role]; role != nil && ran {
		t.r.ran[role.Identity] = true
	}
	t.r.apply(o.Effects)
	t.r.line.done(wire.Event{Step: t.id, Name: t.name, Outcome: o})
	if name := t.s.Register; !validName(name) {
		return t.r.breakRun(ctx, t.base, badRegister(name))
	}
	return f, t.r.line.broken()
}

// badRegister is the fault of a register that is no name. It fails the task, and then the run.
func badRegister(name string) *fault {
	return &fault{text: "Invalid variable name in 'register' specified: '" + name + "'"}
}

// validName tells whether a variable may have the name: it is an identifier of Python and no keyword. A step that
// registers nothing is fine.
func validName(name string) bool {
	for i, c := range name {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return !slices.Contains(pythonKeywords, name)
}

var pythonKeywords = []string{
	"False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif",
	"else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass",
	"raise", "return", "try", "while", "with", "yield",
}

// registered adds the effect of register.
func (t *task) registered(o *wire.Outcome, res *result.Result) {
	if t.s.Register == "" || !validName(t.s.Register) {
		return
	}
	d := value.NewDict()
	d.Set(t.s.Register, res.Clean())
	o.Effects = append(o.Effects, effect(vars.Set, d))
}

// failed is the way on after a failure.
func (t *task) failed(ctx context.Context, o *wire.Outcome, res *result.Result) flow {
	if t.f.ignoreErrors {
		o.Ignored = true
		return onward
	}
	if t.r.rescuing() {
		o.Rescued = true
		d := value.NewDict()
		d.Set("ansible_failed_task", value.Unsafe(t.described()))
		d.Set("ansible_failed_result", t.withoutEvents(res))
		o.Effects = append(o.Effects, effect(vars.Set, d))
	}
	return t.r.failure()
}

// fatal tells that a failure of this step fails the other hosts too. Ansible reads ignore_errors for it as it is
// written: any template is true.
func (t *task) fatal(ctx context.Context) bool {
	if value.IsTrue(t.s.IgnoreErrors.V) {
		return false
	}
	return t.holds(ctx, t.s.AnyErrorsFatal, value.StrictBool) || t.holds(ctx, t.s.RunOnce, value.Truth)
}

// notify marks the handlers that a changed result names, and tells of them.
func (t *task) notify(ctx context.Context, o *wire.Outcome, res *result.Result) error {
	if o.Status != wire.Changed {
		return nil
	}
	for _, item := range res.Each() {
		o.Notify = append(o.Notify, item.Notify...)
	}
	missing := t.r.handlers.notify(ctx, t.id, o.Notify)
	if missing == "" {
		return nil
	}
	text := MissingHandler(missing)
	if t.r.doc.Play.IgnoreMissingHandlers {
		t.r.line.warn(t.id, text)
		return nil
	}
	t.r.line.emit(wire.Event{Kind: wire.Broken, Step: t.id, Text: text})
	return errors.New(text)
}

// report tells of results that came about with keywords.
func (t *task) report(f *fields) report.Reporter {
	return report.Reporter{
		Play: &t.r.doc.Play, NoLog: f.noLog, Delegated: f.delegate, Diff: t.f.diff, Registered: t.s.Register != "", Rescued: t.r.rescuing(),
	}
}

// does tells whether the step's module has one of the traits.
func (t *task) does(traits modules.Trait) bool { return t.traits()&traits != 0 }

// traits are those of the step's module.
func (t *task) traits() modules.Trait {
	if m := t.r.cfg.Modules.Declared(t.s.Action); m != nil {
		return m.Traits
	}
	return 0
}

// facts are the effects of ansible_facts.
func (t *task) facts(ctx context.Context, o *wire.Outcome, res *result.Result) {
	if t.does(modules.ShowsOnly) {
		return
	}
	for _, item := range res.Each() {
		v, _ := item.Get("ansible_facts")
		d, ok := v.(*value.Dict)
		if !ok || d.Len() == 0 {
			continue
		}
		host := t.factsHost(ctx, item)
		layers := []vars.Layer{vars.Facts}
		switch {
		case t.does(modules.LoadsVariables):
			layers = []vars.Layer{vars.Include}
		case t.does(modules.SetsVariables):
			if layers = append(layers, vars.Set); !item.Cacheable.On() {
				layers = layers[1:]
			}
		}
		for _, layer := range layers {
			t.add(o, layer, host, d)
		}
	}
}

// add adds variables to the effects. Those of a loop's items that set the same ones, as when a list is gathered, become one effect.
func (t *task) add(o *wire.Outcome, layer vars.Layer, host string, d *value.Dict) {
	if t.loop && !(layer == vars.Include && t.r.doc.Play.HashMerge) {
		for i := range o.Effects {
			if e := &o.Effects[i]; e.Layer == string(layer) && e.Host == host {
				e.Vars.Dict = vars.Combine(e.Vars.Dict, d, false)
				return
			}
		}
	}
	e := effect(layer, d)
	e.Host = host
	o.Effects = append(o.Effects, e)
}

// factsHost is the host that facts belong to, "" for this one.
func (t *task) factsHost(ctx context.Context, item *result.Result) string {
	d := item.Delegated
	if d == nil {
		return ""
	}
	if facts, err := t.base.tpl.Template(ctx, orNone(t.s.DelegateFacts)); err != nil || !value.IsTrue(facts) {
		return ""
	}
	host, _ := d.Get("ansible_delegated_host")
	name, _ := value.Text(host)
	return name
}

func orNone(x plan.Expr) value.Value {
	if x.IsZero() {
		return value.None{}
	}
	return x.V
}
