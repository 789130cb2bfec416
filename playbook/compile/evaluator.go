package compile

import (
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// Who evaluates a step: its host, if it needs nothing but the host itself and what comes with the plan; else the
// controller, which has the answers. See plan.Evaluator.

// evaluator decides who evaluates a step, once its files are attached.
func (c *compiler) evaluator(s *plan.Step) {
	w := c.survey(s)
	if s.Implicit && s.Kind == plan.Meta {
		return
	}
	if c.namesUnknown(s) {
		w.controllers("a module whose name is computed")
	}
	if s.Handler && w.guardWhy != "" {
		w.controllers("the name of the handler: " + w.guardWhy)
	}
	c.needs(s, w)
	s.Reads = w.reads
	if s.Why = w.why; s.Why == "" {
		return
	}
	s.Evaluator = plan.Controller
	s.Guard = c.judged(s)
	s.Reads = nil
	if s.Guard || s.Handler {
		s.Reads = w.guards
	}
}

// judged reports whether a host can judge the conditions of a step before it reaches it, and again when it does.
func (c *compiler) judged(s *plan.Step) bool {
	w := c.survey(s)
	return len(s.When) > 0 && s.Loop == nil && s.Kind != plan.Meta && w.guardWhy == "" && !w.volatile && off(s.RunOnce) &&
		s.Debugger.IsZero() &&
		!c.unit.Plan.Play.Debugger
}

func (c *compiler) namesUnknown(s *plan.Step) bool {
	return templar.IsTemplateText(s.Written)
}

// does notes what of the step is the controller's: effects on other hosts, and files that it reads.
func (w *survey) does() {
	s := w.s
	if s.Kind == plan.Include || !off(s.AnyErrorsFatal) {
		w.observes = true
	}
}

// needs notes what the kind of the step, its keywords and its module need of the controller.
func (c *compiler) needs(s *plan.Step, w *survey) {
	switch {
	case s.Kind == plan.Include:
		w.controllers("an include")
	case s.Kind == plan.Meta:
		if action := metaAction(s); !ownMetas[action] {
			w.controllers("meta " + action)
		}
	case s.Plugin != nil:
		w.controllers("an action plug-in in Python")
	case s.Facts != nil && (s.Facts.Always || c.otherFacts()):
		w.controllers("facts that other modules gather")
	}
	switch {
	case !s.DelegateTo.IsZero():
		w.controllers("delegate_to")
	case !off(s.RunOnce):
		w.controllers("run_once")
	case !smart(s.Connection):
		w.controllers("connection")
	case !off(s.Throttle) && templar.IsTemplate(s.Throttle.V):
		w.controllers("throttle")
	case c.mayHalt(s):
		w.controllers("the debugger")
	case s.Register != "" && !identifier(s.Register):
		w.controllers("a name that cannot be registered")
	case s.Projections.Len() > 0:
		w.controllers("register of expressions")
	case c.setsProtected(s):
		w.controllers("variables that say how tasks are done")
	case c.play.project.cfg.Modules.Has(s.Action, modules.SetsVariables) && ComputedNames(s):
		w.controllers("variables whose names are computed")
	}
	if s.Kind == plan.Task {
		c.steers(s, w)
		if why := c.reads(s); why != "" {
			w.controllers(why)
		}
	}
}

// smart reports whether a step's connection is left to its host.
func smart(connection plan.Expr) bool {
	text, isText := value.Text(value.OrNone(connection.V))
	return connection.IsZero() || isText && (text == "smart" || text == "")
}

// ownMetas are the metas that concern only their own host.
var ownMetas = map[string]bool{
	"noop": true, "flush_handlers": true, "end_host": true, "end_role": true, "role_complete": true,
	"reset_connection": true,
}

func metaAction(s *plan.Step) string {
	v, _ := s.Args.Get("_raw_params")
	action, _ := value.Text(value.OrNone(v))
	return action
}

// otherFacts reports whether variables may say that other modules than setup gather facts.
func (c *compiler) otherFacts() bool {
	for _, name := range []string{"ansible_facts_modules", "ansible_network_os"} {
		if c.play.hosts.Inventory != nil && len(c.play.hosts.Inventory(name)) > 0 {
			return true
		}
		for _, d := range (&survey{c: c, s: &plan.Step{}}).layers() {
			if _, ok := d.Get(name); ok {
				return true
			}
		}
	}
	return false
}

// steers examines the variables that say how a task is done. The controller renders those of the inventory for the host
// (Unit.Handout); some of those that the play and the step set may need it.
func (c *compiler) steers(s *plan.Step, w *survey) {
	for _, d := range w.layers() {
		for _, name := range c.unit.steers(d) {
			v, _ := d.Get(name)
			if name == "ansible_connection" {
				w.controllers("connection")
			}
			w.follow(name, v)
		}
	}
}

// steers returns the names in a layer for which plan.Steers is true.
func (u *Unit) steers(d *value.Dict) []string {
	names, known := u.steering[d]
	if !known {
		d.Each(func(k, _ value.Value) bool {
			if name, _ := value.Text(k); plan.Steers(name) {
				names = append(names, name)
			}
			return true
		})
		u.steering[d] = names
	}
	return names
}

// reads returns which of the controller's files the step's module reads that does not come with the plan.
func (c *compiler) reads(s *plan.Step) string {
	if s.Foreign != nil && len(s.Files) == 0 {
		return "a module that is not native"
	}
	if len(s.Files) > 0 {
		return ""
	}
	mod := c.play.project.cfg.Modules.Declared(s.Action)
	const mayRead = modules.ReadsFiles | modules.ReadsTemplates | modules.ReadsProgram | modules.ReadsBodies | modules.ReadsFragments
	switch {
	case mod == nil:
	case mod.Has(modules.AsksController):
		return s.Action[strings.LastIndexByte(s.Action, '.')+1:]
	case mod.Has(mayRead) && (s.ArgsExpr != "" || len(s.Defaults) > 0 || readsFile(s, mod)):
		return "a file of the controller"
	}
	return ""
}

// readsFile reports whether a module that may read a file of the controller does so in this step.
func readsFile(s *plan.Step, mod *modules.Module) bool {
	remote, given := s.Args.Get("remote_src")
	told := given && (templar.IsTemplate(remote) || off(plan.Lit(remote)))
	switch {
	case mod.Has(modules.ReadsFragments):
		return told
	case given && (!told || templar.IsTemplate(remote)):
		return told
	case mod.Has(modules.ReadsProgram | modules.ReadsTemplates):
		return true
	}
	src, given := s.Args.Get("src")
	return given && !value.IsNone(src)
}

// setsProtected reports whether a step sets variables that no host may set. A playbook may, so such a step is the
// controller's.
func (c *compiler) setsProtected(s *plan.Step) bool {
	protected := vars.ProtectedIn(&c.unit.Plan.Play, nil)
	protected.Documented = OptionVariables(c.play.project)
	found := slices.ContainsFunc(s.Registers(), protected.Has)
	if c.play.project.cfg.Modules.Has(s.Action, modules.SetsVariables) {
		s.Args.Each(func(k, _ value.Value) bool {
			name, _ := value.Text(k)
			found = found || protected.Has(name)
			return true
		})
	}
	return found
}

// ComputedNames reports whether the names of a step's arguments are known only when it is evaluated, for example those
// of variables that it sets. Then only the evaluator knows them, which is the controller.
func ComputedNames(s *plan.Step) bool {
	computed := s.ArgsExpr != "" || len(s.Defaults) > 0
	s.Args.Each(func(k, _ value.Value) bool {
		computed = computed || templar.IsTemplate(k)
		return !computed
	})
	return computed
}

// identifier reports whether a variable may have the name, by its characters.
func identifier(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) && !slices.Contains([]string{"True", "False", "None"}, name) && (name[0] < '0' || name[0] > '9')
}
