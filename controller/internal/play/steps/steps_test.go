package steps

import (
	"testing"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

func step(id plan.ID, kind plan.Kind) *plan.Step {
	return &plan.Step{ID: id, Kind: kind, Name: "t" + string(id), Written: "command", Place: "site.yml:3:5"}
}

func TestAFragmentBringsStepsAndRoles(t *testing.T) {
	s := Of(&plan.Plan{Blocks: []plan.Block{{Body: []plan.Node{{Step: step("1", plan.Include)}}}}})
	inner := step("1.0.1", plan.Task)
	inner.Role = "k"
	s.Add(&plan.Fragment{Blocks: []plan.Block{{Body: []plan.Node{{Step: inner}}}},
		Roles: map[string]*plan.Role{"k": {Name: "web"}}})
	if s.Step("1.0.1") != inner || s.RoleOf(inner) == nil || s.RoleOf(s.Step("1")) != nil {
		t.Error("the steps of a fragment, or their role, are not known")
	}
	if got := s.Label(inner); got != "web : t1.0.1" {
		t.Errorf("it is called %q", got)
	}
}

func TestHowAStepIsShown(t *testing.T) {
	one := step("1", plan.Task)
	one.NoLog, one.CheckMode = plan.Lit(value.Bool(true)), plan.Lit(value.SourceText("{{ x }}"))
	meta := step("2", plan.Meta)
	args := value.NewDict()
	args.Set("_raw_params", value.SourceText("noop"))
	meta.Args = plan.Dict{Dict: args}
	s := Of(&plan.Plan{Play: plan.Play{Check: true}, Blocks: []plan.Block{{Body: []plan.Node{{Step: one}, {Step: meta}}}}})
	switch got := s.ViewTask(wire.Event{Step: "1", Name: "rendered"}); {
	case got.Name != "rendered", got.Place != "site.yml:3", !got.NoLog, !got.Check, got.Diff:
		t.Errorf("%+v", got)
	}
	if got := s.ViewTask(wire.Event{Step: "2"}); got.Meta != "noop" || got.Name != "t2" {
		t.Errorf("%+v", got)
	}
	if got := s.ViewTask(wire.Event{Step: "9", Name: "stranger"}); got.ID != "9" || got.Name != "stranger" {
		t.Errorf("%+v", got)
	}
}

func TestFollowingLeavesOutRescue(t *testing.T) {
	node := func(id plan.ID) plan.Node { return plan.Node{Step: step(id, plan.Task)} }
	inner := plan.Block{Body: []plan.Node{node("2")}, Rescue: []plan.Node{node("3")}, Always: []plan.Node{node("4")}}
	blocks := []plan.Block{{Body: []plan.Node{node("1"), {Block: &inner}, node("5")}}}
	for id, want := range map[plan.ID]plan.ID{"1": "2", "2": "4", "4": "5", "5": "", "1.0.7": "2"} {
		if got := Following(blocks, id); got != want {
			t.Errorf("behind %s comes %q, want %q", id, got, want)
		}
	}
}
