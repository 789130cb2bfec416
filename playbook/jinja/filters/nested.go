package filters

import (
	"slices"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

func flatten(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("flatten", value.Opt("levels", none), value.Opt("skip_nulls", value.Bool(true)))
	if err != nil {
		return nil, err
	}
	skip, err := value.Truth(a[1])
	if err != nil {
		return nil, err
	}
	items, err := value.Elements(in)
	if err != nil {
		return nil, err
	}
	levels := -1
	if !value.IsNone(a[0]) && slices.ContainsFunc(items, nested) {
		if _, err := jinja.CompareOp(">=", a[0], value.Int(1)); err != nil {
			return nil, err
		}
		if levels, err = intArg(a[0]); err != nil {
			return nil, err
		}
	}
	out, err := flat(items, levels, skip)
	return list(out), err
}

// nested reports whether flatten takes a value apart.
func nested(v value.Value) bool { return value.IsSequence(v) && !value.IsText(v) }

// flattener takes lists within lists apart.
type flattener struct {
	skip bool // None and its words
	out  []value.Value
	seen int
}

func flat(items []value.Value, levels int, skip bool) ([]value.Value, error) {
	f := &flattener{skip: skip}
	err := f.add(items, levels, 0)
	return f.out, err
}

func (f *flattener) add(items []value.Value, levels, depth int) error {
	const deepest = 500
	if depth > deepest {
		return value.Errorf("RecursionError", "maximum recursion depth exceeded")
	}
	if f.seen += len(items); f.seen > value.MaxItems {
		return errTooLong
	}
	for _, v := range items {
		if s, ok := value.Text(v); f.skip && (value.IsNone(v) || ok && (s == "None" || s == "null")) {
			continue
		}
		inner, err := value.Elements(v)
		if levels == 0 || err != nil || !nested(v) {
			f.out = append(f.out, v)
			continue
		}
		if err := f.add(inner, levels-1, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func extract(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("extract", value.Req("container"), value.Opt("morekeys", none))
	if err != nil {
		return nil, err
	}
	keys := []value.Value{in}
	if l, ok := a[1].(*value.List); ok {
		keys = append(keys, l.Items...)
	} else if !value.IsNone(a[1]) {
		keys = append(keys, a[1])
	}
	return jinja.GetPath(a[0], keys)
}

func subelements(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("subelements", value.Req("subelements"), value.Opt("skip_missing", value.Bool(false)))
	if err != nil {
		return nil, err
	}
	skip, err := value.Truth(a[1])
	if err != nil {
		return nil, err
	}
	elements, err := subjects(in)
	if err != nil {
		return nil, err
	}
	path, err := keyPath(a[0])
	if err != nil {
		return nil, err
	}
	if len(path) == 0 && len(elements) > 0 {
		return nil, value.Errorf("UnboundLocalError",
			"cannot access local variable 'subelement' where it is not associated with a value")
	}
	var out []value.Value
	for _, e := range elements {
		v := e
		missing := false
		for _, key := range path {
			if !value.IsMapping(v) {
				return nil, value.Errorf("AnsibleFilterTypeError", "the key %s should point to a dictionary, got '%s'", key,
					value.PrintedRepr(v))
			}
			item, ok, err := value.Item(v, value.Str(key))
			if err != nil {
				return nil, err
			}
			if !ok {
				if !skip {
					return nil, value.FilterErrorf("could not find %s key in iterated item %s", value.ReprText(key),
						value.PrintedRepr(v))
				}
				missing = true
				break
			}
			v = item
		}
		if missing {
			continue
		}
		items, err := value.Elements(v)
		if err != nil || !value.IsSequence(v) || value.IsText(v) {
			return nil, value.Errorf("AnsibleFilterTypeError", "the key %s should point to a list, got %s",
				value.ReprText(path[len(path)-1]), value.PrintedRepr(v))
		}
		for _, sub := range items {
			out = append(out, value.NewTuple(e, sub))
		}
	}
	return list(out), nil
}

func subjects(in value.Value) ([]value.Value, error) {
	if value.IsMapping(in) {
		d, err := value.ToDict(in)
		if err != nil {
			return nil, err
		}
		var out []value.Value
		d.Each(func(_, v value.Value) bool { out = append(out, v); return true })
		return out, nil
	}
	if value.IsSequence(in) && !value.IsText(in) {
		return value.Elements(in)
	}
	return nil, value.FilterErrorf("obj must be a list of dicts or a nested dict")
}

func keyPath(v value.Value) ([]string, error) {
	if s, ok := value.Text(v); ok {
		return splitDots(s), nil
	}
	items, err := value.Elements(v)
	if err != nil {
		return nil, value.Errorf("AnsibleFilterTypeError", "subelements must be a list or a string")
	}
	var path []string
	for _, item := range items {
		s, err := value.ToStr(item)
		if err != nil {
			return nil, err
		}
		path = append(path, s)
	}
	return path, nil
}

func rekeyOnMember(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("rekey_on_member", value.Req("key"), value.Opt("duplicates", value.Str("error")))
	if err != nil {
		return nil, err
	}
	duplicates, _ := value.Text(a[1])
	if duplicates != "error" && duplicates != "overwrite" {
		return nil, value.FilterErrorf("duplicates parameter to rekey_on_member has unknown value: %s", duplicates)
	}
	if _, err := value.Truth(in); err != nil {
		return nil, err
	}
	var items []value.Value
	switch {
	case value.IsMapping(in):
		items, err = subjects(in)
	case value.IsSequence(in) && !value.IsText(in):
		items, err = value.Elements(in)
	default:
		return nil, value.Errorf("AnsibleFilterTypeError", "Type is not a valid list, set, or dict")
	}
	if err != nil {
		return nil, err
	}
	out := value.NewDict()
	for _, item := range items {
		if !value.IsMapping(item) {
			return nil, value.Errorf("AnsibleFilterTypeError", "List item is not a valid dict")
		}
		k, ok, err := value.Item(item, a[0])
		if err != nil {
			return nil, err
		}
		if !ok {
			name, _ := value.ToStr(a[0])
			return nil, value.FilterErrorf("Key %s was not found", name)
		}
		if _, taken := out.GetKey(k); taken && duplicates == "error" {
			name, _ := value.ToStr(k)
			return nil, value.FilterErrorf("Key %s is not unique, cannot correctly turn into dict", name)
		}
		if !out.SetKey(k, item) {
			return nil, value.Hashable(k)
		}
	}
	return out, nil
}
