package runner

import (
	"hark/modules"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// hostView is what the results of a task, and of the items of its loop so far, have set. Conditions on results see it,
// and so do the following items.
type hostView struct {
	// vars lie on top of all other variables.
	vars *value.Dict
	// facts are the host's facts with those of the results, nil while the results have none.
	facts *value.Dict
}

func newHostView() *hostView { return &hostView{vars: value.NewDict()} }

// known returns the facts of a host with those of the results.
func (s *hostView) known(h *vars.Host) *value.Dict {
	if s.facts != nil {
		return s.facts
	}
	return h.Facts
}

// see makes facts variables: those of set_fact and include_vars unchanged, those of other modules as facts become
// variables.
func (s *hostView) see(facts *value.Dict, mod modules.Trait, g *playState) {
	switch {
	case mod&modules.ShowsOnly != 0:
		return
	case mod&(modules.SetsVariables|modules.LoadsVariables) != 0:
		facts.Each(func(k, v value.Value) bool { return s.vars.SetKey(k, v) })
		return
	}
	facts, _ = g.protected.Facts(facts)
	s.facts = vars.Combine(s.known(g.vars), facts, false)
	s.vars.Set("ansible_facts", vars.NamespaceFacts(s.facts))
	if g.shared.InjectFacts {
		vars.InjectedFacts(facts).Each(func(k, v value.Value) bool { return s.vars.SetKey(k, v) })
	}
}

// register sets the variable that a step registers to a result, if it registers one. Expressions are variables from the
// first result on.
func (s *hostView) register(step *plan.Step, res *result.Result) {
	if step.Register != "" {
		s.vars.Set(step.Register, res.Dict)
	}
	projections(step).Each(func(k, x value.Value) bool { return s.vars.SetKey(k, x) })
}
