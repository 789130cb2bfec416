package runner

import (
	"context"
	"slices"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// task does a step that calls a module.
func (r *walk) task(ctx context.Context, s *plan.Step, id plan.ID) (flow, error) {
	t, err := newTask(ctx, r.playState, s, id, r.at.rescuing())
	if err != nil {
		return failed, err
	}
	if f := t.allows(ctx); f != nil {
		return r.refused(ctx, t, f)
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
		if err := changeInventory(ctx, r, t, res); err != nil {
			return failed, err
		}
	}
	return r.conclude(ctx, t, res)
}

// refused ends the run for a step that the strategy rejects, after its banner.
func (r *walk) refused(ctx context.Context, t *task, f *fault) (flow, error) {
	if r.cfg.Own {
		r.line.emit(wire.Event{Kind: wire.Started, Step: t.id, Name: t.name})
	}
	return r.breakRun(ctx, t.base, f)
}

// conclude applies a task's result to the variables and the handlers, and returns the flow.
func (r *walk) conclude(ctx context.Context, t *task, res *result.Result) (flow, error) {
	if r.held.undone() {
		return failed, errBeyond
	}
	if r.held.isBeyond() && res.Status() != result.Failed { // a template may have hidden it
		res.Set("failed", value.Bool(true))
		res.Set("msg", value.UnsafeStr(errBeyond.Error()))
	}
	c := t.concluded(ctx, res)
	f := onward
	switch o := c.o; {
	case o.Status == wire.StatusFailed && !o.Ignored:
		f = r.at.failure()
	case o.Status == wire.StatusUnreachable && !o.Ignored:
		f = unreachable
	case o.Status == wire.Changed:
		if err := r.notify(ctx, t.id, o.Notify); err != nil {
			return failed, err
		}
	}
	if role := r.roles[t.s.Role]; role != nil && c.ran() {
		r.passed.ran[role.Identity] = true
	}
	r.apply(c.o.Effects)
	r.line.done(wire.Event{Step: t.id, Name: t.name, Outcome: c.o})
	if name := t.s.Register; name != "" && !r.play.Level.NamesVariable(name) {
		return r.breakRun(ctx, t.base, badRegister(name))
	}
	return f, r.line.broken()
}

// notify marks handlers by their names, and reports them.
func (r *walk) notify(ctx context.Context, id plan.ID, names []string) error {
	missing := r.handlers.notify(ctx, id, names)
	switch {
	case missing == "":
		return nil
	case r.play.IgnoreMissingHandlers:
		r.line.warn(id, MissingHandler(missing))
		return nil
	}
	return r.handlers.lacking(id, missing)
}

// notifies takes up the handlers that the results name. Ansible looks whom an item notifies before it adds the item's
// hosts or groups: without changed_when, only what earlier items have added counts.
func (c *conclusion) notifies() {
	items := c.res.Each()
	if c.t.g.changesInventory(c.t.s) && len(c.t.s.ChangedWhen) == 0 {
		i := slices.IndexFunc(items, (*result.Result).Changed)
		items = items[i+1:]
	}
	for _, item := range items {
		c.o.Notify = append(c.o.Notify, item.Notify...)
	}
}

// conclusion is what a task's result means apart from the flow: how it is reported, and how variables change.
type conclusion struct {
	t   *task
	res *result.Result
	o   *wire.Outcome
}

// concluded returns the conclusion. It reports nothing and changes nothing yet.
func (t *task) concluded(ctx context.Context, res *result.Result) *conclusion {
	projected := t.projected(ctx, res)
	if !t.loop {
		t.traced(res)
	}
	t.warnOfSet(res)
	t.base.notices.put(res)
	res = t.report(t.f).Fit(res, true)
	c := &conclusion{t, res, t.report(t.f).Brief(res)}
	c.o.Loop, c.o.Shown = t.loop, t.shown
	switch c.o.Status {
	case wire.StatusFailed:
		c.o.Ignored = t.f.ignoreErrors
		c.rescued()
	case wire.StatusUnreachable:
		c.o.Ignored = t.f.ignoreUnreachable
	case wire.Changed:
		c.notifies()
		c.facts(ctx)
	case wire.OK:
		c.facts(ctx)
	}
	c.o.FailAll = (c.o.Status == wire.StatusFailed || c.o.Status == wire.StatusUnreachable) && !c.o.Ignored && t.fatal(ctx)
	c.register(projected)
	c.o.Included = t.includedFiles()
	return c
}

// ran reports whether the task was not skipped and its host was there.
func (c *conclusion) ran() bool {
	return c.o.Status != wire.Skipped && c.o.Status != wire.StatusUnreachable
}

// rescued makes a failure known to the rescue that handles it.
func (c *conclusion) rescued() {
	if c.o.Ignored || !c.t.rescued {
		return
	}
	c.o.Rescued = true
	d := value.NewDict()
	d.Set("ansible_failed_task", value.Unsafe(c.t.described()))
	d.Set("ansible_failed_result", c.t.withoutEvents(c.res))
	c.o.Effects = append(c.o.Effects, effect(vars.Set, d))
}

// facts adds the effects of ansible_facts.
func (c *conclusion) facts(ctx context.Context) {
	t := c.t
	if t.does(modules.ShowsOnly) {
		return
	}
	for _, item := range c.res.Each() {
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
			if layer == vars.Facts {
				c.add(layer, host, c.returned(d))
			} else {
				c.add(layer, host, d)
			}
		}
	}
}

// returned returns the facts of a result without those that no host may set. Ansible warns of these.
func (c *conclusion) returned(facts *value.Dict) *value.Dict {
	clean, refused := c.t.g.protected.Facts(facts)
	for _, name := range refused {
		c.t.g.line.warn(c.t.id, "Removed restricted key from module data: "+name)
	}
	return clean
}

// add adds variables to the effects. Effects of a loop's items on the same variables, as when a list is gathered,
// become one effect.
func (c *conclusion) add(layer vars.Layer, host string, d *value.Dict) {
	if c.t.loop && !(layer == vars.Include && c.t.g.play.HashMerge) {
		for i := range c.o.Effects {
			if e := &c.o.Effects[i]; e.Layer == string(layer) && e.Host == host {
				e.Vars.Dict = vars.Combine(e.Vars.Dict, d, false)
				return
			}
		}
	}
	e := effect(layer, d)
	e.Host = host
	c.o.Effects = append(c.o.Effects, e)
}

// factsHost returns the host that facts belong to, "" for this one.
func (t *task) factsHost(ctx context.Context, item *result.Result) string {
	if item.Delegated == nil {
		return ""
	}
	if facts, err := t.base.tpl.Template(ctx, orNone(t.s.DelegateFacts)); err != nil || !value.IsTrue(facts) {
		return ""
	}
	return item.Delegated.Text("ansible_delegated_host")
}

// fatal reports whether a failure of this step fails the other hosts too. Ansible reads ignore_errors for it as
// written: any template is true.
func (t *task) fatal(ctx context.Context) bool {
	if value.IsTrue(t.s.IgnoreErrors.V) {
		return false
	}
	if templar.IsTemplate(orNone(t.s.AnyErrorsFatal)) {
		return true // Ansible does not render it, and a text is true
	}
	return t.holds(ctx, t.s.AnyErrorsFatal, value.StrictBool) || t.holds(ctx, t.s.RunOnce, value.Truth)
}

func orNone(x plan.Expr) value.Value {
	if x.IsZero() {
		return value.None{}
	}
	return x.V
}
