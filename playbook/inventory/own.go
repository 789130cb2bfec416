package inventory

import "hark/modules/py/value"

// SourceVar is a raw variable that a source sets for a host or a group.
type SourceVar struct {
	// Of is the name of the host or group.
	Of, Name string
	Value    value.Value
}

// SourceVars returns all variables in sources, without those of files of variables beside them.
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

// OwnVars returns the raw variables that sources set for the host itself, without those of groups and of host_vars; nil
// for none. The caller may change the dict.
func (inv *Inventory) OwnVars(h *Host) *value.Dict {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	if h.vars == nil {
		return nil
	}
	return h.vars.Copy()
}
