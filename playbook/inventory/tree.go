package inventory

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"hark/modules/py/value"
)

// tree is the hosts and groups of an inventory and their relations, by Ansible's rules. It knows no files, patterns or
// templates.
type tree struct {
	notices    *notices
	groupChars string // force_valid_group_names, see Options
	python     string // interpreter of the implicit localhost
	merge      merging

	hosts     map[string]*Host
	hostList  []*Host // in the order in which they were added
	groups    map[string]*Group
	groupList []*Group
	localhost *Host       // implicit or from a source; nil until it is there
	members   *value.Dict // the magic variable groups; nil when it must be made again
	source    *source     // the current source, which names hosts first; nil for none
}

// newTree returns a tree with the groups all and ungrouped.
func newTree(o *Options, n *notices) *tree {
	t := &tree{
		notices: n, groupChars: o.GroupChars, python: o.Python, merge: merging(o.HashMerge), hosts: map[string]*Host{},
		groups: map[string]*Group{},
	}
	all, ungrouped := t.newGroup("all"), t.newGroup("ungrouped")
	_ = t.addChild(all, ungrouped) // neither has a parent, so there is no loop to make
	return t
}

var invalidNameChars = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\p{Nd}|[^\p{L}\p{N}_]`) })

// safeName replaces characters that a name of a variable cannot have, if the options say so, and warns.
func (t *tree) safeName(name string) string {
	if !invalidNameChars().MatchString(name) {
		return name
	}
	chars := "{'" + strings.Join(uniq(invalidNameChars().FindAllString(name, -1)), "', '") + "'}"
	switch t.groupChars {
	case "ignore":
		return name
	case "", "never":
		t.notices.verbose(4, `Not replacing invalid character(s) "%s" in group name (%s)`, chars, name)
		t.notices.warnOnce("Invalid characters were found in group names but not replaced, use -vvvv to see details")
		return name
	case "always":
		t.notices.verbose(4, `Replacing invalid character(s) "%s" in group name (%s)`, chars, name)
		t.notices.warnOnce("Invalid characters were found in group names and automatically replaced, use -vvvv to see " +
			"details")
	}
	return sanitize(name)
}

// sanitize returns the name with underscores for characters that a name of a variable cannot have.
func sanitize(name string) string { return invalidNameChars().ReplaceAllString(name, "_") }

func uniq(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// addGroup returns the group with a name, and creates it if there is none.
func (t *tree) addGroup(name string) (*Group, error) {
	if name == "" {
		return nil, failf("Invalid empty/false group name provided: %s", name)
	}
	if g := t.groups[name]; g != nil {
		return g, nil
	}
	name = t.safeName(name)
	if g := t.groups[name]; g != nil {
		return g, nil
	}
	return t.newGroup(name), nil
}

func (t *tree) newGroup(name string) *Group {
	g := &Group{Name: name, priority: 1, vars: value.NewDict(), id: len(t.groupList)}
	t.groups[name] = g
	t.groupList = append(t.groupList, g)
	t.members = nil
	return g
}

// addHost returns the host with a name, creates it if there is none, and adds it to the group, which may be nil. A port
// of 0 is none.
func (t *tree) addHost(name string, g *Group, port int) (*Host, error) {
	if name == "" {
		return nil, failf("Invalid empty host name provided: %s", name)
	}
	h := t.hosts[name]
	if h == nil {
		h = &Host{Name: name, Address: name, source: t.source}
		if port > 0 {
			h.set("ansible_port", value.Int(port), false)
		}
		t.hosts[name] = h
		t.hostList = append(t.hostList, h)
		if isLocal(name) {
			if t.localhost == nil {
				t.localhost = h
			} else {
				t.notices.warn("A duplicate localhost-like entry was found (%s). First found localhost was %s", name,
					t.localhost.Name)
			}
		}
	}
	if g != nil {
		g.addHost(h)
	}
	return h, nil
}

// addChild adds child to g.
func (t *tree) addChild(g, child *Group) error {
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
	t.members = nil
	return nil
}

// setVariable stores a variable of a group or host with a name, the group first, as Ansible does.
func (t *tree) setVariable(name, key string, v value.Value) error {
	if g := t.groups[name]; g != nil {
		return g.set(key, v, t.merge)
	}
	if h := t.hosts[name]; h != nil {
		h.set(key, v, t.merge)
		return nil
	}
	return failf("Could not identify group or host named %s", name)
}

// setting is one variable of a host.
type setting struct {
	key string
	v   value.Value
}

// populate adds hosts to a group, which may be nil, and sets variables.
func (t *tree) populate(names []string, vars []setting, g *Group, port int) error {
	for _, name := range names {
		if _, err := t.addHost(name, g, port); err != nil {
			return err
		}
		for _, s := range vars {
			if err := t.setVariable(name, s.key, s.v); err != nil {
				return err
			}
		}
	}
	return nil
}

// reconcile puts all groups below all, and hosts without a group of their own into ungrouped, as Ansible does.
func (t *tree) reconcile() {
	t.source = nil
	all, ungrouped := t.groups["all"], t.groups["ungrouped"]
	for _, g := range t.groupList {
		if g != all && len(g.parents) == 0 {
			_ = t.addChild(all, g) // all has no parents, so there is no loop to make
		}
	}
	misplaced := map[*Host]bool{}
	for _, h := range t.hostList {
		grouped := slices.ContainsFunc(h.groups, func(g *Group) bool { return g != all && g != ungrouped })
		switch inUngrouped := slices.Contains(h.groups, ungrouped); {
		case inUngrouped && grouped:
			misplaced[h] = true
		case !inUngrouped && !grouped:
			ungrouped.addHost(h)
		}
		if t.groups[h.Name] != nil {
			t.notices.warn("Found both group and host with same name: %s", h.Name)
		}
	}
	ungrouped.removeHosts(misplaced)
	t.members = nil
}

// host returns the host with a name. For the names of the local machine it always returns one: the implicit localhost
// if no source names it.
func (t *tree) host(name string) *Host {
	if h := t.hosts[name]; h != nil || !isLocal(name) {
		return h
	}
	if t.localhost == nil {
		h := &Host{Name: name, Address: "127.0.0.1", Implicit: true}
		h.set("ansible_python_interpreter", value.Str(t.python), false)
		h.set("ansible_connection", value.Str("local"), false)
		t.localhost = h
	}
	return t.localhost
}

func isLocal(name string) bool { return name == "localhost" || name == "127.0.0.1" || name == "::1" }

// groupMembers returns the magic variable groups: for each group the names of its hosts. It must not be changed.
func (t *tree) groupMembers() *value.Dict {
	if t.members == nil {
		d := value.NewDict()
		for _, g := range t.groupList {
			d.SetKey(g.variable(), names(g.allHosts(), (*Host).variable))
		}
		t.members = d
	}
	return t.members
}
