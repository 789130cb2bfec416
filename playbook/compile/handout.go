package compile

import (
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// Readable returns the variables that a host's own steps can read, including those of fragments compiled for it: what
// their texts name, what the values of these name in turn, and those that steer how tasks are done. own returns the raw
// values that the host itself has for a name: in the inventory, from include_vars, as facts.
func (u *Unit) Readable(fragments []*plan.Fragment, own func(name string) []value.Value,
	always ...string) map[string]bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	r := reader{u: u, own: own, names: map[string]bool{}}
	r.layers = u.sharedLayers(fragments)
	r.steps(u.Plan.Blocks, u.Plan.Handlers)
	for _, f := range u.Plan.Play.VarsFiles {
		for _, name := range f.Texts() {
			r.value(name)
		}
	}
	for _, f := range fragments {
		r.steps(f.Blocks, f.Handlers)
	}
	for _, d := range r.layers {
		for _, name := range u.steers(d) {
			r.name(name)
		}
	}
	for _, name := range always {
		r.name(name)
	}
	return r.names
}

// reader collects what a host's steps can read.
type reader struct {
	u      *Unit
	own    func(name string) []value.Value
	layers []*value.Dict
	names  map[string]bool
}

func (r *reader) steps(blocks []plan.Block, handlers []plan.Handler) {
	step := func(s *plan.Step) {
		for _, name := range s.Reads {
			r.name(name)
		}
	}
	plan.Walk(blocks, step)
	for _, h := range handlers {
		step(h.Step)
	}
}

func (r *reader) value(v value.Value) {
	if v != nil && templar.IsTemplate(v) {
		for _, name := range r.u.readings.of(v).Names {
			r.name(name)
		}
	}
}

func (r *reader) name(name string) {
	if r.names[name] {
		return
	}
	r.names[name] = true
	for _, d := range r.layers {
		if v, ok := d.Get(name); ok {
			r.value(v)
		}
	}
	for _, v := range r.own(name) {
		r.value(v)
	}
}

// sharedLayers returns all dicts in which steps may find variables, except those of hosts.
func (u *Unit) sharedLayers(fragments []*plan.Fragment) []*value.Dict {
	play := &u.Plan.Play
	layers := []*value.Dict{play.Extra.Dict, play.RoleVars.Dict, play.Vars.Dict, play.RoleDefaults.Dict}
	for _, f := range play.VarsFiles {
		layers = append(layers, f.Vars.Dict)
	}
	add := func(roles map[string]*plan.Role, blocks []plan.Block, handlers []plan.Handler) {
		for _, role := range roles {
			layers = append(layers, role.Params.Dict, role.Vars.Dict, role.Defaults.Dict)
		}
		seen := map[*value.Dict]bool{nil: true}
		step := func(s *plan.Step) {
			for _, d := range []*value.Dict{s.Vars.Dict, s.IncludeVars.Dict} {
				if !seen[d] && d.Len() > 0 {
					seen[d] = true
					layers = append(layers, d)
				}
			}
		}
		plan.Walk(blocks, step)
		for _, h := range handlers {
			step(h.Step)
		}
	}
	add(u.Plan.Roles, u.Plan.Blocks, u.Plan.Handlers)
	for _, f := range fragments {
		layers = append(layers, f.RoleDefaults.Dict, f.RoleVars.Dict)
		add(f.Roles, f.Blocks, f.Handlers)
	}
	return append(layers, u.reach.dicts...)
}

// Held reports whether a host can render a value: nothing that it uses, directly or through variables, is the
// controller's.
func (u *Unit) Held(v value.Value, own func(name string) []value.Value) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	hosts := u.play.hosts
	hosts.Inventory = own
	play := *u.play
	play.hosts = hosts
	w := survey{c: &compiler{play: &play, unit: u}, s: &plan.Step{}, seen: map[string]bool{}}
	w.value(v)
	return w.why == ""
}
