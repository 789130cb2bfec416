package runner

import (
	"hark/modules"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// sight is what the results of a task, and of the items of its loop so far, have made: conditions on results see it,
// and the items that follow.
type sight struct {
	// vars lie on top of all other variables.
	vars *value.Dict
	// facts are those of the host with those of the results, nil while these have none.
	facts *value.Dict
}

func newSight() *sight { return &sight{vars: value.NewDict()} }

// known are the facts of a host, as they are with the results.
func (s *sight) known(h *vars.Host) *value.Dict {
	if s.facts != nil {
		return s.facts
	}
	return h.Facts
}

// see makes facts variables: those of set_fact and include_vars as they are, those of other modules as facts become
// variables.
func (s *sight) see(facts *value.Dict, mod modules.Trait, g *ground) {
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

// register makes a result the variable that a step registers, if it does. Expressions are variables from the first
// result on.
func (s *sight) register(step *plan.Step, res *result.Result) {
	if step.Register != "" {
		s.vars.Set(step.Register, res.Dict)
	}
	projections(step).Each(func(k, x value.Value) bool { return s.vars.SetKey(k, x) })
}
