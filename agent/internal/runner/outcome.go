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

// described is the task as ansible_failed_task shows it: most keywords as they are written.
func (t *task) described() *value.Dict {
	d := value.NewDict()
	for _, k := range plan.Keywords() {
		if v, ok := t.keyword(&k); ok {
			d.Set(k.Name, v)
			d.Set(k.AnsibleName(), v)
		}
	}
	return d
}

// keyword is a keyword as described has it; false for what steps do not keep.
func (t *task) keyword(k *plan.Keyword) (value.Value, bool) {
	if !k.On.Has(plan.OnTask) || !k.Kept() {
		return nil, false
	}
	switch k.Name {
	case "name":
		return value.Str(t.name), true
	case "args":
		return dictOr(t.f.args, t.s.Args.Dict), true
	case "no_log", "check_mode", "diff", "async", "timeout":
		return t.f.value(k.Name), true
	}
	v := k.Given(t.s)
	switch {
	case v != nil:
		return v, true
	case k.Default != nil:
		return k.Default, true
	case k.Many != nil || k.Name == "tags":
		return value.NewList(), true
	case k.Is == plan.IsMapping:
		return value.NewDict(), true
	}
	return value.None{}, true
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
