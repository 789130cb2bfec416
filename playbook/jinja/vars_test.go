package jinja_test

import (
	"context"
	"encoding/json"

	"hark/playbook/jinja/value"
)

// mapVars are variables in a dict.
type mapVars struct{ d *value.Dict }

func (m mapVars) Raw(_ context.Context, name string) (value.Value, bool, error) {
	v, ok := m.d.Get(name)
	return v, ok, nil
}

func (m mapVars) Names(context.Context) []string {
	var names []string
	m.d.Each(func(k, _ value.Value) bool {
		s, _ := value.Text(k)
		names = append(names, s)
		return true
	})
	return names
}

// decodeVars reads the variables of a case; {"__unsafe__": text} is unsafe text, {"__pairs__": [[k, v]...]} a dict
// whose keys are not text.
func decodeVars(raw json.RawMessage) (mapVars, error) {
	if len(raw) == 0 {
		return mapVars{value.NewDict()}, nil
	}
	v, err := value.Decode(raw, value.KindYAML)
	if err != nil {
		return mapVars{}, err
	}
	return mapVars{special(v).(*value.Dict)}, nil
}

func special(v value.Value) value.Value {
	switch v := v.(type) {
	case *value.List:
		for i, item := range v.Items {
			v.Items[i] = special(item)
		}
	case *value.Dict:
		if u, ok := v.Get("__unsafe__"); ok {
			s, _ := value.Text(u)
			return value.UnsafeStr(s)
		}
		if p, ok := v.Get("__pairs__"); ok {
			d := value.NewDict()
			for _, kv := range p.(*value.List).Items {
				pair := kv.(*value.List).Items
				d.SetKey(pair[0], special(pair[1]))
			}
			return d
		}
		for i := range v.Len() {
			k, item := v.At(i)
			v.SetKey(k, special(item))
		}
	}
	return v
}
