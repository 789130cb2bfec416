package inventory

import (
	"slices"
	"strconv"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/vars"
)

// Group is a group of hosts and groups. Its name does not change; the rest belongs to the Inventory.
type Group struct {
	Name string
	// AddedByTask says that a task of the run has created the group: its name may come from a host.
	AddedByTask bool

	depth, priority   int
	vars              *value.Dict
	children, parents []*Group
	hosts             []*Host // direct ones
	member            map[*Host]bool
	cached            []*Host // hosts with those of the descendants; nil when unknown
	id                int     // its position among all groups
}

// variable returns the name as a variable.
func (g *Group) variable() value.Value { return vars.Name(g.Name, g.AddedByTask) }

// sink sets the group's depth to at least depth, and that of groups below it to one more each. There are no loops.
func (g *Group) sink(depth int) {
	if g.depth >= depth {
		return
	}
	g.depth = depth
	for _, c := range g.children {
		c.sink(depth + 1)
	}
}

func (g *Group) hasAncestor(other *Group) bool {
	return slices.ContainsFunc(g.parents, func(p *Group) bool { return p == other || p.hasAncestor(other) })
}

// addHost reports whether the host is new in the group.
func (g *Group) addHost(h *Host) bool {
	if g.member[h] {
		return false
	}
	if g.member == nil {
		g.member = map[*Host]bool{}
	}
	g.member[h] = true
	g.hosts = append(g.hosts, h)
	if !slices.Contains(h.groups, g) {
		h.groups = append(h.groups, g)
	}
	g.clear()
	return true
}

func (g *Group) removeHosts(gone map[*Host]bool) {
	if len(gone) == 0 {
		return
	}
	g.hosts = slices.DeleteFunc(g.hosts, func(h *Host) bool { return gone[h] })
	for h := range gone {
		delete(g.member, h)
		h.groups = slices.DeleteFunc(h.groups, func(x *Group) bool { return x == g })
	}
	g.clear()
}

// clear forgets the cached hosts of the group and its ancestors.
func (g *Group) clear() {
	g.cached = nil
	for _, p := range g.parents {
		p.clear()
	}
}

// allHosts returns the hosts of the group and of all below it, level by level, each once.
func (g *Group) allHosts() []*Host {
	if g.cached != nil {
		return g.cached
	}
	hosts := make([]*Host, 0, len(g.hosts))
	seenHost, seen := map[*Host]bool{}, map[*Group]bool{g: true}
	for level := []*Group{g}; len(level) > 0; {
		var next []*Group
		for _, kid := range level {
			for _, h := range kid.hosts {
				if !seenHost[h] {
					seenHost[h] = true
					if g.Name == "all" && h.Implicit {
						continue
					}
					hosts = append(hosts, h)
				}
			}
			for _, c := range kid.children {
				if !seen[c] {
					seen[c] = true
					next = append(next, c)
				}
			}
		}
		level = next
	}
	g.cached = hosts
	return hosts
}

// set stores a variable of the group; ansible_group_priority is no variable but a setting.
func (g *Group) set(key string, v value.Value, m merging) error {
	if key != "ansible_group_priority" {
		m.set(g.vars, value.Key(key), v)
		return nil
	}
	switch v := v.(type) {
	case value.Int:
		g.priority = int(v)
	case value.Bool:
		g.priority = map[value.Bool]int{true: 1}[v]
	case value.Float:
		g.priority = int(v)
	case *value.List, *value.Dict, value.None:
	default:
		s, _ := value.Text(v)
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil {
			return failf("invalid literal for int() with base 10: %s", value.ReprText(s))
		}
		g.priority = n
	}
	return nil
}
