package runner

import (
	"context"
	"errors"

	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/plan"
)

// judge judges results by what a step says of them: until, changed_when, failed_when and break_when, whose conditions see the result as the
// variable that the step registers.
type judge struct {
	e     *eval
	sight *sight
}

// holds judges conditions.
func (j judge) holds(ctx context.Context, conds []plan.Expr) (bool, error) {
	ok, _, err := j.e.with(j.sight.vars).tpl.Condition(ctx, conditions(conds)...)
	return ok, j.e.check(ctx, err)
}

// repeats tells that the module may be called again. In the tagged language retries alone says so.
func (j judge) repeats() bool {
	return len(j.e.s.Until) > 0 || j.e.tagged() && !j.e.s.Retries.IsZero()
}

// attempts is how often it may be called.
func (j judge) attempts(f *fields) int64 {
	if j.repeats() {
		return max(1, f.retries+1)
	}
	return 1
}

// content tells that a result needs no other attempt.
func (j judge) content(ctx context.Context, res *result.Result) (bool, error) {
	if len(j.e.s.Until) > 0 {
		return j.holds(ctx, j.e.s.Until)
	}
	return !res.Failed(), nil
}

// breaks tells that the loop ends with the item of the result.
func (j judge) breaks(ctx context.Context, res *result.Result) (bool, error) {
	conds := j.e.s.Loop.BreakWhen
	if len(conds) == 0 {
		return false, nil
	}
	j.sight.register(j.e.s.Register, res)
	return j.holds(ctx, conds)
}

// redefine applies changed_when and failed_when. A condition that cannot be judged fails the task.
func (j judge) redefine(ctx context.Context, res *result.Result) error {
	name := "changed_when_result"
	ok, err := false, error(nil)
	if len(j.e.s.ChangedWhen) > 0 {
		if ok, err = j.holds(ctx, j.e.s.ChangedWhen); err == nil {
			res.Set("changed", value.Bool(ok))
			j.sight.register(j.e.s.Register, res)
		}
	}
	if err == nil && len(j.e.s.FailedWhen) > 0 {
		name = "failed_when_result"
		if ok, err = j.holds(ctx, j.e.s.FailedWhen); err == nil {
			res.Set("failed_when_result", value.Bool(ok))
			res.Set("failed", value.Bool(ok))
			j.sight.register(j.e.s.Register, res)
		}
	}
	var f *fault
	if errors.As(err, &f) {
		res.Set("failed", value.Bool(true))
		res.Set(name, value.UnsafeStr(f.text))
		if len(f.links) > 0 && f.links[0].of {
			l := f.links[0]
			l.unsaid = true
			say(res, l)
		}
		return nil
	}
	return err
}
