package community

import (
	"hark/playbook/jinja"
	"hark/playbook/jinja/value"
)

// operands are the lists of a set operation: what is filtered and every argument, or with flatten the lists in them.
func operands(name string, in value.Value, args *jinja.Args) ([][]value.Value, error) {
	lists := append([]value.Value{in}, args.Pos...)
	for _, k := range args.Kw {
		if k.Name != "flatten" {
			return nil, value.TypeErrorf("%s() got an unexpected keyword argument '%s'", name, k.Name)
		}
		on, err := value.Truth(k.V)
		if err != nil {
			return nil, err
		}
		if on {
			lists = opened(lists)
		}
	}
	var out [][]value.Value
	for _, l := range lists {
		items, ok := sequence(l)
		if !ok {
			return nil, value.FilterErrorf("All arguments must be lists. %s is %s", shown(l), class(l))
		}
		out = append(out, items)
	}
	return out, nil
}

// opened replaces lists that hold nothing but lists by these.
func opened(lists []value.Value) []value.Value {
	var out []value.Value
	for _, l := range lists {
		items, ok := sequence(l)
		nested := ok && len(items) > 0
		for _, item := range items {
			_, isList := item.(*value.List)
			nested = nested && isList
		}
		if nested {
			out = append(out, items...)
		} else {
			out = append(out, l)
		}
	}
	return out
}

// has tells whether an item is among others.
func has(items []value.Value, item value.Value) (bool, error) {
	for _, other := range items {
		if same, err := value.Equal(item, other); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

// pick appends the items that are not in out yet and are (or are not) among others.
func pick(out, items, others []value.Value, among bool) ([]value.Value, error) {
	for _, item := range items {
		found, err := has(others, item)
		if err != nil {
			return nil, err
		}
		again, err := has(out, item)
		if err != nil {
			return nil, err
		}
		if found == among && !again {
			out = append(out, item)
		}
	}
	return out, nil
}

// folded combines the operands from the left.
func folded(name string, step func(x, y []value.Value) ([]value.Value, error)) jinja.Filter {
	return func(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
		lists, err := operands(name, in, args)
		if err != nil {
			return nil, err
		}
		out, err := pick(nil, lists[0], nil, false)
		for _, l := range lists[1:] {
			if err != nil {
				return nil, err
			}
			out, err = step(out, l)
		}
		return value.NewList(out...), err
	}
}

func listsUnion(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	return folded("lists_union", func(x, y []value.Value) ([]value.Value, error) { return pick(x, y, nil, false) })(c, in, args)
}

func listsIntersect(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	return folded("lists_intersect", func(x, y []value.Value) ([]value.Value, error) { return pick(nil, x, y, true) })(c, in, args)
}

func listsDifference(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	return folded("lists_difference", func(x, y []value.Value) ([]value.Value, error) { return pick(nil, x, y, false) })(c, in, args)
}

func listsSymmetricDifference(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	return folded("lists_symmetric_difference", func(x, y []value.Value) ([]value.Value, error) {
		left, err := pick(nil, x, y, false)
		if err != nil {
			return nil, err
		}
		return pick(left, y, x, false)
	})(c, in, args)
}
