package play

import (
	"hark/modules"
	"hark/playbook/plan"
)

// restarts reports whether a step of the plan may restart its host. A session on the host would not live through
// that, so it is kept in this process. uses reports whether a dynamic include may bring such a step.
func restarts(known *modules.Registry, p *plan.Plan, uses func(module string) bool) bool {
	found, includes := false, false
	look := func(s *plan.Step) {
		found = found || known.Has(s.Action, modules.RestartsHost) || setsConnection(known, s)
		includes = includes || s.Kind == plan.Include
	}
	plan.Walk(p.Blocks, look)
	for i := range p.Handlers {
		look(p.Handlers[i].Step)
	}
	return found || includes && uses("reboot")
}

// setsConnection reports whether a step sets how its host is reached from then on, which counts for calls that the
// controller makes.
func setsConnection(known *modules.Registry, s *plan.Step) bool {
	if !known.Has(s.Action, modules.SetsVariables) {
		return false
	}
	_, sets := s.Args.Get("ansible_connection")
	return sets
}
