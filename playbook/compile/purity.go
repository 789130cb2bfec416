package compile

import (
	"regexp"

	"hark/modules"
	"hark/playbook/jinja/templar"
	"hark/playbook/jinja/value"
	"hark/playbook/plan"
)

// A step is pure if it neither changes nor observes anything outside its session; hosts run ahead through pure
// steps. A step that observes must be closed off behind too: a host that is done with it may not change its own
// variables before all others have seen them. Where the compiler cannot tell, a step is taken to observe: the play
// is then slower, never wrong.

// gate judges a step and puts the barriers.
func (c *compiler) gate(s *plan.Step) {
	observes := c.observes(s)
	s.Pure = !observes && !c.mayHalt(s) && c.pureAction(s)
	if c.unit.Plan.Play.Free() {
		s.Gate = !off(s.Throttle) // hosts wait for a token there, not for each other
		return
	}
	s.Gate = !s.Pure || c.observed
	c.observed = observes || changesOthers(s)
}

// mayHalt tells whether the debugger may open at the step: what comes before it must be on the screen then.
func (c *compiler) mayHalt(s *plan.Step) bool {
	return s.Kind == plan.Task && (!s.Debugger.IsZero() || c.unit.Plan.Play.Debugger)
}

// changesOthers tells whether the step sets variables of another host (delegate_facts): that host must not run ahead of it.
func changesOthers(s *plan.Step) bool { return !s.DelegateTo.IsZero() && !off(s.DelegateFacts) }

// pureAction tells whether what the step does stays within the session.
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

// off tells whether a keyword is not given, or given with a constant that means no.
func off(e plan.Expr) bool {
	if e.IsZero() || templar.IsTemplate(e.V) {
		return e.IsZero()
	}
	if b, err := asBool(e.V); err == nil {
		return !b
	}
	return value.Falsy(e.V)
}

// observes tells whether the step may look at other hosts, or whether its failure concerns them.
func (c *compiler) observes(s *plan.Step) bool {
	known, ok := c.unit.observing[s]
	if !ok {
		known = c.judge(s)
		c.unit.observing[s] = known
	}
	return known
}

func (c *compiler) judge(s *plan.Step) bool {
	if s.Kind == plan.Include || !off(s.AnyErrorsFatal) {
		return true
	}
	if s.Kind == plan.Task && s.Loop != nil && !pureLookup(s.Loop.With) {
		return true
	}
	look := watcher{c: c, s: s, seen: map[string]bool{}}
	return look.step()
}

// everObserved tells whether any step of the blocks observes or is an include.
func (c *compiler) everObserved(blocks []plan.Block) bool {
	found := false
	plan.Walk(blocks, func(s *plan.Step) { found = found || c.observes(s) })
	return found
}

// pureLookup tells whether a lookup computes from its arguments alone.
func pureLookup(name string) bool {
	switch modules.ShortName(name) {
	case "", "items", "list", "dict", "nested", "cartesian", "together", "subelements", "sequence", "indexed_items",
		"flattened", "community.general.flattened", "random_choice", "vars", "varnames":
		return true
	}
	return false
}

// watcher follows what a step reads, through the variables that are known.
type watcher struct {
	c    *compiler
	s    *plan.Step
	seen map[string]bool
}

func (w *watcher) step() bool {
	s := w.s
	values := []value.Value{value.YAMLStr(s.Name), value.YAMLStr(s.ArgsExpr)}
	for _, d := range append([]plan.Dict{s.Args}, s.Defaults...) {
		if d.Dict != nil {
			values = append(values, d.Dict)
		}
	}
	for _, e := range s.Environment {
		values = append(values, e.V)
	}
	values = append(values, s.Notify.V, s.Retries.V, s.Delay.V)
	for _, e := range inheritedExprs(s) {
		values = append(values, e.V)
	}
	conditions := [][]plan.Expr{s.When, s.Until, s.ChangedWhen, s.FailedWhen}
	if l := s.Loop; l != nil {
		values = append(values, l.Over.V, l.Label.V, l.Var.V, l.IndexVar.V, l.Pause.V, l.Extended.V)
		conditions = append(conditions, l.BreakWhen)
	}
	for _, v := range values {
		if w.value(v) {
			return true
		}
	}
	for _, list := range conditions {
		for _, e := range list {
			if w.condition(e.V) {
				return true
			}
		}
	}
	return s.Action == "ansible.builtin.assert" && w.conditions(s.Args, "that") ||
		s.Action == "ansible.builtin.debug" && w.conditions(s.Args, "var")
}

// conditions looks at an argument that holds bare expressions.
func (w *watcher) conditions(args plan.Dict, name string) bool {
	v, _ := args.Get(name)
	for _, item := range items(v) {
		if w.condition(item) {
			return true
		}
	}
	return false
}

// condition looks at a bare expression.
func (w *watcher) condition(v value.Value) bool {
	if v == nil {
		return false
	}
	names, complete := templar.ConditionRefs(v)
	return outsideLookup(v) || w.read(names, complete)
}

var lookupCall = regexp.MustCompile(`\b(?:lookup|query|q)\s*\(\s*(?:['"]([\w.]+)['"])?`)

// value looks at a value: at lookups in its texts, and at the variables it reads.
func (w *watcher) value(v value.Value) bool {
	if v == nil || !templar.IsTemplate(v) {
		return false
	}
	names, complete := templar.Refs(v)
	return outsideLookup(v) || w.read(names, complete)
}

// read tells whether reading these variables may look at other hosts; not complete is any variable.
func (w *watcher) read(names []string, complete bool) bool {
	if !complete {
		return true
	}
	for _, name := range names {
		if w.name(name) {
			return true
		}
	}
	return false
}

// outsideLookup tells whether a text calls a lookup that reads the controller's world, or one whose name is not known.
func outsideLookup(v value.Value) bool {
	switch v := v.(type) {
	case *value.List:
		for _, item := range v.Items {
			if outsideLookup(item) {
				return true
			}
		}
	case *value.Dict:
		found := false
		v.Each(func(k, item value.Value) bool {
			found = outsideLookup(k) || outsideLookup(item)
			return !found
		})
		return found
	}
	text, ok := value.Text(v)
	if !ok {
		return false
	}
	for _, call := range lookupCall.FindAllStringSubmatch(text, -1) {
		if call[1] == "" || !pureLookup(call[1]) {
			return true
		}
	}
	return false
}

// name tells whether reading a variable may look at other hosts.
func (w *watcher) name(name string) bool {
	switch name {
	case "hostvars", "vars", "ansible_play_hosts", "ansible_play_batch", "play_hosts", "groups", "ansible_delegated_vars":
		return true
	}
	if w.seen[name] {
		return false
	}
	w.seen[name] = true
	found := false
	for _, d := range w.layers() {
		if v, ok := d.Get(name); ok {
			found = true
			if w.value(v) {
				return true
			}
		}
	}
	if !found && w.c.unit.reach.unknown {
		return true
	}
	if w.c.play.hosts.Inventory == nil {
		return false
	}
	for _, v := range w.c.play.hosts.Inventory(name) {
		if w.value(v) {
			return true
		}
	}
	return false
}
