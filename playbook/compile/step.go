package compile

import (
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/syntax"
)

// step makes the step of a task with all that it inherits.
func (c *compiler) step(t *task, id plan.ID, tags []string) *plan.Step {
	o, src := t.o, t.src
	if t.implicit && t.action == "ansible.builtin.meta" {
		return &plan.Step{
			ID: id, Kind: plan.Meta, Action: t.action, Written: src.Action, Args: plan.Dict{Dict: src.Args},
			Implicit: true, Pure: true, Tags: tags,
		}
	}
	s := &plan.Step{
		ID: id, Kind: plan.Task, Name: src.Name, Action: t.action, Written: src.Action, Foreign: t.foreign, Plugin: t.plugin,
		Args: plan.Dict{Dict: src.Args}, ArgsExpr: src.ArgsExpr, Defaults: c.play.moduleDefaults(t),
		When: exprs(o.keyword("when")), Loop: loopOf(src), Register: register(src.Attrs),
		Notify: o.expr("notify"), Environment: exprs(o.keyword("environment")),
		Until: ownExprs(src, "until"), ChangedWhen: ownExprs(src, "changed_when"), FailedWhen: ownExprs(src, "failed_when"),
		Retries: ownExpr(src, "retries"), Delay: ownExpr(src, "delay"), Async: ownExpr(src, "async"), Poll: ownExpr(src, "poll"),
		Vars: plan.Dict{Dict: o.taskVars()}, IncludeVars: plan.Dict{Dict: o.includeParams()},
		Tags: tags, Handler: t.handler, Implicit: t.implicit, Place: o.place.String(), Search: o.search(),
	}
	c.play.plug(s, t)
	for name, to := range inheritedExprs(s) {
		*to = o.expr(name)
		if v := o.beyond(name); v != nil {
			if s.Otherwise == nil {
				s.Otherwise = map[string]plan.Expr{}
			}
			s.Otherwise[name] = plan.Lit(v)
		}
	}
	if o.role != nil {
		s.Role = c.unit.roleKey(o.role, o.chain())
	}
	switch {
	case t.action == "ansible.builtin.meta":
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

// inheritedExprs are the fields of a step that hold inherited keywords as they are.
func inheritedExprs(s *plan.Step) map[string]*plan.Expr {
	return map[string]*plan.Expr{
		"ignore_errors": &s.IgnoreErrors, "ignore_unreachable": &s.IgnoreUnreachable, "any_errors_fatal": &s.AnyErrorsFatal,
		"run_once": &s.RunOnce, "delegate_to": &s.DelegateTo, "delegate_facts": &s.DelegateFacts, "no_log": &s.NoLog,
		"check_mode": &s.CheckMode, "diff": &s.Diff, "timeout": &s.Timeout, "throttle": &s.Throttle,
		"become": &s.Become, "become_user": &s.BecomeUser, "become_method": &s.BecomeMethod, "become_flags": &s.BecomeFlags,
		"become_exe": &s.BecomeExe, "remote_user": &s.RemoteUser, "connection": &s.Connection, "port": &s.Port,
		"debugger": &s.Debugger,
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

func ownExpr(src *syntax.Task, name string) plan.Expr { return given(src.Attrs.Get(name)) }

func ownExprs(src *syntax.Task, name string) []plan.Expr { return exprs(src.Attrs.Get(name)) }

// register is the name to register under. Anything but text is kept as it is printed, to be refused when the task has run.
func register(a syntax.Attrs) string {
	v := value.OrNone(a.Get("register"))
	if value.IsNone(v) {
		return ""
	}
	s, err := value.ToStr(v)
	if err != nil {
		return v.Type()
	}
	return s
}

func loopOf(src *syntax.Task) *plan.Loop {
	if !src.Loop.Given() || value.IsNone(src.Loop.Over.Value) {
		return nil
	}
	control := func(name string) plan.Expr { return given(src.LoopControl.Get(name)) }
	return &plan.Loop{
		With: src.Loop.With, Over: plan.Lit(src.Loop.Over.Value),
		Var: control("loop_var"), IndexVar: control("index_var"), Label: control("label"), Pause: control("pause"),
		Extended: control("extended"), ExtendedAllItems: control("extended_allitems"),
		BreakWhen: exprs(src.LoopControl.Get("break_when")),
	}
}
