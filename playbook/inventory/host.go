package inventory

import (
	"slices"

	"hark/modules/py/value"
	"hark/playbook/vars"
)

// Host is one host. Its fields are set when it is made; its groups and variables belong to the Inventory.
type Host struct {
	Name string
	// Address is where connections go if no variable says so.
	Address string
	// Implicit marks the localhost that no source names: it is in no group, but has the variables of all.
	Implicit bool
	// Told marks a host that a task of the run has added: its name may be of another host's making.
	Told bool

	source *source
	vars   *value.Dict // nil when there are none
	groups []*Group    // direct ones, in the order in which they came
}

// source is the inventory source in which hosts were first seen; they share it.
type source struct{ file, dir string }

// File is the variable inventory_file: the source that named the host first, "" for none.
func (h *Host) File() string {
	if h.source == nil {
		return ""
	}
	return h.source.file
}

// Dir is the variable inventory_dir; "" for none.
func (h *Host) Dir() string {
	if h.source == nil {
		return ""
	}
	return h.source.dir
}

// allGroups are the host's groups with all their ancestors, each once.
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

// variable is the name as a variable.
func (h *Host) variable() value.Value { return vars.Name(h.Name, h.Told) }

// groupNamesOf are the names of groups as variables.
func groupNamesOf(groups []*Group) []value.Value {
	var out []value.Value
	for _, g := range groups {
		if g.Name != "all" {
			out = append(out, g.variable())
		}
	}
	return out
}

// groupNames are the names of all groups of the host but all, sorted.
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

// own are the host's own variables, to be added to.
func (h *Host) own() *value.Dict {
	if h.vars == nil {
		h.vars = value.NewDict()
	}
	return h.vars
}
