// Package mergehash joins dicts as Ansible's merge_hash does, for the filter combine and its like.
package mergehash

import "hark/modules/py/value"

// How is how dicts are joined.
type How struct {
	// Recursive joins the dicts in them too.
	Recursive bool
	// Lists is what becomes of lists of the same key: replace, keep, append, prepend, append_rp or prepend_rp.
	Lists string
}

// Merge joins two dicts; what y has wins. Neither is changed.
func (m How) Merge(x, y *value.Dict) (*value.Dict, error) {
	switch m.Lists {
	case "replace", "keep", "append", "prepend", "append_rp", "prepend_rp":
	default:
		return nil, value.Errorf("AnsibleError",
			"merge_hash: 'list_merge' argument can only be equal to 'replace', 'keep', 'append', 'prepend', 'append_rp' or "+
				"'prepend_rp'")
	}
	if x.Len() == 0 {
		return y, nil
	}
	out := x.Copy()
	for i := range y.Len() {
		k, v := y.At(i)
		old, ok := out.GetKey(k)
		if !ok {
			out.SetKey(k, v)
			continue
		}
		oldDict, isDict := old.(*value.Dict)
		newDict, both := v.(*value.Dict)
		if isDict && both {
			if m.Recursive {
				merged, err := m.Merge(oldDict, newDict)
				if err != nil {
					return nil, err
				}
				v = merged
			}
			out.SetKey(k, v)
			continue
		}
		oldList, isList := old.(*value.List)
		newList, both := v.(*value.List)
		if isList && both {
			merged, err := m.join(oldList, newList)
			if err != nil {
				return nil, err
			}
			v = merged
		}
		out.SetKey(k, v)
	}
	return out, nil
}

func (m How) join(x, y *value.List) (value.Value, error) {
	both := func(a, b []value.Value) value.Value {
		return value.NewList(append(append([]value.Value{}, a...), b...)...)
	}
	switch m.Lists {
	case "append":
		return both(x.Items, y.Items), nil
	case "prepend":
		return both(y.Items, x.Items), nil
	case "append_rp":
		kept, err := without(x.Items, y)
		return both(kept, y.Items), err
	case "prepend_rp":
		kept, err := without(x.Items, y)
		return both(y.Items, kept), err
	case "keep":
		return x, nil
	}
	return y, nil
}

func without(items []value.Value, drop *value.List) ([]value.Value, error) {
	var kept []value.Value
	for _, item := range items {
		in, err := value.Contains(drop, item)
		if err != nil {
			return nil, err
		}
		if !in {
			kept = append(kept, item)
		}
	}
	return kept, nil
}
