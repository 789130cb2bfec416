package builtin

import (
	"context"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/facts"
	"hark/modules/py/value"
	"hark/modules/result"
)

func gatherFacts(known *facts.Memory) *modules.Module {
	type args struct {
		facts.Args
		Parallel *bool `arg:"parallel" doc:"Whether several modules (ansible_facts_modules) run side by side; setup does not use it."`
	}
	return modules.Define("ansible.builtin.gather_facts", "Gathers facts about the host",
		func(ctx context.Context, env *modules.Env, a args) (modules.Result, error) {
			res, err := facts.Gather(ctx, env, known, a.Args)
			return gathered(res), err
		}, isFacts,
		modules.Documented(`- ansible.builtin.gather_facts:
`,
			modules.Return{Name: "ansible_facts", Type: "dict", When: "always", Doc: "The facts."},
		), modules.Programs("fact_path"))
}

// gathered makes a result of setup that of gather_facts: it tells the controller that facts are there
// (gathering=smart), keeps -v from printing them, and speaks of a failure as that of one of several modules.
func gathered(res modules.Result) modules.Result {
	out := modules.Result{Facts: res.Facts, Warnings: res.Warnings, Data: value.DictOf("changed", modules.Here),
		Marks: result.Marks{Quiet: result.Yes}}
	if out.Facts == nil {
		out.Facts = value.NewDict()
	}
	out.Facts.Put(result.Gathered, true)
	if res.Failed {
		out.Failed, out.Msg = true, "The following modules failed to execute: ansible.legacy.setup\n"
		out.Data.Put("failed_modules", value.DictOf("ansible.legacy.setup", res.Dict()))
	}
	return out
}
