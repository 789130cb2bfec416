package runner

import (
	"context"
	"errors"
	"slices"
	"strings"

	"hark/agent/wire"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/plan"
)

// include does a dynamic include and walks its fragments.
func (r *walk) include(ctx context.Context, s *plan.Step, id plan.ID) (flow, error) {
	f, fragments, err := r.bring(ctx, s, id)
	if err != nil || f != onward {
		return f, err
	}
	return r.fragments(ctx, fragments)
}

// bring renders what is to be included, has it compiled and adds it.
func (r *walk) bring(ctx context.Context, s *plan.Step, id plan.ID) (flow, []plan.Fragment, error) {
	t, err := newTask(ctx, r.playState, s, id, r.at.rescuing())
	if err != nil {
		return failed, nil, err
	}
	if f := t.allows(ctx); f != nil {
		g, err := r.refused(ctx, t, f)
		return g, nil, err
	}
	res, err := t.result(ctx)
	if err != nil {
		return failed, nil, err
	}
	status := res.Status()
	if len(t.included) == 0 || status == wire.StatusFailed && !t.f.ignoreErrors {
		f, err := r.conclude(ctx, t, res)
		return f, nil, err
	}
	a, err := r.line.ask(ctx, wire.Ask{Kind: wire.AskInclude, Step: id, Includes: t.calls()})
	if err != nil {
		return failed, nil, err
	}
	if a.Err != "" {
		f, err := r.notIncluded(ctx, t, res, a)
		return f, nil, err
	}
	for i := range min(len(a.Fragments), len(t.included)) {
		t.included[i].fragment = &a.Fragments[i]
	}
	f, err := r.conclude(ctx, t, res)
	if err != nil || f != onward {
		return f, nil, err
	}
	for i := range a.Fragments {
		fragment := &a.Fragments[i]
		r.shared = r.shared.Extend(fragment)
		r.join(fragment.Roles, fragment.Handlers, fragment.Blocks)
	}
	return onward, a.Fragments, nil
}

// fragments walks what was included: in the order in which the batch met the files, which differs from this host's loop
// if others have included one of them before.
func (r *walk) fragments(ctx context.Context, list []plan.Fragment) (flow, error) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b plan.Fragment) int { return a.Index - b.Index })
	var nodes []plan.Node
	for i := range list {
		nodes = append(nodes, nodesOf(list[i].Blocks)...)
	}
	return r.nodes(ctx, nodes)
}

// notIncluded returns the flow of an include whose file or role is missing: the host has failed, whatever ignore_errors
// says, and no rescue is counted, though one runs.
func (r *walk) notIncluded(ctx context.Context, t *task, res *result.Result, a wire.Answer) (flow, error) {
	if a.ErrKind == "broken" {
		r.line.emit(wire.Event{Kind: wire.Broken, Step: t.id, Text: a.Err})
		return failed, errors.New(a.Err)
	}
	shown := result.New()
	if t.base.has(dialect.LostInclude) {
		shown.Set("changed", value.Bool(false))
		if file, ok := res.Get("include"); ok && !t.base.has(dialect.IncludeResults) {
			shown.Set("include", file)
		}
		say(shown) // the controller reports it
	}
	shown.Set("failed", value.Bool(true))
	if t.base.has(dialect.IncludeLost) {
		unfound(shown, a.Err)
	} else {
		shown.Set("reason", value.UnsafeStr(a.Err))
	}
	c := &conclusion{t, res, t.report(t.f).Outcome(shown)}
	c.o.FailAll = t.fatal(ctx)
	c.register(t.projected(ctx, res))
	r.apply(c.o.Effects)
	r.line.done(wire.Event{Step: t.id, Name: t.name, Outcome: c.o})
	return r.at.failure(), r.line.broken()
}

// unfound writes into a task's result why it has included nothing.
func unfound(res *result.Result, text string) {
	msg, _, placed := strings.Cut(text, "\nOrigin: ")
	if placed {
		text = strings.TrimRight(text, "\n") + "\n"
	}
	msg, _, _ = strings.Cut(msg, " If you are using a module and expect")
	res.Set("msg", value.UnsafeStr(msg))
	say(res, link{msg: text, spot: spot{nowhere: true}})
}
