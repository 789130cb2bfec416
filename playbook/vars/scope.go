package vars

import (
	"context"
	"slices"

	"hark/modules/py/value"
	"hark/playbook/plan"
)

// Scope is the raw variables as one step on one host sees them. It implements templar.Vars. It is a snapshot: the next
// Scope sees what is applied to the Host later. Several goroutines may read it.
type Scope struct {
	// layers, highest precedence first; none is empty.
	layers []*value.Dict
	merge  bool
	// outside says that the host is seen through hostvars, where vars is no magic variable.
	outside bool

	// Lazy, if set, is asked first, after loop variables, for names that are computed or fetched when they are read:
	// hostvars, groups, ansible_play_hosts. It is called for every name that is looked up, so it must return false
	// quickly.
	Lazy func(ctx context.Context, name string) (value.Value, bool, error)
	// LazyNames are the names that Lazy answers, for Names.
	LazyNames []string
	// Beneath, if set, is asked when no layer has a name: how the host is reached. Names and the variable vars do not know
	// it.
	Beneath func(ctx context.Context, name string) (value.Value, bool, error)

	local *value.Dict

	outgoing plan.Outgoing
	// injected is the layer of the facts.
	injected *value.Dict
}

// NewScope returns the scope of a step. Host and Shared may be nil: without Shared there are only the host's layers.
func NewScope(h *Host, sh *Shared, st Step) *Scope {
	if h == nil {
		h = &Host{}
	}
	if sh == nil {
		sh = &Shared{InjectFacts: true}
	}
	role := st.Role
	if role == nil {
		role = &plan.Role{}
	}
	views := h.views()
	s := &Scope{merge: sh.HashMerge, outgoing: sh.Outgoing, injected: views.injected, local: st.Local,
		layers: make([]*value.Dict, 0, 18+len(sh.VarsFiles))}
	s.lie(stepMagic(st, sh), sh.Magic, sh.Extra, st.IncludeVars, role.Params.Dict, h.Set, h.Include, st.Vars,
		role.Vars.Dict, sh.RoleVars)
	for i := len(sh.VarsFiles) - 1; i >= 0; i-- {
		if sh.VarsFiles[i].Late {
			s.lie(h.Late[i])
		} else {
			s.lie(sh.VarsFiles[i].Vars.Dict)
		}
	}
	facts := views.injected
	if !sh.InjectFacts {
		facts = views.local
	}
	s.lie(sh.Vars, facts, views.namespaced, h.Magic, h.Inventory, role.Defaults.Dict, sh.RoleDefaults)
	return s
}

// lie puts layers beneath the present ones.
func (s *Scope) lie(layers ...*value.Dict) {
	for _, d := range layers {
		if d.Len() > 0 {
			s.layers = append(s.layers, d)
		}
	}
}

// With returns the scope with local variables on top.
func (s *Scope) With(local *value.Dict) *Scope {
	out := *s
	out.local = Combine(s.local, local, false)
	return &out
}

// Local returns the local variables, which nobody may change.
func (s *Scope) Local() *value.Dict {
	if s.local == nil {
		return value.NewDict()
	}
	return s.local
}

// Raw returns the variable of highest precedence under a name, not rendered. With hash_behaviour=merge it merges dicts
// of all layers. The variable vars is a dict of all others, raw too: Ansible does not render what is read out of it.
func (s *Scope) Raw(ctx context.Context, name string) (value.Value, bool, error) {
	v, ok, err := s.Set(ctx, name)
	if ok || err != nil || s.Beneath == nil {
		return v, ok, err
	}
	return s.Beneath(ctx, name)
}

// Set is Raw without Beneath.
func (s *Scope) Set(ctx context.Context, name string) (value.Value, bool, error) {
	if v, ok := s.local.Get(name); ok {
		return v, true, nil
	}
	if s.Lazy != nil {
		if v, ok, err := s.Lazy(ctx, name); ok || err != nil {
			return v, ok, err
		}
	}
	if name == "vars" && !s.outside {
		v, err := s.All(ctx)
		return v, err == nil, err
	}
	v, ok := s.stored(name)
	return v, ok, nil
}

// stored finds a name in the layers.
func (s *Scope) stored(name string) (found value.Value, ok bool) {
	for _, d := range s.layers {
		v, here := d.Get(name)
		if !here {
			continue
		}
		if !s.merge {
			return v, true
		}
		if !ok {
			found, ok = v, true
		} else {
			found = mergeValue(v, found)
		}
		if _, isDict := v.(*value.Dict); !isDict {
			break
		}
	}
	return found, ok
}

// Outgoing returns why a variable is deprecated, what to use instead, and which ansible-core will remove it; "" if it
// is not deprecated.
func (s *Scope) Outgoing(name string) (why, instead, version string) {
	if _, own := s.local.Get(name); own {
		return "", "", ""
	}
	if name == "vars" && s.outgoing.Vars && !s.outside {
		return `The internal "vars" dictionary is deprecated.`, "Use the `vars` and `varnames` lookups instead.", "2.24"
	}
	if !s.outgoing.Facts || name == "ansible_local" {
		return "", "", ""
	}
	fact, ok := s.injected.Get(name)
	if !ok {
		return "", "", ""
	}
	switch fact.(type) {
	case value.Bool, value.None:
		return "", "", "" // ansible-core cannot mark these
	}
	for _, d := range s.layers {
		if d == s.injected {
			return "INJECT_FACTS_AS_VARS default to `True` is deprecated, top-level facts will not be auto injected after " +
					"the change.",
				"Use `ansible_facts[\"fact_name\"]` (no `ansible_` prefix) instead.", "2.24"
		}
		if d.Has(name) {
			break
		}
	}
	return "", "", ""
}

// Names returns all variables of the scope, each once, lowest layer first: Ansible (vars/manager.py) puts each layer on
// the ones before it.
func (s *Scope) Names(context.Context) []string {
	var names []string
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	for _, d := range slices.Backward(append([]*value.Dict{s.local}, s.layers...)) {
		d.Each(func(k, _ value.Value) bool {
			if name, ok := value.Text(k); ok {
				add(name)
			}
			return true
		})
	}
	for _, name := range s.LazyNames {
		add(name)
	}
	if !s.outside {
		add("vars")
	}
	return names
}

// All returns the variable vars: every variable, raw, except hostvars, which would be the whole fleet.
func (s *Scope) All(ctx context.Context) (*value.Dict, error) {
	out := value.NewDict()
	for _, name := range s.Names(ctx) {
		if name == "vars" || name == "hostvars" {
			continue
		}
		v, ok, err := s.Set(ctx, name)
		if err != nil {
			return nil, err
		}
		if ok {
			out.Set(name, v)
		}
	}
	return out, nil
}

// AsHostvars changes the scope to what hostvars shows of a host: hostvars and vars are no magic variables there, but
// variables if somebody set them. omit, if not nil, is the variable of that name. Oracle: debug of
// hostvars[inventory_hostname] where a host's variable is "{{ hostvars }}".
func (s *Scope) AsHostvars(omit value.Value) {
	lazy := s.Lazy
	s.LazyNames = slices.DeleteFunc(slices.Clone(s.LazyNames), func(name string) bool { return name == "hostvars" })
	if omit != nil {
		s.LazyNames = append(s.LazyNames, "omit")
	}
	s.outside = true
	s.Lazy = func(ctx context.Context, name string) (value.Value, bool, error) {
		switch {
		case name == "omit" && omit != nil:
			return omit, true, nil
		case name == "hostvars":
			return nil, false, nil
		}
		return lazy(ctx, name)
	}
}
