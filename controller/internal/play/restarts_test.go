package play

import (
	"testing"

	"hark/modules"
	"hark/modules/all"
	"hark/playbook/plan"
)

func TestPlansThatRestartTheirHosts(t *testing.T) {
	step := func(kind plan.Kind, action string) *plan.Step { return &plan.Step{Kind: kind, Action: action} }
	of := func(steps ...*plan.Step) *plan.Plan {
		b := plan.Block{}
		for _, s := range steps {
			b.Body = append(b.Body, plan.Node{Step: s})
		}
		return &plan.Plan{Blocks: []plan.Block{b}}
	}
	ping, include := step(plan.Task, "ansible.builtin.ping"), step(plan.Include, "ansible.builtin.include_tasks")
	known := modules.NewRegistry(all.Modules()...)
	handler := of(ping)
	handler.Handlers = []plan.Handler{{Step: step(plan.Task, "ansible.builtin.reboot")}}
	for name, c := range map[string]struct {
		plan       *plan.Plan
		uses, want bool
	}{
		"a task":                         {of(ping, step(plan.Task, "ansible.builtin.reboot")), false, true},
		"a handler":                      {handler, false, true},
		"nothing":                        {of(ping), true, false},
		"an include that may bring one":  {of(include), true, true},
		"an include that brings nothing": {of(include), false, false},
	} {
		if got := restarts(known, c.plan, func(string) bool { return c.uses }); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
