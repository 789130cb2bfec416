// Package vars holds the variables of a host in a run and Ansible's order of precedence. Nothing is merged
// or copied for a task: a Scope walks the layers from the top and stops at the first that has the name.
// Values are raw; playbook/jinja/templar renders them.
//
// The order, lowest first: defaults of the play's roles, of the step's role; inventory (groups, then the host);
// facts; vars of the play; vars_files; vars of the play's roles, of the step's role; vars of blocks and
// task; include_vars; set_fact and register; parameters of the role; of dynamic includes; extra vars; magic
// variables; loop variables.
package vars

import (
	"sync"

	"hark/modules/py/value"
	"hark/playbook/plan"
)

// Host holds one host's own layers in a run. An agent's session and the controller's mirror of it use the same type.
// Scopes may be made in parallel; Apply and changes of the fields need the host for themselves.
type Host struct {
	Name      string
	Inventory *value.Dict // group and host variables, merged by precedence, raw
	// Magic are the variables that every host has and that inventory files cannot set but facts and all higher layers can:
	// inventory_hostname, group_names, inventory_dir (see HostMagic).
	Magic   *value.Dict
	Facts   *value.Dict // as modules returned them: ansible_distribution, packages; nil before any
	Include *value.Dict // include_vars
	Set     *value.Dict // set_fact and register
	// Late are the contents of the play's vars_files whose names hold templates, by their index in Shared.VarsFiles. A
	// missing entry counts as empty.
	Late map[int]*value.Dict
	// HashMerge is hash_behaviour=merge: include_vars then merges into what is there.
	HashMerge bool

	mu sync.Mutex

	// derived from Facts, guarded by mu.
	facts *factViews
}

// Shared are the layers that all hosts of a play share, as in plan.Play; public includes of roles add to them.
type Shared struct {
	RoleDefaults *value.Dict
	Vars         *value.Dict
	VarsFiles    []plan.VarsFile
	RoleVars     *value.Dict
	Extra        *value.Dict
	Magic        *value.Dict // see PlayMagic
	HashMerge    bool
	InjectFacts  bool
	// Outgoing are the variables that a later language will not have.
	Outgoing plan.Outgoing
}

// SharedOf returns the shared layers of a play.
func SharedOf(p *plan.Play) *Shared {
	return &Shared{
		RoleDefaults: p.RoleDefaults.Dict, Vars: p.Vars.Dict, VarsFiles: p.VarsFiles, RoleVars: p.RoleVars.Dict,
		Extra: p.Extra.Dict, Magic: p.Magic.Dict, HashMerge: p.HashMerge, InjectFacts: p.InjectFacts, Outgoing: p.Outgoing,
	}
}

// Extend adds what a fragment of a role brings to the play: its names, and the variables of a public one. It gives a
// new Shared: scopes that were made before keep theirs.
func (sh *Shared) Extend(f *plan.Fragment) *Shared {
	out := *sh
	out.RoleDefaults = Combine(sh.RoleDefaults, f.RoleDefaults.Dict, sh.HashMerge)
	out.RoleVars = Combine(sh.RoleVars, f.RoleVars.Dict, sh.HashMerge)
	out.Magic = withRoles(sh.Magic, f)
	return &out
}

// Step are the layers that only one step sees. Local are loop variables and what the runner adds for the
// time of one call (item, ansible_loop, ansible_failed_result); it wins over everything.
type Step struct {
	Role        *plan.Role
	Vars        *value.Dict
	IncludeVars *value.Dict
	// Environment is the raw environment keyword, which Ansible shows as the variable of that name; nil where there
	// is no task.
	Environment []plan.Expr
	// Search becomes ansible_search_path, with the directory of the playbook added.
	Search []string
	Local  *value.Dict
}

// StepOf returns the layers of a step of a plan; roles are the plan's with those of its fragments.
func StepOf(roles map[string]*plan.Role, s *plan.Step) Step {
	st := Step{
		Role: roles[s.Role], Vars: s.Vars.Dict, IncludeVars: s.IncludeVars.Dict,
		Environment: s.Environment, Search: s.Search,
	}
	if st.Environment == nil {
		st.Environment = []plan.Expr{}
	}
	return st
}

// Layer names a layer of a Host that results change.
type Layer string

// The layers that effects change.
const (
	Facts   Layer = "facts"
	Include Layer = "include" // include_vars
	Set     Layer = "set"     // set_fact, register
)

// Apply changes a layer: clear empties it first, vars then win over what is there, name by name. In the
// include layer with HashMerge dicts merge with what is there. Dicts that were handed out stay as they are.
func (h *Host) Apply(layer Layer, vars *value.Dict, clear bool) {
	target := &h.Set
	merge := false
	switch layer {
	case Facts:
		target = &h.Facts
	case Include:
		target, merge = &h.Include, h.HashMerge
	}
	if clear {
		*target = nil
	}
	if vars.Len() > 0 {
		*target = Combine(*target, vars, merge)
	}
}
