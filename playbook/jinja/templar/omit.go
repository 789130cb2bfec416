package templar

import "hark/modules/py/value"

// OmitToken is the value of the variable omit: an argument that renders to it is left out.
const OmitToken = "__omit_place_holder__d46ea2f2b4b1a2cb5b3a4dd1f4fd0ac5ba9dbd33"

// IsOmit tells whether v is the omit placeholder.
func IsOmit(v value.Value) bool {
	s, ok := value.Text(v)
	return ok && s == OmitToken
}

// StripOmit is d without what is omitted at any depth, as module arguments are. In lists Ansible does this from 2.19 on, and hands the
// placeholder to modules before.
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

// Omit is the variable omit among all variables of a host, nil where the language does not show it there.
func (o *Options) Omit() value.Value {
	if o.Tagged() {
		return nil
	}
	return value.Str(OmitToken)
}
