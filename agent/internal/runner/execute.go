package runner

import (
	"context"
	"errors"
	"time"

	"hark/agent/wire"
	"hark/modules/dialect"
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
}

// run judges the conditions, renders the keywords and calls the module until it is content. The error is a *fault
// when it fails the whole task.
func (x *execution) run(ctx context.Context) (*result.Result, error) {
	x.t.latest = x
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

// record makes a result known to the conditions on it, and to the items that follow.
func (x *execution) record(res *result.Result) {
	if x.baton == nil {
		x.e.current.note(res, x.item)
	}
	x.sight.register(x.e.s, res)
}

func skippedResult(f *fields) *result.Result {
	res := result.New()
	res.Set("changed", value.Bool(false))
	res.Set("skipped", value.Bool(true))
	res.Set("skip_reason", value.Str("Conditional result was False"))
	res.NoLog = result.FlagOf(f.noLog)
	return res
}

// include renders what one include, or one item of its loop, names.
func (x *execution) include(ctx context.Context) (*result.Result, error) {
	res, inc, err := inclusion{x.e, x.f, x.item}.render(ctx)
	if inc != nil {
		x.t.included = append(x.t.included, *inc)
	}
	return res, err
}

// attempts are those that the task may have.
func (x *execution) attempts() attempts {
	j := x.judge()
	return attempts{most: j.attempts(x.f), delay: x.f.delay, trial: &tries{x, x.caller(), j}}
}

func (x *execution) judge() judge { return judge{x.e, x.sight} }

// caller runs the module.
func (x *execution) caller() *caller {
	t := x.t
	return &caller{
		way: way{x.e, x.f}, mod: t.mod, name: t.name, title: t.title(), kept: titleOf(t, keptName(t)),
		sight: x.sight, baton: x.baton, blame: &blame{e: x.e}, tell: x.progress,
		// Before ansible-core 2.21 the items of a registered loop keep their invocation, and so does ansible_failed_result.
		invocation: t.loop && len(x.e.s.Registers()) > 0 && !x.e.has(dialect.SkippedResults) || t.rescued && !x.e.has(dialect.FailedResult) || x.e.g.play.Invocation,
	}
}

// tries are the attempts of an execution.
type tries struct {
	x *execution
	*caller
	judge
}

func (t *tries) sleep(ctx context.Context, d time.Duration) error { return t.x.e.g.cfg.Sleep(ctx, d) }

// exhausted says nothing of why the task has failed since ansible-core 2.21.
func (t *tries) exhausted(res *result.Result) {
	res.Set("failed", value.Bool(true))
	if t.x.e.has(dialect.RetriesLeft) {
		say(res)
	}
}

// again tells of an attempt that did not hold.
func (t *tries) again(res *result.Result, n, most int64) {
	res.Retried = result.Yes
	res.Set("retries", value.Int(most))
	if t.x.e.has(dialect.RetriesLeft) {
		n++ // it tells of the attempt to come
		res.Set("attempts", value.Int(n))
	}
	t.x.e.notices.confide(res)
	o := t.x.t.report(t.x.f).Outcome(res)
	o.Attempts, o.Retries = int(n), int(most)
	t.x.e.g.line.emit(wire.Event{Kind: wire.Retry, Step: t.x.t.id, Name: t.x.t.name, Outcome: o})
}

// call calls the module and completes its result. A final one is not judged any further.
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
		x.sight.see(d, x.t.traits(), x.e.g)
	}
	if !res.Has("failed") {
		res.Set("failed", value.Bool(failedRc(res)))
	}
	if t.repeats() {
		res.Set("attempts", value.Int(n))
	}
	switch {
	case !x.e.has(dialect.FailureCauses):
		res.FailedBy = ""
	case res.Failed():
		t.blame.tell(res, x.f.args)
	}
	if !res.Has("changed") {
		res.Set("changed", value.Bool(false))
	}
	if msg, ok := res.Get("msg"); ok && value.IsNone(msg) && x.e.has(dialect.NullMsg) {
		res.Delete(value.Str("msg"))
	}
	x.record(res)
	if res.Has("skipped") {
		return res, nil
	}
	err = t.redefine(ctx, res)
	t.fill(res)
	return res, err
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

// finish adds what the controller's side of Ansible reads from a result.
func (x *execution) finish(ctx context.Context, res *result.Result) error {
	res.Notify = x.f.notify
	if x.f.delegate == "" {
		return nil
	}
	shown, err := x.e.far.step().Delegated(ctx, x.f.delegate)
	res.Delegated = shown
	return x.e.check(ctx, err)
}

// progress tells of a job that is awaited, and then, with last, of its end.
func (x *execution) progress(res *result.Result, last bool) {
	if x.e.has(dialect.JobBools) {
		jobState(res)
	}
	x.e.notices.confide(res)
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
