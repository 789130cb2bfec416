package runner

import (
	"context"

	"hark/agent/internal/hostvars"
	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/plan"
)

// The debugger is a dialogue at the controller, after a task with a result that the user wants to inspect. The session
// sends what there is to see, and does the task again, with other arguments or variables, as often as the user asks.

// debugged returns the task and its result after the debugger has finished.
func (t *task) debugged(ctx context.Context, res *result.Result) (*task, *result.Result, error) {
	for t.halts(ctx, res) {
		redo, err := t.debug(ctx, res)
		if err != nil {
			return t, res, err
		}
		if redo == nil {
			t.shown = true
			break
		}
		t = redo
		if res, err = t.result(ctx); err != nil {
			return t, res, err
		}
	}
	return t, res, nil
}

// halts reports whether the debugger opens for the result: as the keyword says, or else where the task failed if the
// play is debugged.
func (t *task) halts(ctx context.Context, res *result.Result) bool {
	play := t.g.play
	if t.s.Debugger.IsZero() && !play.Debugger {
		return false
	}
	status := res.Status()
	bad := status == wire.StatusFailed && (!t.f.ignoreErrors || play.DebugIgnored)
	rd := &reader{ctx: ctx, e: t.base}
	switch when := rd.debugger(t.s.Debugger); when {
	case "always":
		return true
	case "never":
		return false
	case "on_failed":
		return bad || play.Debugger && status == wire.StatusUnreachable
	case "on_unreachable":
		return status == wire.StatusUnreachable || play.Debugger && bad
	case "on_skipped":
		return status == wire.Skipped || play.Debugger && (bad || status == wire.StatusUnreachable)
	}
	return play.Debugger && (bad || status == wire.StatusUnreachable)
}

// debug shows the task's result and lets the user inspect it. It returns the task to do again, nil if it is done.
func (t *task) debug(ctx context.Context, res *result.Result) (*task, error) {
	o := t.report(t.f).Outcome(res)
	o.Loop, o.Ignored = t.loop, o.Status == wire.StatusFailed && t.f.ignoreErrors || o.Status == wire.StatusUnreachable &&
		t.f.ignoreUnreachable
	vars, err := t.base.scope.All(ctx)
	if err != nil {
		return nil, t.base.check(ctx, err)
	}
	vars.Delete(value.Str("ansible_delegated_vars")) // it is a view of other hosts
	about := t.described()
	about.Set("source", dictOr(t.s.Args.Dict, nil))
	kw := value.NewDict()
	kw.Set("task", about)
	kw.Set("task_vars", vars)
	kw.Set("result", res.Whole())
	a, err := t.g.line.ask(ctx, wire.Ask{Kind: wire.AskDebug, Step: t.id, Name: t.shownName(), Outcome: o,
		Kw: plan.Dict{Dict: kw}})
	if err == nil {
		err = hostvars.AnswerError(a)
	}
	if err != nil {
		return nil, err
	}
	said, _ := a.Value.V.(*value.Dict)
	if redo, _ := said.Get("redo"); !value.IsTrue(redo) {
		return nil, nil
	}
	return t.anew(ctx, said)
}

// anew returns the task with the arguments that the user has changed, and with variables over all others.
func (t *task) anew(ctx context.Context, said *value.Dict) (*task, error) {
	s := *t.s
	if v, _ := said.Get("args"); v != nil {
		args, _ := v.(*value.Dict)
		s.Args, s.ArgsExpr, s.Defaults, s.DefaultExprs = plan.Dict{Dict: dictOr(args, nil)}, "", nil, nil
	}
	again, err := newTask(ctx, t.g, &s, t.id, t.rescued)
	if err != nil {
		return nil, err
	}
	changed, _ := said.Get("vars")
	if vars, ok := changed.(*value.Dict); ok {
		again.base = again.base.with(vars)
	}
	return again, nil
}
