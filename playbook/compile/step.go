package compile

import (
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/syntax"
)

// step returns the step of a task with all that it inherits.
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
		Args: plan.Dict{Dict: src.Args}, ArgsExpr: src.ArgsExpr,
		Loop: loopOf(src), Register: register(src.Attrs), Projections: projections(src.Attrs),
		Vars: plan.Dict{Dict: o.taskVars()}, IncludeVars: plan.Dict{Dict: o.includeParams()},
		Tags: tags, Handler: t.handler, Implicit: t.implicit, Place: o.place.String(), Search: o.search(),
	}
	s.Defaults, s.DefaultExprs = c.play.defaults().task(t)
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

// keywords sets the fields of a step that hold keywords as written, of those that may be on such things.
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

// exprs returns the items of a list; any other value is one item.
func exprs(v value.Value) []plan.Expr {
	var out []plan.Expr
	for _, item := range items(v) {
		if !value.IsNone(item) {
			out = append(out, plan.Lit(item))
		}
	}
	return out
}

// register returns the name to register under. It keeps a value that is no text as it is printed, to be rejected when
// the task has run.
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

// projections returns the expressions to register by their names, if the task has any.
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
