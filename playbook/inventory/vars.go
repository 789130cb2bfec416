package inventory

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/vars"
)

// variables merges the variables of a host from inventory, group_vars and host_vars.
type variables struct {
	tree   *tree
	dirs   *varsDirs
	files  varsFiles
	merged map[string]*value.Dict // what hosts of the same groups share, by stage and groups
}

func newVariables(o *Options, t *tree, n *notices) *variables {
	return &variables{tree: t, dirs: newVarsDirs(o, n), files: newVarsFiles(o), merged: map[string]*value.Dict{}}
}

// forget drops what may have changed with the groups.
func (v *variables) forget() { v.merged = map[string]*value.Dict{} }

// of returns a host's variables at a stage, see Inventory.Vars.
func (v *variables) of(h *Host, stage Stage) (*value.Dict, error) {
	shared, err := v.ofGroups(h, stage)
	if err != nil {
		return nil, err
	}
	out := shared.Copy()
	v.tree.merge.combine(out, h.vars)
	return out, v.files.lay(out, v.dirs.all("host_vars"), stage, h.Name)
}

// withMagic returns a host's variables with the magic ones that an inventory knows.
func (v *variables) withMagic(h *Host) (*value.Dict, error) {
	out, err := v.of(h, AtTasks)
	if err == nil {
		v.tree.merge.combine(out, magic(h))
	}
	return out, err
}

func magic(h *Host) *value.Dict {
	return vars.HostMagic(h.variable(), groupNamesOf(h.allGroups()), h.File(), h.Dir())
}

// ofGroups returns the variables that all hosts of the same groups share. They must not be changed.
func (v *variables) ofGroups(h *Host, stage Stage) (*value.Dict, error) {
	groups := h.allGroups()
	key := string(stage) + groupKey(groups)
	if d := v.merged[key]; d != nil {
		return d, nil
	}
	all := v.tree.groups["all"]
	groups = sortedGroups(slices.DeleteFunc(groups, func(g *Group) bool { return g == all }))
	out := all.vars.Copy()
	for _, g := range groups {
		v.tree.merge.combine(out, g.vars)
	}
	for _, layer := range [][]*Group{{all}, groups} {
		if err := v.files.lay(out, v.dirs.all("group_vars"), stage, groupNames(layer)...); err != nil {
			return nil, err
		}
	}
	v.merged[key] = out
	return out, nil
}

func groupKey(groups []*Group) string {
	ids := make([]int, len(groups))
	for i, g := range groups {
		ids[i] = g.id
	}
	slices.Sort(ids)
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(strconv.Itoa(id))
		b.WriteByte(',')
	}
	return b.String()
}

// sortedGroups returns groups by the precedence of their variables.
func sortedGroups(groups []*Group) []*Group {
	slices.SortFunc(groups, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.priority, b.priority), strings.Compare(a.Name, b.Name))
	})
	return groups
}

// keepOwn stores for hosts and groups what is read once, after the sources were read.
func (v *variables) keepOwn() error {
	if !v.files.anyAt(AtInventory) {
		return nil
	}
	groupDirs, hostDirs := v.dirs.beside(v.dirs.sources, "group_vars"), v.dirs.beside(v.dirs.sources, "host_vars")
	for _, g := range v.tree.groupList {
		if err := v.files.lay(g.vars, groupDirs, AtInventory, g.Name); err != nil {
			return err
		}
	}
	if len(hostDirs) == 0 {
		return nil
	}
	for _, h := range v.tree.hostList {
		if err := v.files.lay(h.own(), hostDirs, AtInventory, h.Name); err != nil {
			return err
		}
	}
	return nil
}

// soFar returns a host's variables while sources are read, with the magic ones known by then. Directories of variables
// count if sources is given: the sources that were read.
func (v *variables) soFar(h *Host, sources []string) (*value.Dict, error) {
	out, merge := value.NewDict(), v.tree.merge
	for _, g := range sortedGroups(h.allGroups()) {
		merge.combine(out, g.vars)
	}
	if err := v.files.lay(out, v.dirs.beside(sources, "group_vars"), AtTasks, groupNames(h.allGroups())...); err != nil {
		return nil, err
	}
	merge.combine(out, h.vars)
	if err := v.files.lay(out, v.dirs.beside(sources, "host_vars"), AtTasks, h.Name); err != nil {
		return nil, err
	}
	merge.combine(out, magic(h))
	return out, nil
}

func groupNames(groups []*Group) []string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.Name
	}
	return names
}
