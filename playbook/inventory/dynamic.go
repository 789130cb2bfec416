package inventory

import (
	"slices"

	"hark/modules/py/value"
)

// AddHost does what the module add_host asks: it adds the host if it is new, sets its variables and puts it into the
// groups, which it makes. The name may carry a port. It tells whether that changed anything, and lasts over Refresh.
func (inv *Inventory) AddHost(name string, groups []string, vars *value.Dict) (changed bool, err error) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	again := func() error {
		_, err := inv.applyHost(name, groups, vars)
		return err
	}
	inv.dynamic = append(inv.dynamic, again)
	return inv.applyHost(name, groups, vars)
}

func (inv *Inventory) applyHost(name string, groups []string, vars *value.Dict) (bool, error) {
	h := inv.hosts[name]
	changed := h == nil
	if changed {
		var err error
		if h, err = inv.addHost(name, inv.groups["all"], 0); err != nil {
			return false, err
		}
	}
	if vars != nil {
		for i := range vars.Len() {
			k, v := vars.At(i)
			key := value.Printed(k)
			if old, ok := h.variable(key); !ok || !value.Same(old, v) {
				changed = true
			}
			h.set(key, v, inv.o.HashMerge)
		}
	}
	for _, group := range groups {
		known := inv.groups[group] != nil
		g, err := inv.addGroup(group)
		if err != nil {
			return changed, err
		}
		changed = g.addHost(h) || !known || changed
	}
	if changed {
		inv.reconcile()
	}
	return changed, nil
}

func (h *Host) variable(key string) (value.Value, bool) {
	return h.vars.Get(key)
}

// AddToGroup does what the module group_by asks: it puts the host into the group, which it makes, and the group below the
// parents, which it makes too. It tells whether that changed anything, and lasts over Refresh.
func (inv *Inventory) AddToGroup(host, group string, parents []string) (changed bool, err error) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	again := func() error {
		if inv.host(host) == nil {
			return nil // gone since the refresh
		}
		_, err := inv.applyGroup(host, group, parents)
		return err
	}
	inv.dynamic = append(inv.dynamic, again)
	return inv.applyGroup(host, group, parents)
}

func (inv *Inventory) applyGroup(host, group string, parents []string) (changed bool, err error) {
	h := inv.host(host)
	if h == nil {
		return false, failf("%s cannot be matched in inventory", host)
	}
	g, err := inv.addGroup(group)
	if err != nil {
		return false, err
	}
	for _, name := range parents {
		changed = changed || inv.groups[name] == nil
		p, err := inv.addGroup(name)
		if err != nil {
			return changed, err
		}
		before := len(p.children)
		if err := inv.addChild(p, g); err != nil {
			return changed, err
		}
		changed = changed || len(p.children) > before
	}
	if !slices.Contains(g.allHosts(), h) {
		changed = g.addHost(h)
	}
	if changed {
		inv.reconcile()
	}
	return changed, nil
}
