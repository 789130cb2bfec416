package compile

import (
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/syntax"
)

// step makes the step of a task with all that it inherits.
func (c *compiler) step(t *task, id plan.ID, tags []string) *plan.Step {
	o, src := t.o, t.src
	if t.implicit && t.action == plan.MetaAction {
		return &plan.Step{
			ID: id, Kind: plan.Meta, Action: t.action, Written: src.Action, Args: plan.Dict{Dict: src.Args},
			Implicit: true, Pure: true, Tags: tags,
		}
	}
	s := &plan.Step{
		ID: id, Kind: plan.Task, Name: src.Name, Sealed: isSealed(src.Attrs.Get("name")),
		Action: t.action, Written: src.Action, Foreign: t.foreign, Plugin: t.plugin,
		Args: plan.Dict{Dict: src.Args}, ArgsExpr: src.ArgsExpr, Defaults: c.play.defaults().task(t),
		Loop: loopOf(src), Register: register(src.Attrs), Projections: projections(src.Attrs),
		Vars: plan.Dict{Dict: o.taskVars()}, IncludeVars: plan.Dict{Dict: o.includeParams()},
		Tags: tags, Handler: t.handler, Implicit: t.implicit, Place: o.place.String(), Search: o.search(),
	}
	c.play.defaults().plug(s, t)
	o.keywords(s, plan.OnTask)
	if s.Loop != nil {
		(&object{attrs: src.LoopControl}).keywords(s, plan.OnLoopControl)
	}
	if o.role != nil {
		s.Role = c.unit.roleKey(o.role, o.chain())
	}
	switch {
	case t.action == plan.MetaAction:
		s.Kind = plan.Meta
	case o.include != nil:
		s.Kind = plan.Include
		c.unit.includes[id] = t
	default:
		c.attach(s)
	}
	c.evaluator(s)
	c.gate(s)
	return s
}

// keywords sets the fields of a step that hold keywords as they are, of those that may stand on such things.
func (o *object) keywords(s *plan.Step, on plan.Where) {
	all := plan.Keywords()
	for i := range all {
		k := &all[i]
		switch {
		case !k.On.Has(on):
		case k.Many != nil:
			*k.Many(s) = exprs(o.keyword(k.Name))
		case k.One != nil:
			*k.One(s) = o.expr(k.Name)
			if v := o.beyond(k.Name); v != nil {
				if s.Otherwise == nil {
					s.Otherwise = map[string]plan.Expr{}
				}
				s.Otherwise[k.Name] = plan.Lit(v)
			}
		}
	}
}

// exprs are the items of a list; what is no list is one item.
func exprs(v value.Value) []plan.Expr {
	var out []plan.Expr
	for _, item := range items(v) {
		if !value.IsNone(item) {
			out = append(out, plan.Lit(item))
		}
	}
	return out
}

// register is the name to register under. Anything but text is kept as it is printed, to be refused when the task has
// run.
func register(a syntax.Attrs) string {
	v := value.OrNone(a.Get("register"))
	if value.IsNone(v) || projections(a).Dict != nil {
		return ""
	}
	s, err := value.ToStr(v)
	if err != nil {
		return v.Type()
	}
	return s
}

// projections are the expressions to register by their names, if the task says so.
func projections(a syntax.Attrs) plan.Dict {
	d, _ := a.Get("register").(*value.Dict)
	return plan.Dict{Dict: d}
}

func loopOf(src *syntax.Task) *plan.Loop {
	if !src.Loop.Given() || value.IsNone(src.Loop.Over.Value) {
		return nil
	}
	return &plan.Loop{With: src.Loop.With, Over: plan.Lit(src.Loop.Over.Value)}
}
