package compile

import (
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// A step is pure if it neither changes nor observes anything outside its session; hosts run ahead through pure steps. A
// step that observes needs a barrier behind it too: a host that is done with it may not change its own variables before
// all others have seen them. If the compiler cannot tell, it treats a step as observing: the play is then slower, never
// wrong.

// gate puts the barriers around a step.
func (c *compiler) gate(s *plan.Step) {
	observes := c.observes(s)
	s.Pure = !observes && !c.mayHalt(s) && c.pureAction(s)
	if c.unit.Plan.Play.Free() {
		s.Gate = !off(s.Throttle) // hosts wait for a token there, not for each other
		return
	}
	s.Gate = !s.Pure || c.observed
	s.Ahead = s.Gate && s.Kind == plan.Task && !c.observed && !c.ending && !s.Handler && off(s.Throttle) && c.judged(s)
	c.observed = observes || changesOthers(s)
	switch {
	case s.Kind == plan.Meta && !s.Pure:
		c.ending = true
	case s.Gate && !s.Ahead:
		c.ending = false
	}
}

// mayHalt reports whether the debugger may open at the step: what comes before it must be on the screen then.
func (c *compiler) mayHalt(s *plan.Step) bool {
	return s.Kind == plan.Task && (!s.Debugger.IsZero() || c.unit.Plan.Play.Debugger)
}

// changesOthers reports whether the step sets variables of another host (delegate_facts): that host must not run ahead
// of it.
func changesOthers(s *plan.Step) bool { return !s.DelegateTo.IsZero() && !off(s.DelegateFacts) }

// pureAction reports whether the step's effects stay within the session.
func (c *compiler) pureAction(s *plan.Step) bool {
	if s.Kind == plan.Meta {
		v, _ := s.Args.Get("_raw_params")
		action, _ := value.Text(value.OrNone(v))
		return action == "noop" || action == "flush_handlers" || action == "reset_connection"
	}
	if s.Kind != plan.Task || !off(s.RunOnce) || !off(s.Throttle) || !s.DelegateTo.IsZero() || !off(s.Async) {
		return false
	}
	m, ok := c.play.project.cfg.Modules.Get(s.Action)
	return ok && m.Pure && s.Foreign == nil && s.Plugin == nil
}

// off reports whether a keyword is not given, or given with a constant that means no.
func off(e plan.Expr) bool {
	if e.IsZero() || templar.IsTemplate(e.V) {
		return e.IsZero()
	}
	if b, err := asBool(e.V); err == nil {
		return !b
	}
	return value.Falsy(e.V)
}

// observes reports whether the step may look at other hosts, or whether its failure concerns them.
func (c *compiler) observes(s *plan.Step) bool { return c.survey(s).observes }

// everObserved reports whether any step of the blocks observes or is an include.
func (c *compiler) everObserved(blocks []plan.Block) bool {
	found := false
	plan.Walk(blocks, func(s *plan.Step) { found = found || c.observes(s) })
	return found
}

// pureLookup reports whether a lookup depends only on its arguments; "" is a loop without one.
func pureLookup(name string) bool {
	l, ok := dialect.LookupNamed(name)
	return name == "" || ok && l.Traits.Has(dialect.Pure)
}
