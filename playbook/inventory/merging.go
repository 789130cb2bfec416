package inventory

import (
	"hark/modules/py/value"
	"hark/playbook/vars"
)

// merging is hash_behaviour: a mapping is merged with another of the same name (true), or replaced by it.
type merging bool

// set stores a value in d.
func (m merging) set(d *value.Dict, k, v value.Value) {
	if m {
		old, _ := d.GetKey(k)
		x, isX := old.(*value.Dict)
		y, isY := v.(*value.Dict)
		if isX && isY {
			v = vars.Combine(x, y, true)
		}
	}
	d.SetKey(k, v)
}

// combine stores all of over in d; over may be nil.
func (m merging) combine(d, over *value.Dict) {
	if over == nil {
		return
	}
	over.Each(func(k, v value.Value) bool {
		m.set(d, k, v)
		return true
	})
}
