package inventory

import (
	"slices"

	"hark/modules/py/value"
)

// change is a task's change of hosts and groups. It reports whether it changed anything.
type change func(t *tree) (bool, error)

// newHost adds a host if there is none with the name, sets its variables and adds it to the groups, which it creates.
func newHost(name string, groups []string, vars *value.Dict) change {
	return func(t *tree) (bool, error) {
		h := t.hosts[name]
		changed := h == nil
		if changed {
			var err error
			if h, err = t.addHost(name, t.groups["all"], 0); err != nil {
				return false, err
			}
			h.AddedByTask = true
		}
		changed = h.setAll(vars, t.merge) || changed
		for _, group := range groups {
			known := t.groups[group] != nil
			g, err := t.addTaskGroup(group)
			if err != nil {
				return changed, err
			}
			changed = g.addHost(h) || !known || changed
		}
		return changed, nil
	}
}

// setAll stores variables of the host, nil for none, and reports whether any had another value.
func (h *Host) setAll(vars *value.Dict, m merging) (changed bool) {
	if vars == nil {
		return false
	}
	vars.Each(func(k, v value.Value) bool {
		key := value.Printed(k)
		if old, ok := h.vars.Get(key); !ok || !value.Same(old, v) {
			changed = true
		}
		h.set(key, v, m)
		return true
	})
	return changed
}

// grouped adds a host to a group, and the group to the parents. It creates missing groups.
func grouped(host, group string, parents []string) change {
	return func(t *tree) (changed bool, err error) {
		h := t.host(host)
		if h == nil {
			return false, failf("%s cannot be matched in inventory", host)
		}
		g, err := t.addTaskGroup(group)
		if err != nil {
			return false, err
		}
		for _, name := range parents {
			changed = changed || t.groups[name] == nil
			p, err := t.addTaskGroup(name)
			if err != nil {
				return changed, err
			}
			before := len(p.children)
			if err := t.addChild(p, g); err != nil {
				return changed, err
			}
			changed = changed || len(p.children) > before
		}
		if !slices.Contains(g.allHosts(), h) {
			changed = g.addHost(h)
		}
		return changed, nil
	}
}

// addTaskGroup is addGroup for a task of the run.
func (t *tree) addTaskGroup(name string) (*Group, error) {
	before := len(t.groupList)
	g, err := t.addGroup(name)
	if err == nil && len(t.groupList) > before {
		g.AddedByTask = true
	}
	return g, err
}
