package plan

import (
	"regexp"
	"slices"
	"sync"

	"hark/modules/dialect"
	"hark/modules/py/value"
)

// A host receives only the part of a plan that its own steps need: of the controller's steps only their position, of
// variables those that its steps can read. It also receives the names of what was cut, so that it can tell "not here"
// from "undefined".

// Cut returns the plan as a host gets it. keep reports whether its steps can read a variable.
func (p *Plan) Cut(keep func(name string) bool) *Plan {
	c := cutter{keep: keep, withheld: map[string]bool{}}
	out := *p
	out.Play.RoleDefaults, out.Play.Vars = c.dict(p.Play.RoleDefaults), c.dict(p.Play.Vars)
	out.Play.RoleVars, out.Play.Extra = c.dict(p.Play.RoleVars), c.dict(p.Play.Extra)
	out.Play.Magic = c.magic(p.Play.Magic)
	out.Play.VarsFiles = slices.Clone(p.Play.VarsFiles)
	for i := range out.Play.VarsFiles {
		out.Play.VarsFiles[i].Vars = c.dict(out.Play.VarsFiles[i].Vars)
	}
	out.Roles, out.Blocks, out.Handlers = c.roles(p.Roles), c.blocks(p.Blocks), c.handlers(p.Handlers)
	out.Play.Withheld = c.names()
	return &out
}

// Cut returns the fragment as a host gets it.
func (f *Fragment) Cut(keep func(name string) bool) Fragment {
	c := cutter{keep: keep, withheld: map[string]bool{}}
	out := *f
	out.RoleDefaults, out.RoleVars = c.dict(f.RoleDefaults), c.dict(f.RoleVars)
	out.Roles, out.Blocks, out.Handlers = c.roles(f.Roles), c.blocks(f.Blocks), c.handlers(f.Handlers)
	out.Withheld = c.names()
	return out
}

// CutVars returns a layer of variables as a host gets it, and the names that it does not get.
func CutVars(d Dict, keep func(name string) bool) (kept Dict, withheld []string) {
	c := cutter{keep: keep, withheld: map[string]bool{}}
	kept = c.dict(d)
	return kept, c.names()
}

type cutter struct {
	keep     func(name string) bool
	withheld map[string]bool
}

func (c *cutter) names() []string {
	names := make([]string, 0, len(c.withheld))
	for name := range c.withheld {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// magic returns the magic variables without those that grow with the fleet, unless the host reads them: each host would
// receive the names of all others.
func (c *cutter) magic(d Dict) Dict {
	if d.Dict == nil {
		return d
	}
	out := d
	without := func(name string) {
		if out.Dict == d.Dict {
			out.Dict = d.Copy()
		}
		out.Delete(value.Str(name))
	}
	if !c.keep("groups") { // the host asks for it
		without("groups")
	}
	const all = "ansible_play_hosts_all"
	v, _ := d.Get(all)
	if l, ok := v.(*value.List); ok && len(l.Items) > 1 && !c.keep(all) { // a host that is alone sees that from it
		without(all)
		c.withheld[all] = true
	}
	return out
}

// dict returns a layer without what the host does not read.
func (c *cutter) dict(d Dict) Dict {
	if d.Len() == 0 {
		return d
	}
	out := value.NewDict()
	d.Each(func(k, v value.Value) bool {
		if name, ok := value.Text(k); ok && !c.keep(name) {
			c.withheld[name] = true
		} else {
			out.SetKey(k, v)
		}
		return true
	})
	return Dict{out}
}

func (c *cutter) roles(roles map[string]*Role) map[string]*Role {
	out := make(map[string]*Role, len(roles))
	for key, role := range roles {
		r := *role
		r.Defaults, r.Vars, r.Params = c.dict(role.Defaults), c.dict(role.Vars), c.dict(role.Params)
		out[key] = &r
	}
	return out
}

func (c *cutter) handlers(list []Handler) []Handler {
	out := slices.Clone(list)
	for i := range out {
		out[i].Step = c.step(out[i].Step)
	}
	return out
}

func (c *cutter) blocks(list []Block) []Block {
	out := slices.Clone(list)
	for i := range out {
		b := &out[i]
		b.Body, b.Rescue, b.Always = c.nodes(b.Body), c.nodes(b.Rescue), c.nodes(b.Always)
	}
	return out
}

func (c *cutter) nodes(list []Node) []Node {
	out := slices.Clone(list)
	for i, n := range out {
		if n.Step != nil {
			out[i].Step = c.step(n.Step)
		} else if n.Block != nil {
			out[i].Block = &c.blocks([]Block{*n.Block})[0]
		}
	}
	return out
}

// step returns a step as its host gets it: of a controller's step only what the host needs to pass it.
func (c *cutter) step(s *Step) *Step {
	out := *s
	if s.Evaluator == Controller {
		out = Step{
			ID: s.ID, Kind: s.Kind, Action: s.Action, Written: s.Written, Evaluator: s.Evaluator, Guard: s.Guard, Role: s.Role,
			Pure: s.Pure, Gate: s.Gate, Ahead: s.Ahead, Implicit: s.Implicit, Handler: s.Handler,
		}
		if s.Kind == Meta {
			out.Args = s.Args
		}
		if s.Guard || s.Handler {
			out.Name, out.Vars, out.IncludeVars = s.Name, s.Vars, s.IncludeVars
		}
		if s.Guard {
			out.Register, out.Search = s.Register, s.Search
			copyKeywords(&out, s, AtGuard)
		}
	}
	own := cutter{keep: c.keep, withheld: map[string]bool{}}
	out.Vars, out.IncludeVars = own.dict(out.Vars), own.dict(out.IncludeVars)
	out.Withheld = own.names()
	return &out
}

// copyKeywords copies the keywords of a stage from one step to another.
func copyKeywords(to, from *Step, at Stage) {
	for _, k := range keywords {
		switch {
		case k.Stage != at || k.On == OnLoopControl:
		case k.One != nil:
			*k.One(to) = *k.One(from)
		case k.Many != nil:
			*k.Many(to) = *k.Many(from)
		}
	}
}

// Steers reports whether a variable says how a host's tasks are done, beside the playbook: as which user, with which
// Python, where jobs are kept. Hosts need such variables whatever their steps read.
func Steers(name string) bool { return dialect.IsBecomeVariable(name) || steering().MatchString(name) }

var steering = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ansible_(connection|user|ssh_user|host|port|ssh_host|ssh_port|async_dir|` +
		`\w+_interpreter|facts_modules|` +
		`network_os|pipelining|ssh_pipelining)$`)
})
