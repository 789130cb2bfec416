package runner

import (
	"strings"

	"hark/agent/internal/result"
	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// outcome is a result as the controller gets it, without effects.
func (t *task) outcome(res *value.Dict, f *fields) *wire.Outcome {
	return t.outcomeOf(res, func(wire.Status) *value.Dict { return res }, f)
}

// brief is an outcome without what no view would show of it; see plan.Play.
func (t *task) brief(res *value.Dict, f *fields) *wire.Outcome {
	return t.outcomeOf(res, func(s wire.Status) *value.Dict { return t.shortened(res, s) }, f)
}

func (t *task) outcomeOf(res *value.Dict, seen func(wire.Status) *value.Dict, f *fields) *wire.Outcome {
	hidden, _ := res.Get("_ansible_no_log")
	o := &wire.Outcome{Status: result.Status(res), NoLog: f.noLog || result.True(hidden), Delegated: f.delegate}
	if o.NoLog {
		o.Result = result.Censored(res)
		return o
	}
	o.Result = result.Shown(seen(o.Status), t.r.doc.Play.Verbosity >= 3 || t.r.doc.Play.Invocation)
	if _, isItem := res.Get("_ansible_item_result"); isItem {
		loopVar, _ := res.Get("ansible_loop_var")
		if item, ok := res.GetKey(loopVar); ok {
			o.Item = result.JSON(item)
		}
		if label, ok := res.Get("_ansible_item_label"); ok {
			o.Label, _ = value.ToStr(label)
		}
	}
	attempts, _ := res.Get("attempts")
	if n, ok := value.AsInt(attempts); ok {
		o.Attempts = int(n)
	}
	return o
}

// shortened is a result of the given status as brief has it.
func (t *task) shortened(res *value.Dict, s wire.Status) *value.Dict {
	p := &t.r.doc.Play
	if !p.Brief || s == wire.StatusUnreachable {
		return res
	}
	always, _ := res.Get("_ansible_verbose_always")
	state := p.Verbosity == 0 && (s == wire.OK || s == wire.Changed) && !result.True(always)
	out := value.NewDict()
	for i := range res.Len() {
		k, v := res.Kept(i)
		if name, ok := value.Text(k); !state || ok && t.stated(name) {
			out.SetKey(k, v)
		}
	}
	_, isItem := res.Get("_ansible_item_result")
	if t.loop && !isItem && !p.Diff && len(t.resultItems(res)) > 0 {
		out.Set("results", value.NewList())
	}
	return out
}

// stated tells the members of a result that say how it came out: views that show the state alone read no others.
func (t *task) stated(name string) bool {
	switch name {
	case "changed", "failed", "skipped", "rc", "attempts", "retries", "warnings", "deprecations", "exception", "results", "censored", "ansible_loop_var", "item",
		"ansible_job_id", "started", "finished", "ansible_stats":
		return true
	case "diff":
		return t.f.diff || t.r.doc.Play.Diff
	}
	return strings.HasPrefix(name, "_ansible_")
}

// described is the task as ansible_failed_task shows it.
func (t *task) described() *value.Dict {
	d := value.NewDict()
	given := func(name string, x plan.Expr, otherwise value.Value) {
		if x.IsZero() {
			d.Set(name, otherwise)
		} else {
			d.Set(name, x.V)
		}
	}
	for name, x := range map[string]plan.Expr{
		"become_exe": t.s.BecomeExe, "become_flags": t.s.BecomeFlags, "become_user": t.s.BecomeUser, "debugger": t.s.Debugger,
		"delegate_facts": t.s.DelegateFacts, "delegate_to": t.s.DelegateTo, "notify": t.s.Notify, "port": t.s.Port,
		"remote_user": t.s.RemoteUser, "run_once": t.s.RunOnce, "ignore_errors": t.s.IgnoreErrors, "ignore_unreachable": t.s.IgnoreUnreachable,
	} {
		given(name, x, value.None{})
	}
	given("any_errors_fatal", t.s.AnyErrorsFatal, value.Bool(false))
	given("become", t.s.Become, value.Bool(false))
	given("become_method", t.s.BecomeMethod, value.YAMLStr("sudo"))
	given("connection", t.s.Connection, value.YAMLStr("ssh"))
	given("delay", t.s.Delay, value.Int(5))
	given("poll", t.s.Poll, value.Int(15))
	given("retries", t.s.Retries, value.Int(3))
	given("throttle", t.s.Throttle, value.Int(0))
	for name, xs := range map[string][]plan.Expr{
		"when": t.s.When, "changed_when": t.s.ChangedWhen, "failed_when": t.s.FailedWhen, "until": t.s.Until, "environment": t.s.Environment,
	} {
		d.Set(name, value.NewList(conditions(xs)...))
	}
	d.Set("name", value.Str(t.name))
	d.Set("action", value.Str(t.s.Written))
	d.Set("args", dictOr(t.f.args, t.s.Args.Dict))
	d.Set("vars", dictOr(t.s.Vars.Dict, nil))
	d.Set("no_log", value.Bool(t.f.noLog))
	d.Set("check_mode", value.Bool(t.f.check))
	d.Set("diff", value.Bool(t.f.diff))
	d.Set("async", value.Int(t.f.async))
	d.Set("async_val", value.Int(t.f.async))
	d.Set("timeout", value.Int(t.f.timeout))
	d.Set("register", value.None{})
	if t.s.Register != "" {
		d.Set("register", value.Str(t.s.Register))
	}
	d.Set("loop", value.None{})
	d.Set("loop_with", value.None{})
	if t.s.Loop != nil {
		given("loop", t.s.Loop.Over, value.None{})
	}
	tags := value.NewList()
	for _, tag := range t.s.Tags {
		tags.Items = append(tags.Items, value.Str(tag))
	}
	d.Set("tags", tags)
	return d
}

// dictOr is the first that is not nil, else an empty one.
func dictOr(first, second *value.Dict) *value.Dict {
	switch {
	case first != nil:
		return first
	case second != nil:
		return second
	}
	return value.NewDict()
}
