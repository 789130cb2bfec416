package inventory

import "hark/modules/py/value"

// SourceVar is a variable that a source gives a host or a group, raw.
type SourceVar struct {
	// Of is the name of the host or group.
	Of, Name string
	Value    value.Value
}

// SourceVars are all variables that stand in sources, and not in files of variables beside them.
func (inv *Inventory) SourceVars() []SourceVar {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	var out []SourceVar
	add := func(of string, vars *value.Dict) {
		if vars != nil {
			vars.Each(func(k, v value.Value) bool {
				out = append(out, SourceVar{Of: of, Name: value.Printed(k), Value: v})
				return true
			})
		}
	}
	for _, g := range inv.tree.groupList {
		add(g.Name, g.vars)
	}
	for _, h := range inv.tree.hostList {
		add(h.Name, h.vars)
	}
	return out
}

// OwnVars are the variables that sources give the host itself, raw, without those of groups and of host_vars; nil for
// none. The dict is the caller's own.
func (inv *Inventory) OwnVars(h *Host) *value.Dict {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	if h.vars == nil {
		return nil
	}
	return h.vars.Copy()
}
