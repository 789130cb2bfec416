package filters

import (
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// ansibleSets are Ansible's filters of set theory, combinatorics and nested lists.
func ansibleSets() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"union":                union,
		"intersect":            intersect,
		"difference":           difference,
		"symmetric_difference": symmetricDifference,
		"zip":                  zip,
		"zip_longest":          zipLongest,
		"product":              product,
		"permutations":         choose("permutations", permutations),
		"combinations":         choose("combinations", combinations),
		"flatten":              flatten,
		"extract":              extract,
		"subelements":          subelements,
		"rekey_on_member":      rekeyOnMember,
	}
}

// pair returns the elements of the two sides of a set operation.
func pair(fn string, in value.Value, args *jinja.Args) (x, y []value.Value, err error) {
	a, err := args.Bind(fn, value.Req("b"))
	if err != nil {
		return nil, nil, err
	}
	if x, err = value.Elements(in); err == nil {
		y, err = value.Elements(a[0])
	}
	return x, y, err
}

// keep returns the elements of items, each once, that are (or are not) among others.
func keep(items, others []value.Value, among bool) ([]value.Value, error) {
	seen, theirs := value.NewDict(), value.NewDict()
	var odd, theirOdd []value.Value
	for _, v := range others {
		if _, err := remember(theirs, &theirOdd, v); err != nil {
			return nil, err
		}
	}
	out := []value.Value{}
	for _, v := range items {
		before := len(theirOdd)
		size := theirs.Len()
		found, err := remember(theirs, &theirOdd, v)
		if err != nil {
			return nil, err
		}
		if !found { // remember has noted it: take that back
			theirOdd = theirOdd[:before]
			if theirs.Len() > size {
				theirs.Delete(v)
			}
		}
		if found != among {
			continue
		}
		again, err := remember(seen, &odd, v)
		if err != nil {
			return nil, err
		}
		if !again {
			out = append(out, v)
		}
	}
	return out, nil
}

func union(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("union", value.Req("b"))
	if err != nil {
		return nil, err
	}
	if !hashable(in) || !hashable(a[0]) { // lists are added
		if _, err := value.Binary("+", in, a[0]); err != nil {
			return nil, err
		}
	}
	x, y, err := pair("union", in, args)
	if err != nil {
		return nil, err
	}
	out, err := keep(append(append([]value.Value{}, x...), y...), nil, false)
	return list(out), err
}

func hashable(v value.Value) bool {
	_, ok := value.HashKey(v)
	return ok
}

func intersect(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	x, y, err := pair("intersect", in, args)
	if err != nil {
		return nil, err
	}
	out, err := keep(x, y, true)
	return list(out), err
}

func difference(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	x, y, err := pair("difference", in, args)
	if err != nil {
		return nil, err
	}
	out, err := keep(x, y, false)
	return list(out), err
}

func symmetricDifference(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	x, y, err := pair("symmetric_difference", in, args)
	if err != nil {
		return nil, err
	}
	left, err := keep(x, y, false)
	if err != nil {
		return nil, err
	}
	right, err := keep(y, x, false)
	return list(append(left, right...)), err
}
