package filters

import (
	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/mergehash"
)

// ansibleDicts are Ansible's filters of dicts.
func ansibleDicts() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"combine":    combine,
		"dict2items": dict2items,
		"items2dict": items2dict,
	}
}

func dict2items(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("dict_to_list_of_dict_key_value_elements", value.Opt("key_name", value.Str("key")),
		value.Opt("value_name", value.Str("value")))
	if err != nil {
		return nil, err
	}
	if !value.IsMapping(in) {
		return nil, value.Errorf("AnsibleFilterTypeError", "dict2items requires a dictionary, got %s instead.",
			value.ClassOf(in).Str())
	}
	d, err := value.ToDict(in)
	if err != nil {
		return nil, err
	}
	out := make([]value.Value, 0, d.Len())
	d.Each(func(k, v value.Value) bool {
		item := value.NewDict()
		item.SetKey(a[0], k)
		item.SetKey(a[1], v)
		out = append(out, item)
		return true
	})
	return list(out), nil
}

func items2dict(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("list_of_dict_key_value_elements_to_dict", value.Opt("key_name", value.Str("key")),
		value.Opt("value_name", value.Str("value")))
	if err != nil {
		return nil, err
	}
	if u, undefined := in.(*value.Undefined); undefined {
		return nil, u.Use()
	}
	if !value.IsSequence(in) || value.IsText(in) {
		return nil, value.Errorf("AnsibleFilterTypeError", "items2dict requires a list, got %s instead.",
			value.ClassOf(in).Str())
	}
	items, err := value.Elements(in)
	if err != nil {
		return nil, err
	}
	out := value.NewDict()
	for _, item := range items {
		var kv [2]value.Value
		for i, name := range a {
			_, isInt := value.AsInt(name)
			if !value.IsMapping(item) && (!isInt || !value.IsSequence(item) || value.IsText(item)) {
				return nil, value.Errorf("AnsibleFilterTypeError", "items2dict requires a list of dictionaries, got %s instead.",
					value.PrintedRepr(in))
			}
			v, err := value.Get(item, name)
			if e, ok := err.(*value.Error); ok && e.Type == "KeyError" {
				return nil, items2dictError(a, items)
			}
			if err != nil {
				return nil, err
			}
			kv[i] = v
		}
		if !out.SetKey(kv[0], kv[1]) {
			return nil, value.Hashable(kv[0])
		}
	}
	return out, nil
}

func items2dictError(names, items []value.Value) error {
	key, _ := value.ToStr(names[0])
	val, _ := value.ToStr(names[1])
	all, err := value.Repr(list(items))
	if err != nil {
		return err
	}
	return value.Errorf("AnsibleFilterTypeError",
		"items2dict requires each dictionary in the list to contain the keys '%s' and '%s', got %s instead.", key, val, all)
}

func combine(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	m := mergehash.How{Lists: "replace"}
	for _, k := range args.Kw {
		switch k.Name {
		case "recursive":
			on, err := value.Truth(k.V)
			if err != nil {
				return nil, err
			}
			m.Recursive = on
		case "list_merge":
			s, err := value.ToStr(k.V)
			if err != nil {
				return nil, err
			}
			m.Lists = s
		default:
			return nil, value.FilterErrorf("'recursive' and 'list_merge' are the only valid keyword arguments")
		}
	}
	dicts, err := flat(append([]value.Value{in}, args.Pos...), 1, true)
	if err != nil {
		return nil, err
	}
	if len(dicts) == 0 {
		return value.NewDict(), nil
	}
	// From the right: what comes last wins.
	out := dicts[len(dicts)-1]
	for i := len(dicts) - 2; i >= 0; i-- {
		if err := bothDicts(dicts[i], out); err != nil {
			return nil, err
		}
		x, err := value.ToDict(dicts[i])
		if err != nil {
			return nil, err
		}
		y, err := value.ToDict(out)
		if err != nil {
			return nil, err
		}
		if out, err = m.Merge(x, y); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// bothDicts refuses to merge what are no dicts.
func bothDicts(x, y value.Value) error {
	if value.IsMapping(x) && value.IsMapping(y) {
		return nil
	}
	var shown []string
	for _, v := range []value.Value{x, y} {
		if u, undefined := v.(*value.Undefined); undefined {
			return u.Use()
		}
		s, err := value.Dumps(v, value.JSONOptions{ASCII: true})
		if err != nil {
			return err
		}
		shown = append(shown, s)
	}
	return value.Errorf("AnsibleError", "failed to combine variables, expected dicts but got a '%s' and a '%s': \n%s\n%s",
		x.Type(), y.Type(), shown[0], shown[1])
}
