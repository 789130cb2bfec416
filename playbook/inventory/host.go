package inventory

import (
	"slices"

	"hark/modules/py/value"
	"hark/playbook/vars"
)

// Host is one host. Its fields are set when it is created; its groups and variables belong to the Inventory.
type Host struct {
	Name string
	// Address is where connections go if no variable says so.
	Address string
	// Implicit marks the localhost that no source names: it is in no group, but has the variables of all.
	Implicit bool
	// AddedByTask says that a task of the run has added the host: its name may come from another host.
	AddedByTask bool

	source *source
	vars   *value.Dict // nil when there are none
	groups []*Group    // direct ones, in the order in which they were added
}

// source is the inventory source that first named hosts; they share it.
type source struct{ file, dir string }

// File returns the variable inventory_file: the source that named the host first, "" for none.
func (h *Host) File() string {
	if h.source == nil {
		return ""
	}
	return h.source.file
}

// Dir returns the variable inventory_dir, "" for none.
func (h *Host) Dir() string {
	if h.source == nil {
		return ""
	}
	return h.source.dir
}

// allGroups returns the host's groups with all their ancestors, each once.
func (h *Host) allGroups() []*Group {
	var out []*Group
	seen := map[*Group]bool{}
	var add func(g *Group)
	add = func(g *Group) {
		if seen[g] {
			return
		}
		seen[g] = true
		for _, p := range g.parents {
			add(p)
		}
		out = append(out, g)
	}
	for _, g := range h.groups {
		add(g)
	}
	return out
}

// variable returns the name as a variable.
func (h *Host) variable() value.Value { return vars.Name(h.Name, h.AddedByTask) }

// groupNamesOf returns the names of groups as variables.
func groupNamesOf(groups []*Group) []value.Value {
	var out []value.Value
	for _, g := range groups {
		if g.Name != "all" {
			out = append(out, g.variable())
		}
	}
	return out
}

// groupNames returns the names of all groups of the host except all, sorted.
func (h *Host) groupNames() []string {
	var names []string
	for _, g := range h.allGroups() {
		if g.Name != "all" {
			names = append(names, g.Name)
		}
	}
	slices.Sort(names)
	return names
}

// set stores a variable of the host.
func (h *Host) set(key string, v value.Value, m merging) {
	m.set(h.own(), value.Key(key), v)
}

// own returns the host's own variables, to add to.
func (h *Host) own() *value.Dict {
	if h.vars == nil {
		h.vars = value.NewDict()
	}
	return h.vars
}

// OwnVariables gives the names of the variables that the inventory's sources have set, with whose they are.
func OwnVariables(inv *Inventory, each func(owner, name string)) {
	of := func(owner string, d *value.Dict) {
		if d == nil {
			return
		}
		for _, key := range d.Keys() {
			if name, ok := value.Text(key); ok {
				each(owner, name)
			}
		}
	}
	for _, g := range inv.Groups() {
		of("group "+g.Name, g.vars)
	}
	for _, h := range inv.Hosts() {
		of("host "+h.Name, h.vars)
	}
}
