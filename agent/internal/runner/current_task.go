package runner

import (
	"context"
	"fmt"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// currentTask is the value of the variable _task in the current task, since ansible-core 2.21. Expressions that a
// task registers read it too.
type currentTask struct {
	// latest is the last result, nil before the first.
	latest *result.Result
	// looping says that the task loops; items are the results so far, including that of the current item.
	looping bool
	items   []*result.Result
	// sum is the result of a loop that has ended.
	sum *result.Result
}

// Type returns the name of Ansible's class.
func (*currentTask) Type() string { return "CurrentTask" }

// Str returns how the task prints.
func (*currentTask) Str() string { return "CurrentTask()" }

// Repr returns how the task prints.
func (*currentTask) Repr() string { return "CurrentTask()" }

// Attr returns an attribute of the task. One that has no value yet is undefined.
func (c *currentTask) Attr(name string) (value.Value, bool) {
	switch name {
	case "result", "polymorphic_result":
		switch {
		case c.sum != nil && name != "result":
			return c.sum.Clean(), true
		case c.latest != nil:
			return c.latest.Clean(), true
		}
		return unavailable(name, "No task result has been recorded."), true
	case "loop_result":
		if !c.looping {
			return unavailable(name, "The current task is not a loop."), true
		}
		return c.soFar().Clean(), true
	}
	return nil, false
}

func unavailable(name, why string) value.Value {
	return &value.Undefined{Name: name, Msg: "The _task." + name + " property is unavailable: " + why}
}

// soFar returns the result of the loop as if it had ended.
func (c *currentTask) soFar() *result.Result {
	if c.sum != nil {
		return c.sum
	}
	items := make([]*result.Result, len(c.items))
	for i, item := range c.items {
		items[i] = item.Copy()
	}
	sum, _ := sumUp(items, false)
	sparse(sum)
	return sum
}

// note records a result, of an item of a loop with what is known of the item. A result of the same item replaces the
// one before.
func (c *currentTask) note(res *result.Result, item *loopItem) {
	if c == nil {
		return
	}
	c.latest = res
	if item == nil {
		return
	}
	c.latest = res.Copy()
	item.vars.Each(func(k, v value.Value) bool { return c.latest.SetKey(k, v) })
	c.items = append(c.items[:min(len(c.items), item.n-1)], c.latest)
}

// end records the result of the whole task.
func (c *currentTask) end(res *result.Result) {
	if c.looping {
		c.sum = res
	} else {
		c.latest = res
	}
}

// projected evaluates the expressions that the task registers, nil if there are none. If an expression fails, the task
// fails.
func (t *task) projected(ctx context.Context, res *result.Result) *value.Dict {
	if t.base.current == nil || t.s.Projections.Len() == 0 {
		return nil
	}
	t.base.current.end(&result.Result{Dict: cleaned(t.base, res)})
	if t.loop && len(res.Items) == 0 {
		t.f.ignoreErrors = false
	}
	e := t.base
	if t.latest != nil {
		e = t.latest.e.with(t.latest.view.vars)
	}
	e = e.with(projections(t.s))
	if templar.IsTemplate(t.s.Projections.Dict) {
		msg := `"register" is not templatable, but we found: ` + value.PrintedRepr(t.s.Projections.Dict) +
			`, it will not be templated and will be used "as is".`
		t.base.notices.note(link{msg: msg, spot: spot{nowhere: true}}, "")
	}
	out := value.NewDict()
	var groups [][]link
	t.s.Projections.Each(func(k, x value.Value) bool {
		name, _ := value.Text(k)
		text, isSource := x.(value.Source)
		if !isSource {
			out.SetKey(k, x)
			return true
		}
		v, err := e.tpl.Expr(ctx, text)
		if err == nil {
			out.SetKey(k, v)
			return true
		}
		f, isFault := e.check(ctx, err).(*fault)
		if !isFault {
			return false
		}
		out.SetKey(k, lost(name, f))
		groups = append(groups,
			f.under(link{msg: "Register projection " + value.ReprText(name) + " failed.", spot: spot{nowhere: true}}).links)
		return true
	})
	if len(groups) > 0 {
		unprojected(res, groups, t.s.Projections.Len())
	}
	return out
}

// lost returns the variable of an expression that failed: an undefined one.
func lost(name string, f *fault) value.Value {
	why := "The variable " + value.ReprText(name) + " is undefined because its register expression failed: " + f.text
	return templar.UndefText(why)
}

// unprojected fails a result for expressions that failed, each with its causes.
func unprojected(res *result.Result, groups [][]link, of int) {
	plural := "s"
	if len(groups) == 1 {
		plural = ""
	}
	head := link{
		msg: fmt.Sprintf("Task failed due to errors in %d out of %d register projections. (%d sub-exception%s)", len(groups),
			of, len(groups), plural),
		spot: spot{nowhere: true},
	}.event()
	parts := value.NewList()
	for _, links := range groups {
		events := value.NewList()
		for _, l := range links {
			events.Items = append(events.Items, l.event())
		}
		parts.Items = append(parts.Items, events)
	}
	head.Set("parts", parts)
	if res.Failed() {
		head.Set("before", value.Str("The original task error before register failed was:"))
	} else {
		res.Events = value.NewList()
	}
	res.Set("failed", value.Bool(true))
	if res.Events == nil {
		res.Events = usual(res)
	}
	res.Events.Items = append([]value.Value{head}, res.Events.Items...)
}

// usual returns the errors of a failed result that has none of its own.
func usual(res *result.Result) *value.List {
	by := res.FailedBy
	if by == "" {
		by = "Action"
	}
	own := result.New()
	say(own, link{msg: "Task failed."}, link{msg: by + " failed."}, link{msg: res.Message()})
	return own.Events
}

// projections returns the expressions of a step as variables: templates that are rendered where they are used.
func projections(s *plan.Step) *value.Dict {
	out := value.NewDict()
	s.Projections.Each(func(k, x value.Value) bool {
		return out.SetKey(k, plan.Projected(x))
	})
	return out
}

// cleaned returns a result as it is registered. Since ansible-core 2.21 that of an include does not name what was
// included.
func cleaned(e *eval, res *result.Result) *value.Dict {
	out := res.Clean()
	if e.s.Kind == plan.Include && e.has(dialect.IncludeResults) {
		uninclude(out)
		results, _ := out.Get("results")
		if list, ok := results.(*value.List); ok {
			for _, item := range list.Items {
				if d, isDict := item.(*value.Dict); isDict {
					uninclude(d)
				}
			}
		}
	}
	return out
}

func uninclude(d *value.Dict) {
	if !d.Has("failed") {
		d.Set("failed", value.Bool(false))
	}
	for _, name := range []string{"include", "include_args"} {
		d.Delete(value.Str(name))
	}
}

// register adds the effect of register.
func (c *conclusion) register(projected *value.Dict) {
	d := projected
	if name := c.t.s.Register; name != "" && c.t.base.g.play.Level.NamesVariable(name) {
		d = value.NewDict()
		d.Set(name, cleaned(c.t.base, c.res))
	}
	if d.Len() > 0 {
		c.o.Effects = append(c.o.Effects, effect(vars.Set, d))
	}
}
