package runner

import (
	"context"
	"errors"
	"slices"

	"hark/agent/wire"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
)

// loop does a task for each item of its loop.
type loop struct {
	t     *task
	items []value.Value
	c     *control
}

// warnOfNames warns of loop variables whose names have another meaning, as ansible-core does since 2.22.
func (l *loop) warnOfNames(ctx context.Context) {
	t := l.t
	for _, of := range []struct {
		key, name string
		written   bool
	}{{"loop_var", l.c.loopVar, !t.base.s.Loop.Var.IsZero()}, {"index_var", l.c.indexVar, true}} {
		conflict := ""
		switch _, taken, err := t.base.scope.Raw(ctx, of.name); {
		case of.name == "":
			continue
		case err == nil && taken:
			conflict = "already in use"
		case slices.Contains(ownNames(), of.name):
			conflict = "reserved"
		case l.c.loopVar == l.c.indexVar:
			conflict = "used more than once"
		default:
			continue
		}
		at := spot{text: of.name}
		if of.written {
			at = spot{key: of.key, value: true}
		}
		t.base.notices.note(link{
			msg: "The variable " + value.ReprText(of.name) + " is " + conflict + ".", spot: at,
			help: "You should set the `" + of.key +
				"` value in the `loop_control` option for the task to something else to avoid variable collisions and " +
				"unexpected behavior.",
		}, "")
	}
}

// ownNames returns names that no variable of a loop should have, since something else sets them.
func ownNames() []string {
	return []string{
		"ansible_index_var", "ansible_loop", "ansible_loop_var", "ansible_connection", "ansible_host", "ansible_user",
		"ansible_shell_executable", "ansible_port",
		"ansible_pipelining", "ansible_password", "ansible_timeout", "ansible_shell_type", "ansible_module_compression",
		"ansible_private_key_file",
	}
}

// warnOfTaken warns that the loop's variable hides another one.
func (l *loop) warnOfTaken() {
	name, t := l.c.loopVar, l.t
	const help = "You should set the `loop_var` value in the `loop_control` option for the task to something else to " +
		"avoid variable collisions " +
		"and unexpected behavior."
	msg := "The loop variable " + value.ReprText(name) + " is already in use."
	if !t.base.has(dialect.LoopWords) {
		t.g.line.warn(t.id, t.shownName()+": "+msg+" "+help)
		return
	}
	at := spot{text: name}
	if !t.base.s.Loop.Var.IsZero() {
		at = spot{key: "loop_var", value: true}
	}
	t.base.notices.note(link{msg: msg, help: help, spot: at}, "")
}

// run does the task for all items and sums the results up.
func (l *loop) run(ctx context.Context) (*result.Result, error) {
	t := l.t
	if t.base.current != nil {
		t.base.current.looping = true
	}
	var err error
	if l.c, err = newControl(ctx, t.base); err != nil {
		return nil, err
	}
	if t.base.has(dialect.LoopNames) {
		l.warnOfNames(ctx)
	} else if _, taken, err := t.base.scope.Raw(ctx, l.c.loopVar); err == nil && taken {
		l.warnOfTaken()
	}
	all, err := l.results(ctx)
	if err != nil {
		return nil, err
	}
	t.f.noLog = false
	results := make([]*result.Result, len(all))
	for i, r := range all {
		t.f.noLog = t.f.noLog || r.x.f.noLog
		results[i] = r.res
	}
	anyIgnored := slices.ContainsFunc(results, func(r *result.Result) bool { return r.Ignored.On() })
	sum, ignored := sumUp(results, t.f.ignoreErrors)
	if t.base.has(dialect.IgnoredItems) {
		ignored = anyIgnored
	}
	if t.base.has(dialect.SkippedResults) {
		sparse(sum)
	}
	t.f.ignoreErrors = ignored
	return sum, nil
}

// itemResult is the result of one item.
type itemResult struct {
	x   *execution
	res *result.Result
	err error
}

// results returns the results of the items: one after the other, if they may not run together.
func (l *loop) results(ctx context.Context) ([]*itemResult, error) {
	if l.c.together(l.t.s) {
		return l.together(ctx)
	}
	var results []*itemResult
	seen := newHostView()
	for i := range l.items {
		if i > 0 && l.c.pause > 0 {
			if err := l.t.g.cfg.Sleep(ctx, l.c.pause); err != nil {
				return nil, err
			}
		}
		r := l.item(ctx, i, seen, nil)
		if err := l.tell(ctx, r); err != nil {
			return nil, err
		}
		results = append(results, r)
		if ends, err := r.x.judge().breaks(ctx, r.res); err != nil || ends {
			return results, err
		}
	}
	return results, nil
}

// loopItem is what an include needs to know of its item.
type loopItem struct {
	n     int // from 1
	vars  *value.Dict
	label value.Value
}

// item does the task for one item. before is what earlier results have set.
func (l *loop) item(ctx context.Context, i int, before *hostView, b *turn) *itemResult {
	own := l.c.variables(l.items, i)
	seen := before.vars.Copy()
	own.Each(func(k, v value.Value) bool { return seen.SetKey(k, v) })
	t := l.t
	x := &execution{t: t, e: t.base.with(seen), f: t.base.rawFields(), view: before,
		item: &loopItem{i + 1, own, l.c.label}, turn: b}
	x.e.item = x.item
	r := &itemResult{x: x}
	r.res, r.err = x.run(ctx)
	var f *fault
	// In 2.14 what fails beyond the keywords of an item ends the loop.
	if errors.As(r.err, &f) && (f.unexpected() && f.keyword || x.e.has(dialect.ItemFaults)) {
		r.res, r.err = x.e.failed(ctx, f), nil
		if x.e.has(dialect.RegisterMap) {
			x.record(r.res)
		}
	}
	if name := x.e.s.Register; name != "" && r.err == nil && b == nil && x.e.has(dialect.LoopLabels) {
		x.view.vars.Set(name, r.res.Dict) // it may have ended before there was anything to register
	}
	if r.err == nil {
		t.traced(r.res)
		r.res = t.report(x.f).Fit(r.res, false)
	}
	return r
}

// tell completes the result of an item and reports it.
func (l *loop) tell(ctx context.Context, r *itemResult) error {
	t, x, res := l.t, r.x, r.res
	if r.err != nil {
		t.f.noLog = x.f.noLog
		return r.err
	}
	if t.g.held.undone() {
		return errBeyond
	}
	x.item.vars.Each(func(k, v value.Value) bool { return res.SetKey(k, v) })
	res.OfItem, res.Ignored = result.Yes, result.FlagOf(x.f.ignoreErrors)
	label, err := x.e.with(x.view.vars).tpl.Template(ctx, l.c.label)
	if err != nil {
		var f *fault
		if err = x.e.check(ctx, err); !errors.As(err, &f) || f.kind != "AnsibleUndefinedVariable" {
			return err
		}
		if x.e.has(dialect.LabelWarns) {
			return l.unlabelled(r, f)
		}
		res.Set("failed", value.Bool(true))
		res.Set("msg", value.UnsafeStr("Failed to template loop_control.label: "+f.text))
		if x.e.has(dialect.FailureCauses) {
			say(res) // it has no event of its own
		}
	} else {
		res.Label = label
	}
	if !pend(t, x, res, func() { l.emit(r) }) {
		l.emit(r)
	}
	return nil
}

// unlabelled reports an item whose label cannot be rendered, by its value.
func (l *loop) unlabelled(r *itemResult, f *fault) error {
	text, _ := value.Text(l.c.label)
	r.x.e.notices.note(link{msg: "Failed to template loop_control label: " + f.text, spot: spot{text: text}}, "")
	r.res.Label, _ = r.x.item.vars.Get(l.c.loopVar)
	l.emit(r)
	return nil
}

func (l *loop) emit(r *itemResult) {
	r.x.e.notices.addSecrets(r.res)
	l.t.g.line.emit(wire.Event{Kind: wire.Item, Step: l.t.id, Name: l.t.name, Outcome: l.t.report(r.x.f).Brief(r.res)})
	r.res.Secrets = nil // told
}

// sumUp returns the result of a loop from those of its items. ignored is whether a failure is ignored; written is the
// keyword as written.
func sumUp(items []*result.Result, written bool) (res *result.Result, ignored bool) {
	res, ignored = result.Sum(items), written
	skipped, changed, bad := true, false, false
	for _, item := range items {
		changed = changed || item.Changed()
		skipped = skipped && item.True("skipped")
		if item.Failed() {
			own := item.Ignored.On()
			item.Ignored = result.Unsaid
			if !bad || ignored && !own {
				ignored = own
			}
			bad = true
		}
		for _, name := range []string{"warnings", "deprecations"} {
			hoist(res.Dict, item.Dict, name)
		}
	}
	res.Set("skipped", value.Bool(skipped))
	if changed {
		res.Set("changed", value.Bool(true))
	}
	msg := "All items completed"
	if bad {
		res.Set("failed", value.Bool(true))
		msg = "One or more items failed"
	}
	if skipped {
		msg = "All items skipped"
	}
	res.Set("msg", value.Str(msg))
	return res, ignored
}

// sparse gives the result of a loop the form that it has since ansible-core 2.21.
func sparse(sum *result.Result) {
	if !sum.True("skipped") {
		sum.Delete(value.Str("skipped"))
	}
	if !sum.Has("failed") {
		sum.Set("failed", value.Bool(false))
	}
}

// hoist moves the warnings of an item to the result of the loop.
func hoist(res, item *value.Dict, name string) {
	v, ok := item.Get(name)
	if !ok || !value.IsTrue(v) {
		return
	}
	have, _ := res.Get(name)
	all, _ := have.(*value.List)
	if all == nil {
		all = value.NewList()
	}
	if l, ok := v.(*value.List); ok {
		all.Items = append(all.Items, l.Items...)
	} else {
		all.Items = append(all.Items, v)
	}
	res.Set(name, all)
	item.Delete(value.Str(name))
}
