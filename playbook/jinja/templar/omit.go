package templar

import "hark/modules/py/value"

// IsOmit reports whether v is the omit placeholder.
func IsOmit(v value.Value) bool { return value.IsOmit(v) }

// StripOmit is d without what is omitted at any depth, as module arguments are. In lists Ansible does this from 2.19
// on, and hands the placeholder to modules before.
func StripOmit(d *value.Dict) *value.Dict {
	out := value.NewDict()
	d.Each(func(k, v value.Value) bool {
		if !IsOmit(v) {
			out.SetKey(k, stripOmit(v))
		}
		return true
	})
	return out
}

func stripOmit(v value.Value) value.Value {
	switch v := v.(type) {
	case *value.Dict:
		return StripOmit(v)
	case *value.List:
		out := value.NewList()
		for _, item := range v.Items {
			if !IsOmit(item) {
				out.Items = append(out.Items, stripOmit(item))
			}
		}
		return out
	}
	return v
}

// Omit returns the variable omit among all variables of a host, nil where the language does not show it there.
func (o *Options) Omit() value.Value {
	if o.Tagged() {
		return nil
	}
	return value.Omit{}
}
