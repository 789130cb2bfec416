package lookups

import (
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

func subelements(_ *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	const (
		usage = "subelements lookup expects a list of two or three items, "
		kinds = usage + "first a dict or a list, second a string pointing to the subkey"
	)
	if len(terms) < 2 || len(terms) > 3 {
		return nil, failf("%s", usage)
	}
	skip := false
	if len(terms) == 3 {
		flags, ok := terms[2].(*value.Dict)
		if !ok {
			return nil, failf("%sthe optional third item must be a dict with flags skip_missing", usage)
		}
		if v, ok := flags.Get("skip_missing"); ok {
			skip = value.SaysYes(v)
		}
	}
	path, ok := value.Text(terms[1])
	if !ok {
		return nil, failf("%s", kinds)
	}
	subjects, err := subjects(terms[0])
	if err != nil {
		return nil, err
	}
	out := []value.Value{}
	for _, item := range subjects {
		if !value.IsMapping(item) {
			return nil, failf("subelements lookup expects a dictionary, got '%s'", value.PrintedRepr(item))
		}
		if skipped, ok, err := value.Item(item, value.Str("skipped")); err == nil && ok {
			if on, err := value.Truth(skipped); err == nil && on {
				continue
			}
		}
		keys := strings.Split(path, ".")
		subs, missing, err := subList(item, keys, skip)
		if err != nil {
			return nil, err
		}
		if missing {
			continue
		}
		rest, err := without(item, keys)
		if err != nil {
			return nil, err
		}
		for _, sub := range subs {
			out = append(out, value.NewTuple(rest, sub))
		}
	}
	return out, nil
}

// without returns the item as Ansible hands it on: the list that was walked is taken out.
func without(item value.Value, path []string) (value.Value, error) {
	d, err := value.ToDict(item)
	if err != nil {
		return nil, err
	}
	d = d.Copy()
	key := value.Str(path[0])
	if len(path) == 1 {
		d.Delete(key)
		return d, nil
	}
	inner, _ := d.GetKey(key)
	rest, err := without(inner, path[1:])
	d.SetKey(key, rest)
	return d, err
}

// subjects returns the dicts that are walked: those of a list, or the values of a dict. Anything else stands for a
// list of itself.
func subjects(v value.Value) ([]value.Value, error) {
	if l, ok := value.Items(v); ok {
		return l, nil
	}
	if !value.IsMapping(v) {
		return []value.Value{v}, nil
	}
	d, err := value.ToDict(v)
	if err != nil {
		return nil, err
	}
	if on, ok := d.Get("skipped"); ok {
		if skip, err := value.Truth(on); err == nil && skip {
			return nil, nil
		}
	}
	var out []value.Value
	d.Each(func(_, v value.Value) bool { out = append(out, v); return true })
	return out, nil
}

func subList(item value.Value, path []string, skip bool) (subs []value.Value, missing bool, err error) {
	v := item
	for i, key := range path {
		next, ok, err := value.Item(v, value.Str(key))
		if err != nil {
			return nil, false, err
		}
		if !ok {
			if skip {
				return nil, true, nil
			}
			return nil, false, failf("could not find '%s' key in iterated item '%s'", key, value.PrintedRepr(v))
		}
		if i == len(path)-1 {
			l, ok := value.Items(next)
			if !ok {
				return nil, false, failf("the key %s should point to a list, got '%s'", key, value.Printed(next))
			}
			return l, false, nil
		}
		if !value.IsMapping(next) {
			if skip {
				return nil, true, nil
			}
			return nil, false, failf("the key %s should point to a dictionary, got '%s'", key, value.Printed(next))
		}
		v = next
	}
	return nil, true, nil
}
