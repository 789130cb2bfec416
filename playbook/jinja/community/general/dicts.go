package general

import (
	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/mergehash"
	"hark/playbook/jinja/methods"
)

func counter(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	if _, err := args.Bind("counter"); err != nil {
		return nil, err
	}
	items, ok := sequence(in)
	if !ok {
		return nil, value.FilterErrorf("Argument for community.general.counter must be a sequence (string or list). %s is %s",
			value.Printed(in), value.ClassOf(in).Str())
	}
	out := value.NewDict()
	for _, item := range items {
		n, _ := out.GetKey(item)
		count, _ := n.(value.Int)
		if !out.SetKey(item, count+1) {
			return nil, value.FilterErrorf("community.general.counter needs a sequence with hashable elements (int, float or "+
				"str) - %s", value.Hashable(item))
		}
	}
	return out, nil
}

func dict(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	if _, err := args.Bind("dict_filter"); err != nil {
		return nil, err
	}
	out := value.NewDict()
	return out, methods.Merge(out, in)
}

func dictKV(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("dict_kv", value.Req("key"))
	if err != nil {
		return nil, err
	}
	out := value.NewDict()
	if !out.SetKey(a[0], in) {
		return nil, value.Hashable(a[0])
	}
	return out, nil
}

func groupByAsDict(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("groupby_as_dict", value.Req("attribute"))
	if err != nil {
		return nil, err
	}
	items, ok := sequence(in)
	if !ok {
		return nil, value.FilterErrorf("Input is not a sequence")
	}
	out := value.NewDict()
	for i, item := range items {
		if !value.IsMapping(item) {
			return nil, value.FilterErrorf("Sequence element #%d is not a mapping", i)
		}
		key, ok, err := value.Item(item, a[0])
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, value.FilterErrorf("Attribute not contained in element #%d of sequence", i)
		}
		if _, twice := out.GetKey(key); twice {
			return nil, value.FilterErrorf("Multiple sequence entries have attribute value %s", value.PrintedRepr(key))
		}
		if !out.SetKey(key, item) {
			return nil, value.Hashable(key)
		}
	}
	return out, nil
}

func listsMergeBy(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	how := mergehash.How{Lists: "replace"}
	for _, k := range args.Kw {
		var err error
		switch k.Name {
		case "recursive":
			how.Recursive, err = value.Truth(k.V)
		case "list_merge":
			how.Lists, err = value.ToStr(k.V)
		default:
			err = value.FilterErrorf("'recursive' and 'list_merge' are the only valid keyword arguments.")
		}
		if err != nil {
			return nil, err
		}
	}
	if len(args.Pos) == 0 {
		return nil, value.FilterErrorf("At least one list and index are needed.")
	}
	index := args.Pos[len(args.Pos)-1]
	lists, err := flatLists(append([]value.Value{in}, args.Pos[:len(args.Pos)-1]...))
	switch {
	case err != nil:
		return nil, err
	case len(lists) == 0:
		return value.NewList(), nil
	case len(lists) == 1:
		return lists[0], nil
	case !value.IsText(index):
		return nil, value.FilterErrorf("First argument after the lists for community.general.lists_mergeby must be "+
			"string. %s is %s", value.Printed(index), value.ClassOf(index).Str())
	}
	out := lists[len(lists)-1]
	for i := len(lists) - 2; i >= 0; i-- {
		if out, err = mergeBy(lists[i], out, index, how); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// flatLists returns the lists among the arguments, each of which may be a list of lists.
func flatLists(args []value.Value) ([]value.Value, error) {
	var out []value.Value
	for _, arg := range args {
		items, ok := sequence(arg)
		if !ok {
			return nil, value.FilterErrorf("All arguments before the argument index for community.general.lists_mergeby must "+
				"be lists. %s is %s", value.Printed(arg), value.ClassOf(arg).Str())
		}
		nested := len(items) > 0
		for _, item := range items {
			_, isSequence := sequence(item)
			nested = nested && isSequence
		}
		switch {
		case nested:
			out = append(out, items...)
		case len(items) > 0:
			out = append(out, arg)
		}
	}
	return out, nil
}

// mergeBy joins the dicts of two lists that have the same value of a key, in the order of those values.
func mergeBy(x, y, index value.Value, how mergehash.How) (value.Value, error) {
	groups := value.NewDict()
	for _, l := range []value.Value{x, y} {
		items, err := value.Elements(l)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if !value.IsMapping(item) {
				return nil, value.FilterErrorf("Elements of list arguments for lists_mergeby must be dictionaries. %s is %s",
					value.Printed(item), value.ClassOf(item).Str())
			}
			if err := mergeInto(groups, item, index, how); err != nil {
				return nil, err
			}
		}
	}
	var out, keys []value.Value
	groups.Each(func(k, v value.Value) bool {
		out, keys = append(out, v), append(keys, k)
		return true
	})
	err := value.Sort(out, false, keys)
	return value.NewList(out...), err
}

func mergeInto(groups *value.Dict, item, index value.Value, how mergehash.How) error {
	key, ok, err := value.Item(item, index)
	if err != nil || !ok {
		return err
	}
	d, err := value.ToDict(item)
	if err != nil {
		return err
	}
	merged := d
	if old, ok := groups.GetKey(key); ok {
		if merged, err = how.Merge(old.(*value.Dict), d); err != nil {
			return err
		}
	}
	if !groups.SetKey(key, merged) {
		return value.Hashable(key)
	}
	return nil
}
