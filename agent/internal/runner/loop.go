package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/jinja/templar"
)

// errUndefinedLoop marks a loop over an undefined variable: the conditions are judged before it counts.
var errUndefinedLoop = errors.New("loop over an undefined variable")

// undefinedLoop is the fault of such a loop.
type undefinedLoop struct{ *fault }

func (undefinedLoop) Is(target error) bool { return target == errUndefinedLoop }
func (u undefinedLoop) Unwrap() error      { return u.fault }

// items are the items of the loop; nil if the step has none.
func (t *task) items(ctx context.Context) ([]value.Value, error) {
	if t.s.Loop == nil {
		return nil, nil
	}
	v, err := t.over(ctx)
	if err != nil {
		isUndefined := templar.IsUndefined(err)
		err = t.base.check(ctx, err)
		var f *fault
		if isUndefined && errors.As(err, &f) {
			return nil, undefinedLoop{f}
		}
		return nil, err
	}
	l, ok := v.(*value.List)
	if !ok && t.base.tagged() && t.s.Loop.With == "" {
		written, _ := value.Text(t.s.Loop.Over.V)
		msg := "The `loop` value must resolve to a 'list', not " + value.ReprText(value.PlainType(v)) + "."
		return nil, &fault{text: msg, bare: true, links: []link{{msg, "Provide a list of items/templates, or a template resolving to a list.", spot{text: written}}}}
	}
	if !ok {
		text, _ := value.ToStr(v)
		return nil, &fault{text: "Invalid data passed to 'loop', it requires a list, got this instead: " + text +
			". Hint: If you passed a list/dict of just one element, try adding wantlist=True to your lookup invocation or use q/query instead of lookup."}
	}
	if l.Items == nil {
		return []value.Value{}, nil
	}
	return l.Items, nil
}

// over is what the loop goes over: the list of loop, or what the lookup of with_ makes of its terms.
func (t *task) over(ctx context.Context) (value.Value, error) {
	loop := t.s.Loop
	if loop.With == "" {
		return t.base.tpl.Template(ctx, loop.Over.V)
	}
	terms, err := t.terms(ctx)
	if err != nil {
		return nil, err
	}
	return t.base.over(ctx, loop.With, terms.Items)
}

// terms are the terms of with_, a list in any case. first_found goes on to the next where one is undefined.
func (t *task) terms(ctx context.Context) (*value.List, error) {
	over := t.s.Loop.Over.V
	if text, ok := over.(value.YAMLStr); ok {
		over = value.YAMLStr(strings.TrimSpace(string(text)))
	}
	if t.s.Loop.With == "first_found" {
		return t.definedTerms(ctx, over)
	}
	v, err := t.base.tpl.Template(ctx, over)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case *value.List:
		return v, nil
	case *value.Tuple:
		return value.NewList(v.Items...), nil
	case *value.Dict:
		switch name := t.s.Loop.With; name {
		case "dict":
		case "list", "indexed_items":
			return nil, &fault{text: "with_" + name + " expects a list"}
		default:
			return value.NewList(v.Keys()...), nil
		}
	}
	return value.NewList(v), nil
}

func (t *task) definedTerms(ctx context.Context, over value.Value) (*value.List, error) {
	candidates := []value.Value{over}
	if l, ok := over.(*value.List); ok {
		candidates = l.Items
	}
	out := value.NewList()
	for _, c := range candidates {
		v, err := t.base.tpl.Template(ctx, c)
		switch {
		case templar.IsUndefined(err):
			continue
		case err != nil:
			return nil, err
		}
		if l, ok := v.(*value.List); ok && len(candidates) == 1 {
			out.Items = append(out.Items, l.Items...)
		} else {
			out.Items = append(out.Items, v)
		}
	}
	return out, nil
}

// control is loop_control, rendered.
type control struct {
	loopVar, indexVar  string
	pause              time.Duration
	extended, allItems bool
	label              value.Value
}

func (t *task) control(ctx context.Context) (*control, error) {
	rd := &reader{ctx: ctx, e: t.base}
	l := t.s.Loop
	c := &control{loopVar: rd.text("loop_var", l.Var), indexVar: rd.text("index_var", l.IndexVar), allItems: true}
	if c.loopVar == "" {
		c.loopVar = "item"
	}
	if v := rd.render("pause", l.Pause); v != nil {
		seconds, err := floatOf(v)
		if err != nil {
			rd.invalid("pause", l.Pause, "float", err.Error())
		}
		c.pause = time.Duration(seconds * float64(time.Second))
	}
	c.extended = rd.bool("extended", l.Extended)
	if !l.ExtendedAllItems.IsZero() {
		c.allItems = rd.bool("extended_allitems", l.ExtendedAllItems)
	}
	c.label = value.YAMLStr("{{" + c.loopVar + "}}")
	if !l.Label.IsZero() && !value.IsNone(l.Label.V) {
		c.label = l.Label.V
	}
	return c, rd.err
}

// run does the task for every item and collects the results.
func (t *task) run(ctx context.Context, items []value.Value) (*result.Result, error) {
	c, err := t.control(ctx)
	if err != nil {
		return nil, err
	}
	if _, taken, err := t.base.scope.Raw(ctx, c.loopVar); err == nil && taken {
		t.r.line.warn(t.id, fmt.Sprintf("%s: The loop variable '%s' is already in use. You should set the `loop_var` value in the "+
			"`loop_control` option for the task to something else to avoid variable collisions and unexpected behavior.", t.shownName(), c.loopVar))
	}
	all, err := t.runItems(ctx, c, items)
	if err != nil {
		return nil, err
	}
	t.f.noLog = false
	results := make([]*result.Result, len(all))
	for i, r := range all {
		t.f.noLog = t.f.noLog || r.x.f.noLog
		results[i] = r.res
	}
	return t.collect(results), nil
}

// itemResult is what came of one item.
type itemResult struct {
	x   *execution
	res *result.Result
	err error
}

// runItems does the task for the items: one after the other, if they may not run together.
func (t *task) runItems(ctx context.Context, c *control, items []value.Value) ([]*itemResult, error) {
	if t.together(c) {
		return t.runTogether(ctx, c, items)
	}
	var results []*itemResult
	seen := newSight()
	for i := range items {
		if i > 0 && c.pause > 0 {
			if err := t.r.cfg.Sleep(ctx, c.pause); err != nil {
				return nil, err
			}
		}
		r := t.perform(ctx, c, items, i, seen, nil)
		if err := t.tell(ctx, c, r); err != nil {
			return nil, err
		}
		results = append(results, r)
		if ends, err := r.x.breaks(ctx, r.res); err != nil || ends {
			return results, err
		}
	}
	return results, nil
}

// breaks tells whether the loop ends with this item: break_when of loop_control.
func (x *execution) breaks(ctx context.Context, res *result.Result) (bool, error) {
	conds := x.t.s.Loop.BreakWhen
	if len(conds) == 0 {
		return false, nil
	}
	x.register(res)
	return x.judge(ctx, conds)
}

// loopItem is what an include needs to know of the item that it is for.
type loopItem struct {
	vars  *value.Dict
	label value.Value
}

// perform does the task for one item.
func (t *task) perform(ctx context.Context, c *control, items []value.Value, i int, before *sight, b *baton) *itemResult {
	own := c.variables(items, i, items[i])
	seen := before.vars.Copy()
	own.Each(func(k, v value.Value) bool { return seen.SetKey(k, v) })
	x := &execution{t: t, e: t.base.with(seen), f: t.base.rawFields(), sight: before, item: &loopItem{own, c.label}, baton: b}
	r := &itemResult{x: x}
	r.res, r.err = x.run(ctx)
	var f *fault
	if errors.As(r.err, &f) && (f.unexpected() || x.e.tagged()) { // Ansible's own errors end the loop, Python's the item
		r.res, r.err = x.e.failed(ctx, f), nil
	}
	if r.err == nil {
		t.traced(r.res)
		r.res = t.report(x.f).Fit(r.res, false)
	}
	return r
}

// tell completes the result of an item and tells of it.
func (t *task) tell(ctx context.Context, c *control, r *itemResult) error {
	x, res := r.x, r.res
	if r.err != nil {
		t.f.noLog = x.f.noLog
		return r.err
	}
	if t.r.held.undone() {
		return errBeyond
	}
	x.item.vars.Each(func(k, v value.Value) bool { return res.SetKey(k, v) })
	res.OfItem, res.Ignored = result.Yes, result.FlagOf(x.f.ignoreErrors)
	label, err := x.e.with(x.sight.vars).tpl.Template(ctx, c.label)
	if err != nil {
		var f *fault
		if err = x.e.check(ctx, err); !errors.As(err, &f) || f.kind != "AnsibleUndefinedVariable" {
			return err
		}
		res.Set("failed", value.Bool(true))
		res.Set("msg", value.UnsafeStr("Failed to template loop_control.label: "+f.text))
	} else {
		res.Label = label
	}
	t.r.line.emit(wire.Event{Kind: wire.Item, Step: t.id, Name: t.name, Outcome: t.report(x.f).Brief(res)})
	return nil
}

// variables are those of one item.
func (c *control) variables(items []value.Value, i int, item value.Value) *value.Dict {
	d := value.NewDict()
	d.Set(c.loopVar, item)
	d.Set("ansible_loop_var", value.Str(c.loopVar))
	if c.indexVar != "" {
		d.Set(c.indexVar, value.Int(i))
		d.Set("ansible_index_var", value.Str(c.indexVar))
	}
	if !c.extended {
		return d
	}
	n := len(items)
	loop := value.NewDict()
	loop.Set("index", value.Int(i+1))
	loop.Set("index0", value.Int(i))
	loop.Set("first", value.Bool(i == 0))
	loop.Set("last", value.Bool(i+1 == n))
	loop.Set("length", value.Int(n))
	loop.Set("revindex", value.Int(n-i))
	loop.Set("revindex0", value.Int(n-i-1))
	if c.allItems {
		loop.Set("allitems", value.NewList(items...))
	}
	if i+1 < n {
		loop.Set("nextitem", items[i+1])
	}
	if i > 0 {
		loop.Set("previtem", items[i-1])
	}
	d.Set("ansible_loop", loop)
	return d
}

// collect makes the result of the loop of those of its items.
func (t *task) collect(items []*result.Result) *result.Result {
	res := result.Sum(items)
	skipped, changed, bad := true, false, false
	for _, item := range items {
		changed = changed || item.Changed()
		skipped = skipped && item.True("skipped")
		if item.Failed() {
			ignored := item.Ignored.On()
			item.Ignored = result.Unsaid
			if !bad || t.f.ignoreErrors && !ignored {
				t.f.ignoreErrors = ignored
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
	return res
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

// shownName is how Ansible's messages name the task.
func (t *task) shownName() string {
	name := t.s.Name
	if name == "" {
		name = t.s.Written
	}
	prefix := "TASK: "
	if t.s.Handler {
		prefix = "HANDLER: "
	}
	if role := t.r.roles[t.s.Role]; role != nil {
		name = role.FullName() + " : " + name
	}
	return prefix + name
}
