package inventory

import "hark/modules/py/value"

// OwnVars are the variables that sources give the host itself, raw, without those of groups and of host_vars; nil for none. The dict is the caller's
// own.
func (inv *Inventory) OwnVars(h *Host) *value.Dict {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	if h.vars == nil {
		return nil
	}
	return h.vars.Copy()
}
