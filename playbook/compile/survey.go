package compile

import (
	"slices"
	"strings"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// survey is what a step reads, followed through the known variables: whether it looks at other hosts, and what only the
// controller has of it. The first decides about barriers (gate), the second about the evaluator. If the compiler cannot
// tell, it treats a step as observing, and as the controller's: slower, never wrong.
type survey struct {
	c    *compiler
	s    *plan.Step
	seen map[string]bool

	observes bool
	// why is what makes the step the controller's, "" for the host's own.
	why string
	// guardWhy is the same for the conditions only, and for what is rendered before them.
	guardWhy string
	// reads are the variables that the step's own texts name; guards those of its conditions.
	reads, guards []string
	// volatile says that a second rendering may have another result; writes says that a lookup may change the controller's
	// files.
	volatile, writes bool
}

// survey examines a step once.
func (c *compiler) survey(s *plan.Step) *survey {
	known := c.unit.surveys[s]
	if known == nil {
		known = &survey{c: c, s: s, seen: map[string]bool{}}
		c.unit.surveys[s] = known
		known.step()
	}
	return known
}

// controllers notes a reason why the step is the controller's.
func (w *survey) controllers(why string) {
	if w.why == "" {
		w.why = why
	}
}

func (w *survey) step() {
	s := w.s
	w.keywords(func(at plan.Stage) bool { return at == plan.AtGuard })
	w.value(s.NameText())
	w.guardWhy, w.guards = w.why, slices.Clone(w.reads)
	w.keywords(func(at plan.Stage) bool { return at != plan.AtGuard })
	w.rest()
	w.arguments()
	w.does()
}

// keywords examines the keywords of some stages.
func (w *survey) keywords(at func(plan.Stage) bool) {
	all := plan.Keywords()
	for i := range all {
		k := &all[i]
		if !at(k.Stage) {
			continue
		}
		for _, e := range k.Exprs(w.s) {
			if k.Bare {
				w.condition(e.V)
			} else {
				w.value(e.V)
			}
		}
	}
}

// rest examines what may replace keywords, and the loop.
func (w *survey) rest() {
	s := w.s
	for _, e := range s.Otherwise {
		w.value(e.V)
	}
	if l := s.Loop; l != nil {
		w.value(l.Over.V)
		if s.Kind == plan.Task && !pureLookup(l.With) {
			w.observes = true
			w.controllers("with_" + l.With)
		}
	}
}

// arguments examines the module's arguments. Some arguments are bare expressions.
func (w *survey) arguments() {
	s := w.s
	w.value(s.ArgsText())
	for _, text := range s.DefaultTexts() {
		w.value(text)
	}
	for _, d := range append([]plan.Dict{s.Args}, s.Defaults...) {
		if d.Dict != nil {
			w.value(d.Dict)
		}
	}
	if m := w.c.play.project.cfg.Modules.Declared(s.Action); m != nil {
		for _, name := range m.Bare {
			w.conditions(name)
		}
	}
}

// conditions examines an argument that holds bare expressions.
func (w *survey) conditions(name string) {
	v, _ := w.s.Args.Get(name)
	for _, item := range items(v) {
		w.condition(item)
	}
}

// condition examines a bare expression.
func (w *survey) condition(v value.Value) {
	if v != nil {
		read := templar.ReadConditions(v)
		w.volatile = w.volatile || read.Volatile
		w.text(read)
	}
}

// value examines a value of the step itself.
func (w *survey) value(v value.Value) {
	if v != nil && templar.IsTemplate(v) {
		read := templar.Read(v)
		w.volatile = w.volatile || read.Volatile
		w.text(read)
	}
}

// text adds what a text of the step itself uses.
func (w *survey) text(read templar.Reading) {
	for _, name := range read.Names {
		if !slices.Contains(w.reads, name) {
			w.reads = append(w.reads, name)
		}
	}
	w.read(read)
}

// read follows what a text uses.
func (w *survey) read(read templar.Reading) {
	for _, name := range read.Lookups {
		if name == "" || !pureLookup(name) {
			w.observes = true
			w.writes = w.writes || !readsOnly(name)
			if name == "" {
				name = "whose name is computed"
			}
			w.controllers("lookup " + name)
		}
	}
	if !read.Complete {
		w.observes = true
		w.controllers("variables whose names are computed")
	}
	for _, name := range read.Plugins {
		if w.c.unit.play.project.onController(name) {
			w.controllers("filter or test " + name)
		}
	}
	for _, name := range read.Texts {
		if w.c.unit.play.project.known(name) {
			w.controllers("filter or test " + name)
		}
	}
	for _, name := range read.Names {
		w.name(name)
	}
}

// readsOnly reports whether a lookup of the controller's changes nothing there.
func readsOnly(name string) bool {
	l, ok := dialect.LookupNamed(name)
	return ok && !l.Traits.Has(dialect.ChangesController)
}

// onController reports whether only the controller can run a filter or test: it reads files, is in Python, or is not
// known.
func (p *Project) onController(name string) bool {
	return p.known(name) || p.cfg.Templates.Engine.Missing("filter", name) && p.cfg.Templates.Engine.Missing("test", name)
}

// known reports whether a name is among those that the controller runs.
func (p *Project) known(name string) bool {
	if templar.OnController("filter", name) || templar.OnController("test", name) {
		return true
	}
	own := p.plugins()
	return own != nil && (slices.Contains(own.Filters, name) || slices.Contains(own.Tests, name))
}

// name follows a variable.
func (w *survey) name(name string) {
	if w.seen[name] {
		return
	}
	w.seen[name] = true
	switch name {
	case "hostvars", "ansible_delegated_vars", "vars":
		w.observes = true
		w.controllers(name)
		return
	case "ansible_play_hosts", "ansible_play_batch", "play_hosts", "ansible_current_hosts", "ansible_failed_hosts":
		w.observes = true
		if len(w.c.play.hosts.AllHosts) > 1 {
			w.controllers(name)
		}
		return
	case "groups":
		w.observes = true
	case "_task":
		if w.c.play.project.cfg.Level.Has(dialect.RegisterMap) {
			w.controllers(name)
		}
	}
	found := false
	for _, d := range w.layers() {
		if v, ok := d.Get(name); ok {
			found = true
			w.follow(name, v)
		}
	}
	if !found && w.c.unit.reach.unknown {
		w.observes = true
	}
	if w.c.play.hosts.Inventory == nil {
		return
	}
	for _, v := range w.c.play.hosts.Inventory(name) {
		w.follow(name, v)
	}
}

// follow examines the value of a variable in one layer.
func (w *survey) follow(name string, v value.Value) {
	if v == nil || !templar.IsTemplate(v) {
		return
	}
	before := w.why
	w.read(w.c.unit.readings.of(v))
	if before == "" && w.why != "" && !strings.Contains(w.why, " by way of ") {
		w.why += " by way of " + name
	}
}

// readings caches what texts use: the same variables are followed for many steps and hosts. Its methods assume Unit.mu
// held, or the unit unfinished.
type readings struct {
	texts map[string]templar.Reading
}

// of returns templar.Read of a value.
func (r *readings) of(v value.Value) templar.Reading {
	text, ok := value.Text(v)
	if !ok {
		return templar.Read(v)
	}
	read, ok := r.texts[text]
	if !ok {
		read = templar.Read(v)
		r.texts[text] = read
	}
	return read
}
