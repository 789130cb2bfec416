package vars

import "hark/modules/py/value"

// Combine returns over on top of base, without changing either; either may be nil. With merge, dicts that both have
// under a name are merged at all depths, as hash_behaviour=merge does; lists are replaced.
func Combine(base, over *value.Dict, merge bool) *value.Dict {
	if base.Len() == 0 {
		if over == nil {
			return base
		}
		return over.Copy()
	}
	out := base.Copy()
	over.Each(func(k, v value.Value) bool {
		if merge {
			if below, ok := out.GetKey(k); ok {
				v = mergeValue(below, v)
			}
		}
		out.SetKey(k, v)
		return true
	})
	return out
}

// mergeValue returns v over below: a merge if both are dicts, else v.
func mergeValue(below, v value.Value) value.Value {
	b, ok := below.(*value.Dict)
	if !ok {
		return v
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return v
	}
	return Combine(b, d, true)
}
