package filters

import (
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/methods"
)

// lists are Jinja's filters of sequences.
func lists() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"list":   listFilter,
		"length": length,
		"count":  length,
		"first":  end(true),
		"last":   end(false),
		"sort":   sortFilter,
		"unique": unique,
	}
}

func listFilter(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	items, err := value.Elements(in)
	if err != nil {
		return nil, err
	}
	return list(append([]value.Value{}, items...)), nil
}

func length(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	n, err := value.Len(in)
	return value.Int(n), err
}

func end(first bool) jinja.Filter {
	return func(c *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
		items, err := value.Elements(in)
		if e, ok := err.(*value.Error); ok && e.Type == "TypeError" && !first {
			return nil, value.TypeErrorf("'%s' object is not reversible", value.NativeType(in))
		}
		if err != nil {
			return nil, err
		}
		if len(items) == 0 {
			return value.UndefinedHint("No " + c.Name + " item, sequence was empty."), nil
		}
		if first {
			return items[0], nil
		}
		return items[len(items)-1], nil
	}
}

// folded is v for a comparison that ignores case.
func folded(v value.Value, caseSensitive bool) value.Value {
	if s, ok := value.Text(v); ok && !caseSensitive {
		return value.Str(strings.ToLower(s))
	}
	return v
}

func sortFilter(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_sort", value.Opt("reverse", value.Bool(false)), value.Opt("case_sensitive", value.Bool(false)),
		value.Opt("attribute", none))
	if err != nil {
		return nil, err
	}
	down, err := methods.Flag(a[0])
	if err != nil {
		return nil, err
	}
	sensitive, err := value.Truth(a[1])
	if err != nil {
		return nil, err
	}
	items, err := value.Elements(in)
	if err != nil {
		return nil, err
	}
	out := append([]value.Value{}, items...)
	keys, err := sortKeys(out, a[2], sensitive)
	if err != nil {
		return nil, err
	}
	return list(out), value.Sort(out, down, keys)
}

// sortKeys returns what elements are sorted by: themselves, or one or more attributes of them.
func sortKeys(items []value.Value, attribute value.Value, sensitive bool) ([]value.Value, error) {
	var getters []getter
	if s, ok := value.Text(attribute); ok {
		for _, part := range strings.Split(s, ",") {
			getters = append(getters, newGetter(value.Str(part), nil))
		}
	} else {
		getters = append(getters, newGetter(attribute, nil))
	}
	keys := make([]value.Value, len(items))
	for i, item := range items {
		row := make([]value.Value, len(getters))
		for j, g := range getters {
			v, err := g.get(item)
			if err != nil {
				return nil, err
			}
			row[j] = folded(v, sensitive)
		}
		keys[i] = &value.List{Items: row}
	}
	return keys, nil
}

func unique(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("unique", value.Opt("case_sensitive", none), value.Opt("attribute", none))
	if err != nil {
		return nil, err
	}
	sensitive, err := value.Truth(a[0])
	if err != nil {
		return nil, err
	}
	items, err := value.Elements(in)
	if err != nil {
		return nil, err
	}
	g := newGetter(a[1], nil)
	seen := value.NewDict()
	var unhashable []value.Value
	out := []value.Value{}
	for _, item := range items {
		k, err := g.get(item)
		if err != nil {
			return nil, err
		}
		k = folded(k, sensitive)
		if plain := value.IsNone(a[0]) && value.IsNone(a[1]); !plain {
			if err := value.Hashable(k); err != nil {
				return nil, value.FilterErrorf(
					"Jinja2's unique filter failed and we cannot fall back to Ansible's version as it does not "+
						"support the parameters supplied. %v", err)
			}
		}
		found, err := remember(seen, &unhashable, k)
		if err != nil {
			return nil, err
		}
		if !found {
			out = append(out, item)
		}
	}
	return list(out), nil
}

// remember notes a value and reports whether it was there before.
func remember(seen *value.Dict, unhashable *[]value.Value, k value.Value) (bool, error) {
	if _, ok := seen.GetKey(k); ok {
		return true, nil
	}
	if seen.SetKey(k, value.None{}) {
		return false, nil
	}
	for _, other := range *unhashable {
		if same, err := value.Equal(other, k); same || err != nil {
			return same, err
		}
	}
	*unhashable = append(*unhashable, k)
	return false, nil
}
