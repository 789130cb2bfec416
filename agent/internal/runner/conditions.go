package runner

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/plan"
)

// conditionJudge judges results by the step's keywords: until, changed_when, failed_when and break_when. Their
// conditions see the result as the variable that the step registers.
type conditionJudge struct {
	e    *eval
	view *hostView
}

// holds reports whether all conditions hold.
func (j conditionJudge) holds(ctx context.Context, conds []plan.Expr) (bool, error) {
	ok, _, err := j.e.with(j.view.vars).tpl.Condition(ctx, conditions(conds)...)
	return ok, j.e.check(ctx, err)
}

// repeats reports whether the module may be called again. In the tagged language (2.19 and later) retries alone
// suffices.
func (j conditionJudge) repeats() bool {
	return len(j.e.s.Until) > 0 || j.e.has(dialect.RetriesAlone) && !j.e.s.Retries.IsZero()
}

// attempts returns how often the module may be called.
func (j conditionJudge) attempts(f *fields) int64 {
	if j.repeats() {
		return max(1, f.retries+1)
	}
	return 1
}

// content reports whether a result needs no further attempt.
func (j conditionJudge) content(ctx context.Context, res *result.Result) (bool, error) {
	if len(j.e.s.Until) > 0 {
		ok, err := j.holds(ctx, j.e.s.Until)
		return ok, j.e.within("until", err)
	}
	return !res.Failed(), nil
}

// breaks reports whether the loop ends with the item of the result.
func (j conditionJudge) breaks(ctx context.Context, res *result.Result) (bool, error) {
	conds := j.e.s.Loop.BreakWhen
	if len(conds) == 0 {
		return false, nil
	}
	j.view.register(j.e.s, res)
	return j.holds(ctx, conds)
}

// redefine applies changed_when and failed_when. A condition that cannot be evaluated fails the task.
func (j conditionJudge) redefine(ctx context.Context, res *result.Result) error {
	name := "changed_when_result"
	err := j.changedWhen(ctx, res)
	if err == nil && len(j.e.s.FailedWhen) > 0 {
		name = "failed_when_result"
		var ok bool
		if ok, err = j.holds(ctx, j.e.s.FailedWhen); err == nil {
			j.suppress(res, ok)
			res.Set("failed_when_result", value.Bool(ok))
			res.Set("failed", value.Bool(ok))
			j.view.register(j.e.s, res)
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

// changedWhen applies changed_when.
func (j conditionJudge) changedWhen(ctx context.Context, res *result.Result) error {
	if len(j.e.s.ChangedWhen) == 0 {
		return nil
	}
	ok, err := j.holds(ctx, j.e.s.ChangedWhen)
	if err != nil {
		return err
	}
	res.Set("changed", value.Bool(ok))
	if j.e.has(dialect.ChangedWhen) {
		res.Set("changed_when_result", value.Bool(ok))
	}
	j.view.register(j.e.s, res)
	return nil
}

// suppress replaces the reason for the module's failure by the decision of failed_when.
func (j conditionJudge) suppress(res *result.Result, failed bool) {
	if !j.e.has(dialect.SuppressedException) {
		return
	}
	had := res.Failed()
	if had && !j.returned(res) {
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

// returned reports whether an action returned the failure, as fail and assert do: it raised no exception. From the
// level of dialect.FailedWhen on, Ansible makes an exception of each failure.
func (j conditionJudge) returned(res *result.Result) bool {
	m := j.e.g.cfg.Modules.Declared(j.e.s.Action)
	return !j.e.has(dialect.FailedWhen) && res.FailedBy == "Action" && m != nil && m.Traits&modules.IsAction != 0
}

// tell records why a result failed that its module returned.
func (j conditionJudge) tell(res *result.Result, why ...link) {
	say(res, append([]link{{msg: "Task failed."}, {msg: cmp.Or(res.FailedBy, "Action") + " failed."}}, why...)...)
}

// fill writes into the msg of a failed result why it failed, if its module left msg empty or, at level 2.19, away.
func (j conditionJudge) fill(res *result.Result) {
	if !res.Failed() || !j.e.has(dialect.FailureCauses) {
		return
	}
	msg, written := res.Get("msg")
	switch {
	case value.IsTrue(msg), written && !j.e.has(dialect.FailedWhen):
		return
	case res.Events == nil || len(res.Events.Items) == 0:
		if !written {
			j.tell(res, link{msg: "Unknown error."})
			if j.e.has(dialect.ResultException) {
				excepted(res)
			}
			res.Set("msg", value.UnsafeStr("Task failed: "+cmp.Or(res.FailedBy, "Action")+" failed: Unknown error."))
		}
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

// ofKeyword returns what surrounds the fault of a condition, by its keyword.
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

// within surrounds a fault with its keyword; it returns other errors unchanged.
func (e *eval) within(keyword string, err error) error {
	var f *fault
	if !e.has(dialect.WhenFailed) || !errors.As(err, &f) {
		return err
	}
	return f.under(ofKeyword(keyword, f))
}
