package runner

import (
	"context"
	"errors"
	"time"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/plan"
)

// execution is one run of a task: the whole of it, or one item of its loop.
type execution struct {
	t    *task
	e    *eval
	f    *fields
	view *hostView // shared by the items of a loop
	item *loopItem // nil outside loops
	turn *turn     // of an item that runs together with others
}

// run judges the conditions, renders the keywords and calls the module until the result is content. The error is a
// *fault when it fails the whole task.
func (x *execution) run(ctx context.Context) (*result.Result, error) {
	x.t.latest = x
	x.e.change = new(*inventoryChange)
	if x.e.has(dialect.DelegateFirst) && value.IsTrue(x.e.s.DelegateTo.V) {
		rd := &reader{ctx: ctx, e: x.e, contextual: true}
		if x.f.delegate = rd.delegate(); rd.err != nil {
			x.f.delegate, _ = value.Text(x.e.s.DelegateTo.V)
			return nil, rd.err
		}
		x.f.delegateKnown = true
	}
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
		if x.e.has(dialect.FailureCauses) {
			return nil, x.e.within("when", x.ofCondition(f, refused))
		}
		return nil, &fault{text: f.text, place: true}
	}
	if !ok {
		res := skippedResult(x.f)
		if x.e.has(dialect.FalseCondition) {
			res.Set("false_condition", refused)
			if x.e.has(dialect.SkippedResults) {
				res.Set("failed", value.Bool(false))
				x.record(res)
			}
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
		return x.include(ctx)
	}
	if err := x.e.fields(ctx, x.f); err != nil {
		return nil, err
	}
	x.t.begin()
	res, err := x.attempts().run(ctx)
	if err != nil || res.Final {
		return res, err
	}
	return res, x.finish(ctx, res)
}

// record makes a result visible to the conditions on it, and to the following items.
func (x *execution) record(res *result.Result) {
	if x.turn == nil {
		x.e.current.note(res, x.item)
	}
	x.view.register(x.e.s, res)
}

func skippedResult(f *fields) *result.Result {
	res := result.New()
	res.Set("changed", value.Bool(false))
	res.Set("skipped", value.Bool(true))
	res.Set("skip_reason", value.Str("Conditional result was False"))
	res.NoLog = result.FlagOf(f.noLog)
	return res
}

// include renders the file or role of one include, or of one item of its loop.
func (x *execution) include(ctx context.Context) (*result.Result, error) {
	res, inc, err := inclusion{x.e, x.f, x.item}.render(ctx)
	if inc != nil {
		x.t.included = append(x.t.included, *inc)
	}
	return res, err
}

// attempts returns the attempts that the task may have.
func (x *execution) attempts() attempts {
	j := x.judge()
	return attempts{most: j.attempts(x.f), delay: x.f.delay, trial: &tries{x, x.caller(), j}}
}

func (x *execution) judge() conditionJudge { return conditionJudge{x.e, x.view} }

// caller returns the caller of the module.
func (x *execution) caller() *caller {
	t := x.t
	return &caller{
		runTarget: runTarget{x.e, x.f}, mod: t.mod, name: t.name, title: t.title(), kept: titleOf(t, keptName(t)),
		view: x.view, turn: x.turn, failure: &failureReport{e: x.e}, tell: x.progress,
		// Before ansible-core 2.21 the items of a registered loop keep their invocation, and so does ansible_failed_result.
		invocation: t.loop && len(x.e.s.Registers()) > 0 && !x.e.has(dialect.SkippedResults) ||
			t.rescued && !x.e.has(dialect.FailedResult) || x.e.g.play.Invocation,
	}
}

// tries are the attempts of an execution.
type tries struct {
	x *execution
	*caller
	conditionJudge
}

func (t *tries) sleep(ctx context.Context, d time.Duration) error { return t.x.e.g.cfg.Sleep(ctx, d) }

// exhausted gives no reason for the failure since ansible-core 2.21.
func (t *tries) exhausted(res *result.Result) {
	res.Set("failed", value.Bool(true))
	switch {
	case t.x.e.has(dialect.RetriesLeft):
		say(res)
	case !res.Has("msg") && res.Status() == result.Failed:
		t.fill(res)
	}
}

// again reports an attempt that did not hold.
func (t *tries) again(res *result.Result, n, most int64) {
	res.Retried = result.Yes
	res.Set("retries", value.Int(most))
	if t.x.e.has(dialect.RetriesLeft) {
		n++ // it reports the coming attempt
		res.Set("attempts", value.Int(n))
	}
	t.x.e.notices.addSecrets(res)
	o := t.x.t.report(t.x.f).Outcome(res)
	o.Attempts, o.Retries = int(n), int(most)
	t.x.e.g.line.emit(wire.Event{Kind: wire.Retry, Step: t.x.t.id, Name: t.x.t.name, Outcome: o})
}

// call calls the module and completes its result. A final result is not judged any further.
func (t *tries) call(ctx context.Context, n int64) (*result.Result, error) {
	x := t.x
	res, err := t.run(ctx)
	if err != nil || res.Final {
		return res, err
	}
	if x.f.check && x.f.async > 0 {
		x.e.g.checked.note(res)
	}
	if x.e.has(dialect.JobBools) {
		jobState(res)
	}
	if x.e.has(dialect.DiffHeader) {
		titled(res, x.f.args)
	}
	res.NoLog = result.FlagOf(x.f.noLog || res.NoLog.On())
	if name := x.e.s.Register; name != "" && !x.e.g.play.Level.NamesVariable(name) {
		return nil, badRegister(name)
	}
	facts, _ := res.Get("ansible_facts")
	if d, ok := facts.(*value.Dict); ok {
		x.view.see(d, x.t.traits(), x.e.g)
	}
	if !res.Has("failed") {
		res.Set("failed", value.Bool(failedRc(res)))
	}
	res.Final = raised(res, x.e.has(dialect.FailureCauses))
	if !res.Final && t.repeats() && (t.conditionJudge.attempts(x.f) > 1 || !x.e.has(dialect.RetriesAlone)) {
		res.Set("attempts", value.Int(n))
	}
	switch {
	case !x.e.has(dialect.FailureCauses):
		res.FailedBy = ""
	case res.Failed():
		t.failure.tell(res, x.f.args)
	}
	switch {
	case res.Final && !x.e.has(dialect.FailureCauses):
		res.Delete(value.Str("changed"))
	case !res.Has("changed"):
		res.Set("changed", value.Bool(false))
	}
	if msg, ok := res.Get("msg"); ok && value.IsNone(msg) && x.e.has(dialect.NullMsg) {
		res.Delete(value.Str("msg"))
	}
	if res.Final {
		return res, nil
	}
	x.record(res)
	if res.Has("skipped") {
		return res, nil
	}
	err = t.redefine(ctx, res)
	t.fill(res)
	return res, err
}

// raised reports whether a failure is an exception that the action let out. causes says whether the level keeps the
// causes of failures. Ansible's executor is left by it before
// until, changed_when and failed_when: _execute of ansible/executor/task_executor.py.
func raised(res *result.Result, causes bool) bool {
	let := res.FailedBy == modules.ByTask || res.FailedBy == modules.ByCaught && causes
	return res.Failed() && let
}

// failedRc fails a result whose module reports no failure and an rc other than 0.
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

// finish applies what Ansible's controller side reads from a result.
func (x *execution) finish(ctx context.Context, res *result.Result) error {
	res.Notify = x.f.notify
	if x.f.delegate == "" {
		return nil
	}
	shown, err := x.e.far.step().Delegated(ctx, x.f.delegate)
	res.Delegated = shown
	return x.e.check(ctx, err)
}

// progress reports a job that is awaited, and then, with last, its end.
func (x *execution) progress(res *result.Result, last bool) {
	if x.e.has(dialect.JobBools) {
		jobState(res)
	}
	x.e.notices.addSecrets(res)
	e := wire.Event{Kind: wire.Progress, Step: x.e.id, Name: x.t.name, Outcome: x.t.report(x.f).Brief(res)}
	if !last {
		e.Every = time.Duration(x.f.poll) * time.Second
	} else {
		e.Text = "ok"
		if res.Failed() {
			e.Text = "failed"
		}
	}
	x.e.g.line.emit(e)
}
