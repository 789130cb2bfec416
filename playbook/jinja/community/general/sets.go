package general

import (
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// operands returns the lists of a set operation: what is filtered and every argument, or with flatten the lists in
// them.
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
			return nil, value.FilterErrorf("All arguments must be lists. %s is %s", value.Printed(l), value.ClassOf(l).Str())
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

// set is a collection of items in which they are found again. Lists and dicts have no hash and are compared one by one.
type set struct {
	hashed *value.Dict
	odd    []value.Value
}

func setOf(items []value.Value) *set {
	s := &set{hashed: value.NewDict()}
	for _, item := range items {
		s.add(item)
	}
	return s
}

func (s *set) add(item value.Value) {
	if !s.hashed.SetKey(item, none) {
		s.odd = append(s.odd, item)
	}
}

func (s *set) has(c *jinja.Call, item value.Value) (bool, error) {
	if _, hashable := value.HashKey(item); hashable {
		_, ok := s.hashed.GetKey(item)
		return ok, nil
	}
	if err := c.Steps(len(s.odd)); err != nil {
		return false, err
	}
	for _, other := range s.odd {
		if same, err := value.Equal(item, other); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

// pick appends the items that are not in out yet and are (or are not) among others.
func pick(c *jinja.Call, out, items, others []value.Value, among bool) ([]value.Value, error) {
	theirs, taken := setOf(others), setOf(out)
	out = out[:len(out):len(out)]
	for _, item := range items {
		found, err := theirs.has(c, item)
		if err != nil {
			return nil, err
		}
		again, err := taken.has(c, item)
		if err != nil {
			return nil, err
		}
		if found == among && !again {
			taken.add(item)
			out = append(out, item)
		}
	}
	return out, nil
}

// folded combines the operands from the left.
func folded(name string, step func(x, y []value.Value) ([]value.Value, error)) jinja.Filter {
	return func(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
		lists, err := operands(name, in, args)
		if err != nil {
			return nil, err
		}
		out, err := pick(c, nil, lists[0], nil, false)
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
	return folded("lists_union", func(x, y []value.Value) ([]value.Value, error) { return pick(c, x, y, nil, false) })(c,
		in, args)
}

func listsIntersect(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	return folded("lists_intersect", func(x, y []value.Value) ([]value.Value, error) { return pick(c, nil, x, y, true) })(
		c, in, args)
}

func listsDifference(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	return folded("lists_difference",
		func(x, y []value.Value) ([]value.Value, error) { return pick(c, nil, x, y, false) })(c, in, args)
}

func listsSymmetricDifference(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	return folded("lists_symmetric_difference", func(x, y []value.Value) ([]value.Value, error) {
		left, err := pick(c, nil, x, y, false)
		if err != nil {
			return nil, err
		}
		return pick(c, left, y, x, false)
	})(c, in, args)
}
