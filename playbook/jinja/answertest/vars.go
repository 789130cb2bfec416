package answertest

import (
	"encoding/json"

	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
)

// Vars reads the variables of a case; {"__unsafe__": text} is unsafe text, {"__pairs__": [[k, v]...]} a dict
// whose keys are not text.
func Vars(raw json.RawMessage) (templar.DictVars, error) {
	if len(raw) == 0 {
		return templar.DictVars{Dict: value.NewDict()}, nil
	}
	v, err := value.Decode(raw, value.KindSource)
	if err != nil {
		return templar.DictVars{}, err
	}
	return templar.DictVars{Dict: special(v).(*value.Dict)}, nil
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
