package runner

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/plan"
)

// judge judges results by what a step says of them: until, changed_when, failed_when and break_when, whose conditions
// see the result as the variable that the step registers.
type judge struct {
	e     *eval
	sight *sight
}

// holds judges conditions.
func (j judge) holds(ctx context.Context, conds []plan.Expr) (bool, error) {
	ok, _, err := j.e.with(j.sight.vars).tpl.Condition(ctx, conditions(conds)...)
	return ok, j.e.check(ctx, err)
}

// repeats reports whether the module may be called again. In the tagged language retries alone says so.
func (j judge) repeats() bool {
	return len(j.e.s.Until) > 0 || j.e.has(dialect.RetriesAlone) && !j.e.s.Retries.IsZero()
}

// attempts is how often it may be called.
func (j judge) attempts(f *fields) int64 {
	if j.repeats() {
		return max(1, f.retries+1)
	}
	return 1
}

// content reports whether a result needs no other attempt.
func (j judge) content(ctx context.Context, res *result.Result) (bool, error) {
	if len(j.e.s.Until) > 0 {
		ok, err := j.holds(ctx, j.e.s.Until)
		return ok, j.e.within("until", err)
	}
	return !res.Failed(), nil
}

// breaks reports whether the loop ends with the item of the result.
func (j judge) breaks(ctx context.Context, res *result.Result) (bool, error) {
	conds := j.e.s.Loop.BreakWhen
	if len(conds) == 0 {
		return false, nil
	}
	j.sight.register(j.e.s, res)
	return j.holds(ctx, conds)
}

// redefine applies changed_when and failed_when. A condition that cannot be judged fails the task.
func (j judge) redefine(ctx context.Context, res *result.Result) error {
	name := "changed_when_result"
	ok, err := false, error(nil)
	if len(j.e.s.ChangedWhen) > 0 {
		if ok, err = j.holds(ctx, j.e.s.ChangedWhen); err == nil {
			res.Set("changed", value.Bool(ok))
			if j.e.has(dialect.ChangedWhen) {
				res.Set(name, value.Bool(ok))
			}
			j.sight.register(j.e.s, res)
		}
	}
	if err == nil && len(j.e.s.FailedWhen) > 0 {
		name = "failed_when_result"
		if ok, err = j.holds(ctx, j.e.s.FailedWhen); err == nil {
			j.suppress(res, ok)
			res.Set("failed_when_result", value.Bool(ok))
			res.Set("failed", value.Bool(ok))
			j.sight.register(j.e.s, res)
		}
	}
	var f *fault
	if errors.As(err, &f) {
		res.Set("failed", value.Bool(true))
		res.Set(name, value.UnsafeStr(f.text))
		if j.e.has(dialect.JudgedFailed) {
			j.tell(res, append([]link{ofKeyword(strings.TrimSuffix(name, "_result"), f)}, f.links...)...)
			return nil
		}
		if len(f.links) > 0 && f.links[0].of {
			l := f.links[0]
			l.unsaid = true
			say(res, l)
		}
		return nil
	}
	return err
}

// suppress puts what failed_when decides in the place of why the module has failed.
func (j judge) suppress(res *result.Result, failed bool) {
	if !j.e.has(dialect.SuppressedException) {
		return
	}
	had := res.Failed()
	if had {
		res.Delete(value.Str("exception"))
		res.Set("failed_when_suppressed_exception", value.UnsafeStr("(traceback unavailable)"))
	}
	if failed && j.e.has(dialect.FailedWhen) {
		if !had {
			res.FailedBy = "Action"
		}
		j.tell(res, link{msg: "A 'failed_when' expression evaluated to 'True'."})
	}
}

// tell says why a result failed that its module has returned.
func (j judge) tell(res *result.Result, why ...link) {
	say(res, append([]link{{msg: "Task failed."}, {msg: cmp.Or(res.FailedBy, "Action") + " failed."}}, why...)...)
}

// fill says in the msg of a failed result why it failed, if its module has said nothing there.
func (j judge) fill(res *result.Result) {
	if msg, _ := res.Get("msg"); value.IsTrue(msg) || !res.Failed() || res.Events == nil || len(res.Events.Items) == 0 || !j.e.has(dialect.FailedWhen) {
		return
	}
	var links []link
	for _, item := range res.Events.Items {
		if d, ok := item.(*value.Dict); ok {
			msg, _ := d.Get("msg")
			text, _ := value.Text(msg)
			links = append(links, link{msg: text})
		}
	}
	res.Set("msg", value.UnsafeStr(brief(links)))
}

// ofKeyword is what is said around the fault of a condition, by the keyword that it is of.
func ofKeyword(keyword string, f *fault) link {
	l := link{msg: "A '" + keyword + "' expression failed."}
	if keyword == "until" {
		l.msg = "An 'until' expression failed."
	}
	if len(f.links) > 0 {
		l.spot = f.links[0].spot
	}
	return l
}

// within is a fault with what is said around it; other errors stay as they are.
func (e *eval) within(keyword string, err error) error {
	var f *fault
	if !e.has(dialect.WhenFailed) || !errors.As(err, &f) {
		return err
	}
	return f.under(ofKeyword(keyword, f))
}
