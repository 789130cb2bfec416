package plugins

import (
	"testing"

	"hark/controller/internal/ui/view"
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/plan/keywordtest"
)

// Callbacks see every keyword that the playbook gives.
func TestCallbacksSeeEveryKeyword(t *testing.T) {
	vars := value.NewDict()
	vars.Set("x", value.Int(1))
	s := &plan.Step{Register: "r", Written: "probe", Name: "n", Tags: []string{"t"}, Vars: plan.Dict{Dict: vars}, Args: plan.Dict{Dict: vars},
		Loop: &plan.Loop{Over: plan.Lit(value.SourceText("x")), With: "items"}}
	for _, k := range plan.Keywords() {
		switch {
		case k.One != nil:
			*k.One(s) = plan.Lit(value.SourceText("x"))
		case k.Many != nil:
			*k.Many(s) = []plan.Expr{plan.Lit(value.SourceText("x"))}
		}
	}
	d := newTask(view.Task{Step: s})
	for _, w := range keywordtest.Words(t) {
		of := d.Keywords
		switch {
		case w.Stands("loop"):
			of = d.LoopControl
		case !w.Stands("task"):
			continue
		}
		switch w.Name {
		case "action", "name", "async", "collections", "loop_control", "module_defaults":
			continue // told otherwise, by another name, or not at all
		}
		if of[w.Name] == nil {
			t.Errorf("%s is missing", w.Name)
		}
	}
}
