package inventory

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hark/modules/py/value"
)

// Group is a group of hosts and groups. Its name does not change; the rest belongs to the Inventory.
type Group struct {
	Name string

	depth, priority   int
	vars              *value.Dict
	children, parents []*Group
	hosts             []*Host // direct ones
	member            map[*Host]bool
	cached            []*Host // hosts with those of the descendants; nil when unknown
	id                int
}

var invalidNameChars = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\p{Nd}|[^\p{L}\p{N}_]`) })

// safeName replaces what cannot stand in a name of a variable, if the options want it, and warns.
func (inv *Inventory) safeName(name string) string {
	if !invalidNameChars().MatchString(name) {
		return name
	}
	chars := "{'" + strings.Join(uniq(invalidNameChars().FindAllString(name, -1)), "', '") + "'}"
	switch inv.o.GroupChars {
	case "ignore":
		return name
	case "", "never":
		inv.verbose(4, `Not replacing invalid character(s) "%s" in group name (%s)`, chars, name)
		inv.warnOnce("Invalid characters were found in group names but not replaced, use -vvvv to see details")
		return name
	case "always":
		inv.verbose(4, `Replacing invalid character(s) "%s" in group name (%s)`, chars, name)
		inv.warnOnce("Invalid characters were found in group names and automatically replaced, use -vvvv to see details")
	}
	return sanitize(name)
}

// sanitize is the name with underscores for what cannot stand in the name of a variable.
func sanitize(name string) string { return invalidNameChars().ReplaceAllString(name, "_") }

func uniq(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

func (inv *Inventory) warnOnce(text string) {
	if inv.warned == nil {
		inv.warned = map[string]bool{}
	}
	if !inv.warned[text] {
		inv.warned[text] = true
		inv.warn("%s", text)
	}
}

// addGroup gives the group of a name, making it if it is not there.
func (inv *Inventory) addGroup(name string) (*Group, error) {
	if name == "" {
		return nil, failf("Invalid empty/false group name provided: %s", name)
	}
	if g := inv.groups[name]; g != nil {
		return g, nil
	}
	name = inv.safeName(name)
	g := inv.groups[name]
	if g == nil {
		g = &Group{Name: name, priority: 1, vars: value.NewDict(), id: len(inv.groupList)}
		inv.groups[name] = g
		inv.groupList = append(inv.groupList, g)
		inv.groupsDict = nil
	}
	return g, nil
}

// addHost gives the host of a name, making it if it is not there, and puts it into the group, which may be nil.
func (inv *Inventory) addHost(name string, g *Group, port int) (*Host, error) {
	if name == "" {
		return nil, failf("Invalid empty host name provided: %s", name)
	}
	h := inv.hosts[name]
	if h == nil {
		h = &Host{Name: name, Address: name, source: inv.current}
		if port > 0 {
			h.set("ansible_port", value.Int(port), false)
		}
		inv.hosts[name] = h
		inv.hostList = append(inv.hostList, h)
		if isLocal(name) {
			if inv.localhost == nil {
				inv.localhost = h
			} else {
				inv.warn("A duplicate localhost-like entry was found (%s). First found localhost was %s", name, inv.localhost.Name)
			}
		}
	}
	if g != nil {
		g.addHost(h)
	}
	return h, nil
}

// addChild hangs child below g.
func (inv *Inventory) addChild(g, child *Group) error {
	if g == child {
		return failf("can't add group to itself")
	}
	if slices.Contains(g.children, child) {
		return nil
	}
	if g.hasAncestor(child) {
		return failf("Adding group '%s' as child to '%s' creates a recursive dependency loop.", child.Name, g.Name)
	}
	g.children = append(g.children, child)
	child.parents = append(child.parents, g)
	child.sink(g.depth + 1)
	g.clear()
	inv.groupsDict = nil
	return nil
}

// sink gives the group at least the depth, and what is below it one more each. There are no loops.
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

// removeHosts takes out the hosts that gone tells of.
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

// clear forgets the hosts of the group and its ancestors.
func (g *Group) clear() {
	g.cached = nil
	for _, p := range g.parents {
		p.clear()
	}
}

// allHosts are the hosts of the group and of all below it, level by level, each once.
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

// HostsOf are the hosts of a group and of all below it.
func (inv *Inventory) HostsOf(g *Group) []*Host {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return slices.Clone(g.allHosts())
}

// set stores a variable of the group; ansible_group_priority is no variable but a setting.
func (g *Group) set(key string, v value.Value, merge bool) error {
	if key != "ansible_group_priority" {
		setKey(g.vars, value.YAMLStr(key), v, merge)
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

// setVariable stores a variable by the name of a group or host, the group first, as Ansible does.
func (inv *Inventory) setVariable(name, key string, v value.Value) error {
	if g := inv.groups[name]; g != nil {
		return g.set(key, v, inv.o.HashMerge)
	}
	if h := inv.hosts[name]; h != nil {
		h.set(key, v, inv.o.HashMerge)
		return nil
	}
	return failf("Could not identify group or host named %s", name)
}
