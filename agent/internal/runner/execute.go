package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"hark/agent/internal/call"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/plan"
)

// execution is one run of a task: all of it, or one item of its loop.
type execution struct {
	t     *task
	e     *eval
	f     *fields
	sight *sight    // shared by the items of a loop
	item  *loopItem // nil outside loops
	baton *baton    // of an item that runs together with others
	// cause is the fault of a template or a condition that the module had rendered last; only in the tagged language.
	cause *fault
	// staged: the call failed before the module was reached.
	staged bool
	// named are the digests of the controller's files that the module has found in its Resolve stage.
	named []string
}

// run judges the conditions, renders the keywords and calls the module until it is content. The error is a *fault
// when it fails the whole task.
func (x *execution) run(ctx context.Context) (*result.Result, error) {
	contextErr := x.e.context(ctx, x.f)
	ok, refused, err := x.e.tpl.Condition(ctx, conditions(x.e.s.When)...)
	if err != nil {
		err = x.e.check(ctx, err)
		var f *fault
		if !errors.As(err, &f) {
			return nil, err
		}
		if x.t.loopErr != nil {
			return nil, x.t.loopErr
		}
		if x.e.tagged() {
			return nil, f
		}
		return nil, &fault{text: f.text, place: true}
	}
	if !ok {
		res := skippedResult(x.f)
		if x.e.tagged() {
			res.Set("false_condition", refused)
		}
		return res, nil
	}
	if x.t.loopErr != nil {
		return nil, x.t.loopErr
	}
	if contextErr != nil {
		return nil, contextErr
	}
	if x.e.s.Kind == plan.Include {
		return x.includeResult(ctx)
	}
	if err := x.e.fields(ctx, x.f); err != nil {
		return nil, err
	}
	x.t.begin()
	res, err := x.attempts(ctx)
	if err != nil || res.Final {
		return res, err
	}
	return res, x.finish(ctx, res)
}

func skippedResult(f *fields) *result.Result {
	res := result.New()
	res.Set("changed", value.Bool(false))
	res.Set("skipped", value.Bool(true))
	res.Set("skip_reason", value.Str("Conditional result was False"))
	res.NoLog = result.FlagOf(f.noLog)
	return res
}

// attempts calls the module once, or until its condition holds or the retries are spent.
func (x *execution) attempts(ctx context.Context) (res *result.Result, err error) {
	tries := int64(1)
	if x.repeats() {
		tries = max(1, x.f.retries+1)
	}
	delay := x.f.delay
	if delay < 0 {
		delay = 1
	}
	for attempt := int64(1); attempt <= tries; attempt++ {
		if res, err = x.attempt(ctx, attempt); err != nil || res.Final || tries == 1 {
			return res, err
		}
		ok, err := x.content(ctx, res)
		if err != nil || ok {
			return res, err
		}
		if attempt < tries {
			x.t.retry(x, res, attempt, tries)
			if err := x.pause(ctx, res, time.Duration(delay)*time.Second); err != nil {
				return nil, err
			}
		}
	}
	res.Set("attempts", value.Int(tries-1))
	res.Set("failed", value.Bool(true))
	return res, nil
}

// repeats tells that the module may be called again. In the tagged language retries alone says so.
func (x *execution) repeats() bool {
	return len(x.e.s.Until) > 0 || x.e.tagged() && !x.e.s.Retries.IsZero()
}

// content tells that a result needs no other attempt.
func (x *execution) content(ctx context.Context, res *result.Result) (bool, error) {
	if len(x.e.s.Until) > 0 {
		return x.judge(ctx, x.e.s.Until)
	}
	return !res.Failed(), nil
}

// attempt calls the module and completes its result. A final result is not judged any further: the call
// never came to pass.
func (x *execution) attempt(ctx context.Context, attempt int64) (*result.Result, error) {
	res, err := x.call(ctx)
	if err != nil || res.Final {
		return res, err
	}
	x.noteChecked(res)
	if x.e.tagged() {
		jobState(res)
	}
	res.NoLog = result.FlagOf(x.f.noLog || res.NoLog.On())
	if name := x.e.s.Register; !validName(name) {
		return nil, badRegister(name)
	}
	facts, _ := res.Get("ansible_facts")
	if d, ok := facts.(*value.Dict); ok {
		x.sight.see(d, x.t.traits(), x.e.r.vars, x.e.r.shared.InjectFacts)
	}
	x.register(res)
	if _, ok := res.Get("failed"); !ok {
		res.Set("failed", value.Bool(failedRc(res)))
	}
	if x.repeats() {
		res.Set("attempts", value.Int(attempt))
	}
	if x.e.tagged() && res.Failed() {
		x.noteFailure(res)
	}
	if _, ok := res.Get("changed"); !ok {
		res.Set("changed", value.Bool(false))
	}
	x.register(res)
	if res.Has("skipped") {
		return res, nil
	}
	return res, x.redefine(ctx, res)
}

// failedRc: a module that says nothing of failure has failed if it returned an rc other than 0.
func failedRc(res *result.Result) bool {
	rc, ok := res.Get("rc")
	if !ok {
		return false
	}
	if text, isText := value.Text(rc); isText {
		return text != "0"
	}
	n, isInt := value.AsInt(rc)
	return !isInt || n != 0
}

// redefine applies changed_when and failed_when. A condition that cannot be judged fails the task.
func (x *execution) redefine(ctx context.Context, res *result.Result) error {
	name := "changed_when_result"
	ok, err := false, error(nil)
	if len(x.e.s.ChangedWhen) > 0 {
		if ok, err = x.judge(ctx, x.e.s.ChangedWhen); err == nil {
			res.Set("changed", value.Bool(ok))
			x.register(res)
		}
	}
	if err == nil && len(x.e.s.FailedWhen) > 0 {
		name = "failed_when_result"
		if ok, err = x.judge(ctx, x.e.s.FailedWhen); err == nil {
			res.Set("failed_when_result", value.Bool(ok))
			res.Set("failed", value.Bool(ok))
			x.register(res)
		}
	}
	var f *fault
	if errors.As(err, &f) {
		res.Set("failed", value.Bool(true))
		res.Set(name, value.UnsafeStr(f.text))
		return nil
	}
	return err
}

// judge judges conditions with the result in sight.
func (x *execution) judge(ctx context.Context, conds []plan.Expr) (bool, error) {
	ok, _, err := x.e.with(x.sight.vars).tpl.Condition(ctx, conditions(conds)...)
	return ok, x.e.check(ctx, err)
}

// register makes the result visible to the conditions that follow, and to the next items.
func (x *execution) register(res *result.Result) {
	x.sight.register(x.e.s.Register, res)
}

// call runs the module once, as a job if the task says so. Errors of the call itself are results.
func (x *execution) call(ctx context.Context) (*result.Result, error) {
	limit := time.Duration(x.f.timeout) * time.Second
	if x.f.async > 0 && !x.f.check {
		limit = 0 // a job has a limit of its own; in Ansible timeout is for its start alone
	}
	within := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	res, err := x.guarded(within)
	if x.e.r.line.broken() != nil {
		return nil, x.e.r.line.broken()
	}
	if ctx.Err() != nil && (err != nil || res == nil || res.Status() == result.Failed) {
		return nil, ctx.Err() // what was done all the same counts
	}
	if limit > 0 && within.Err() != nil {
		return final(x.tooLate(res)), nil
	}
	return res, err
}

// tooLate is the result of a call that took longer than its timeout. It names what could not be ended.
func (x *execution) tooLate(res *result.Result) *result.Result {
	if x.e.tagged() {
		return timedOut(x)
	}
	late := failure("The %s action failed to execute in the expected time frame (%d) and was terminated", x.e.s.Written, x.f.timeout)
	if res == nil {
		return late
	}
	if _, left := res.Get(call.LeftBehind); left {
		why, _ := res.Get("msg")
		text, _ := value.Text(why)
		msg, _ := late.Get("msg")
		said, _ := value.Text(msg)
		late.Set("msg", value.UnsafeStr(said+", but "+text))
		late.Set(call.LeftBehind, value.Bool(true))
	}
	return late
}

// guarded dispatches the call. What breaks on the way fails this task and nothing else.
func (x *execution) guarded(ctx context.Context) (res *result.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			msg := fmt.Sprintf("internal error: the call of %s broke: %v", x.e.s.Action, p)
			res, err = final(failure("%s", msg)), nil
			res.Set("exception", value.UnsafeStr(string(debug.Stack())+"\n"+msg))
		}
	}()
	return x.dispatch(ctx)
}

// failure is the result of a task that failed before, or instead of, its module.
func failure(format string, a ...any) *result.Result {
	res := result.New()
	res.Set("failed", value.Bool(true))
	res.Set("msg", value.UnsafeStr(fmt.Sprintf(format, a...)))
	return res
}

// finish adds what the controller's side of Ansible reads from a result.
func (x *execution) finish(ctx context.Context, res *result.Result) error {
	res.Notify = x.f.notify
	if x.f.delegate == "" {
		return nil
	}
	shown, err := x.e.far.Delegated(ctx, x.f.delegate)
	res.Delegated = shown
	return x.e.check(ctx, err)
}

// resultOf is a module's result as a value, with the warnings of its call, if there was one: what modules return is never a template.
func resultOf(env *call.Env, r modules.Result) *result.Result {
	if env != nil {
		r.Warnings = append(r.Warnings, env.Warnings()...)
	}
	return result.Of(r.Dict())
}

// retry tells of an attempt that did not hold.
func (t *task) retry(x *execution, res *result.Result, attempt, tries int64) {
	res.Retried = result.Yes
	res.Set("retries", value.Int(tries))
	o := t.report(x.f).Outcome(res)
	o.Attempts, o.Retries = int(attempt), int(tries)
	t.r.line.emit(wire.Event{Kind: wire.Retry, Step: t.id, Name: t.name, Outcome: o})
}
