package runner

import (
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// description is a task as ansible_failed_task shows it, with most keywords as written.
type description struct {
	s    *plan.Step
	f    *fields
	name string // rendered
}

func (t *task) described() *value.Dict {
	out := description{t.s, t.f, t.name}.dict()
	if t.s.Register != "" && t.base.has(dialect.FailedResult) {
		registers := value.NewDict()
		registers.Set(t.s.Register, value.Str("_task.polymorphic_result"))
		out.Set("register", registers)
	}
	return out
}

func (d description) dict() *value.Dict {
	out := value.NewDict()
	for _, k := range plan.Keywords() {
		if v, ok := d.keyword(&k); ok {
			out.Set(k.Name, v)
			out.Set(k.AnsibleName(), v)
		}
	}
	return out
}

// keyword returns a keyword as it is shown; false for keywords that steps do not keep.
func (d description) keyword(k *plan.Keyword) (value.Value, bool) {
	if !k.On.Has(plan.OnTask) || !k.Kept() {
		return nil, false
	}
	switch k.Name {
	case "name":
		return value.Str(d.name), true
	case "args":
		return dictOr(d.f.args, d.s.Args.Dict), true
	case "no_log", "check_mode", "diff", "async", "timeout":
		return d.f.value(k.Name), true
	}
	v := k.Given(d.s)
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
