package runner

import (
	"hark/agent/internal/result"
	"hark/agent/wire"
	"hark/playbook/jinja/value"
	"hark/playbook/plan"
)

// outcome is a result as the controller gets it, without effects.
func (t *task) outcome(res *value.Dict, f *fields) *wire.Outcome {
	hidden, _ := res.Get("_ansible_no_log")
	o := &wire.Outcome{Status: result.Status(res), NoLog: f.noLog || result.True(hidden), Delegated: f.delegate}
	if o.NoLog {
		o.Result = result.Censored(res)
		return o
	}
	o.Result = result.Shown(res, t.r.doc.Play.Verbosity >= 3)
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
	if n, ok := value.AsInt(value.Value(orNil(attempts))); ok {
		o.Attempts = int(n)
	}
	return o
}

func orNil(v value.Value) value.Value {
	if v == nil {
		return value.None{}
	}
	return v
}

// described is the task as ansible_failed_task shows it.
func (t *task) described() *value.Dict {
	d := value.NewDict()
	set := func(name string, x plan.Expr) { d.Set(name, orNone(x)) }
	list := func(name string, xs []plan.Expr) { d.Set(name, value.NewList(conditions(xs)...)) }
	d.Set("name", value.Str(t.name))
	d.Set("action", value.Str(t.s.Written))
	args := t.s.Args.Dict
	if t.f.args != nil {
		args = t.f.args
	}
	if args == nil {
		args = value.NewDict()
	}
	d.Set("args", args)
	list("when", t.s.When)
	list("changed_when", t.s.ChangedWhen)
	list("failed_when", t.s.FailedWhen)
	list("until", t.s.Until)
	list("environment", t.s.Environment)
	set("notify", t.s.Notify)
	set("delegate_to", t.s.DelegateTo)
	set("delegate_facts", t.s.DelegateFacts)
	set("become", t.s.Become)
	set("become_user", t.s.BecomeUser)
	set("become_method", t.s.BecomeMethod)
	set("run_once", t.s.RunOnce)
	set("remote_user", t.s.RemoteUser)
	set("connection", t.s.Connection)
	d.Set("ignore_errors", value.Bool(t.f.ignoreErrors))
	d.Set("ignore_unreachable", value.Bool(t.f.ignoreUnreachable))
	d.Set("no_log", value.Bool(t.f.noLog))
	d.Set("check_mode", value.Bool(t.f.check))
	d.Set("diff", value.Bool(t.f.diff))
	d.Set("async", value.Int(t.f.async))
	d.Set("timeout", value.Int(t.f.timeout))
	register := value.Value(value.None{})
	if t.s.Register != "" {
		register = value.Str(t.s.Register)
	}
	d.Set("register", register)
	tags := value.NewList()
	for _, tag := range t.s.Tags {
		tags.Items = append(tags.Items, value.Str(tag))
	}
	d.Set("tags", tags)
	own := t.s.Vars.Dict
	if own == nil {
		own = value.NewDict()
	}
	d.Set("vars", own)
	return d
}
