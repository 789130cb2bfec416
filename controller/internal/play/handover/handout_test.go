package handover

import (
	"slices"
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/play/playtest"
	"hark/controller/internal/play/steps"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// given is what agents were given who can read one variable.
func given(hosts ...string) *Tasks {
	h := New(nil, nil, nil)
	for _, host := range hosts {
		h.Give(host, map[string]bool{"r": true})
	}
	return h
}

func TestAStepIsHandedOverOnceByThoseWhoHaveIt(t *testing.T) {
	p := &plan.Plan{Blocks: []plan.Block{{Body: playtest.Steps([]string{"1:include", "2"})}}}
	d := NewExecutor(given("a", "b"), ExecutorConfig{Plan: p, Steps: steps.Of(p)})
	f := &plan.Fragment{Index: 0,
		Blocks: []plan.Block{{Body: []plan.Node{{Step: &plan.Step{ID: "1.0.1", Kind: plan.Task}}}}}}
	d.c.Steps.Add(f)
	a, b := d.Of("a"), d.Of("b")
	a.under, a.fragments = []plan.ID{"1.0"}, []*plan.Fragment{f}
	if d.Pending(a, "1.0.1") != nil || d.Pending(b, "1.0.1") == nil {
		t.Error("a fragment is given to who did not include it, or not to who did")
	}
	if d.Pending(a, "7") == nil {
		t.Error("a step is handed over that there is not")
	}
	a.Take("1.0.1")
	if d.Pending(a, "1.0.1") == nil || d.Pending(a, "1") == nil || d.Pending(a, "2") != nil || !a.Asked("1.0.1") {
		t.Error("a step is handed over twice, or not in its order")
	}
}

// What was sent to all is cut to what some host can read; who has everything asks for the rest.
func TestSharedEffectsAreCutForAgents(t *testing.T) {
	h := given("a", "b")
	h.Forget("b") // its session is in this process
	d := value.NewDict()
	d.Set("r", value.Str("read"))
	d.Set("secret", value.Str("kept"))
	other := wire.Effect{Layer: "set", Host: "c", Vars: plan.Dict{Dict: d}}
	shared, ask := h.ForAll([]wire.Effect{{Layer: "set", Vars: plan.Dict{Dict: d}}, other}, []string{"a", "b"})
	if !slices.Equal(ask, []string{"b"}) || len(shared) != 1 || shared[0].Vars.Len() != 1 {
		t.Errorf("%+v, asked by %v", shared, ask)
	}
}

// What says how a host's tasks are done every task looks for: were it withheld, each would be handed over.
func TestVariablesThatSteerAreHandedOut(t *testing.T) {
	of := func(names ...string) plan.Dict {
		d := value.NewDict()
		for _, name := range names {
			d.Set(name, value.SourceText("x"))
		}
		return plan.Dict{Dict: d}
	}
	got := steering(wire.HostVars{Inventory: of("ansible_user", "other"), Set: of("ansible_become_pass"),
		Include: of("ansible_host", "ansible_ssh_pass")})
	slices.Sort(got)
	if want := []string{"ansible_become_pass", "ansible_host", "ansible_user"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
