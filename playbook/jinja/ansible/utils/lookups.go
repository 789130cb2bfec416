package utils

import (
	"errors"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// Lookups returns the lookups by short name. They are filters too: what is filtered is the first term or given by its
// name.
func Lookups() map[string]jinja.Lookup {
	out := map[string]jinja.Lookup{}
	filters := pathFilters()
	for name, first := range map[string]string{"get_path": "var", "index_of": "data", "to_paths": "var"} {
		out[name] = filtered(filters[name], first)
	}
	return out
}

func filtered(f jinja.Filter, first string) jinja.Lookup {
	return func(c *jinja.Call, terms []value.Value, kw *value.Dict) ([]value.Value, error) {
		args := &jinja.Args{}
		var in value.Value = value.None{}
		if len(terms) > 0 {
			in, args.Pos = terms[0], terms[1:]
		}
		kw.Each(func(k, v value.Value) bool {
			name, _ := value.Text(k)
			if name == first {
				in = v
			} else {
				args.Kw = append(args.Kw, jinja.Kwarg{Name: name, V: v})
			}
			return true
		})
		args.Kw = append(args.Kw, jinja.Kwarg{Name: "wantlist", V: value.Bool(true)})
		found, err := f(c, in, args)
		var raised *value.Error
		// what filters say of arguments lookups say as lookups
		if errors.As(err, &raised) && raised.Type == "AnsibleFilterError" {
			return nil, value.Errorf("AnsibleLookupError", "%s", raised.Msg)
		}
		if err != nil {
			return nil, err
		}
		return value.Elements(found)
	}
}
