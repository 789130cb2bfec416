package filters

import (
	"fmt"

	"hark/playbook/jinja"
	"hark/playbook/jinja/value"
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

// pair are the elements of the two sides of a set operation.
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

// keep are the elements of items, each once, that are (or are not) among others.
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

// rows are the elements of the value and of every positional argument.
func rows(in value.Value, args *jinja.Args) ([][]value.Value, error) {
	var out [][]value.Value
	for _, v := range append([]value.Value{in}, args.Pos...) {
		items, err := value.Elements(v)
		if err != nil {
			return nil, err
		}
		out = append(out, items)
	}
	return out, nil
}

func zip(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	all, err := rows(in, args)
	if err != nil {
		return nil, err
	}
	n := len(all[0])
	for _, row := range all {
		n = min(n, len(row))
	}
	if v, ok := args.KwOf("strict"); ok {
		if err := equallyLong(all, v); err != nil {
			return nil, err
		}
	}
	return list(columns(all, n, nil)), nil
}

// equallyLong refuses rows of different lengths if strict is true.
func equallyLong(all [][]value.Value, strict value.Value) error {
	on, err := value.Truth(strict)
	if err != nil || !on {
		return err
	}
	for i, row := range all {
		word := "shorter"
		if len(row) > len(all[0]) {
			word = "longer"
		}
		before := "argument 1"
		if i > 1 {
			before = fmt.Sprintf("arguments 1-%d", i)
		}
		if len(row) != len(all[0]) {
			return value.ValueErrorf("zip() argument %d is %s than %s", i+1, word, before)
		}
	}
	return nil
}

func zipLongest(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	all, err := rows(in, args)
	if err != nil {
		return nil, err
	}
	for _, k := range args.Kw {
		if k.Name != "fillvalue" {
			return nil, value.TypeErrorf("zip_longest() got an unexpected keyword argument")
		}
	}
	fill, ok := args.KwOf("fillvalue")
	if !ok {
		fill = none
	}
	n := 0
	for _, row := range all {
		n = max(n, len(row))
	}
	return list(columns(all, n, fill)), nil
}

func columns(all [][]value.Value, n int, fill value.Value) []value.Value {
	out := make([]value.Value, 0, n)
	for i := range n {
		col := make([]value.Value, 0, len(all))
		for _, row := range all {
			if i < len(row) {
				col = append(col, row[i])
			} else {
				col = append(col, fill)
			}
		}
		out = append(out, value.NewTuple(col...))
	}
	return out
}

// most is how many combinations a filter makes before it refuses.
const most = 1 << 20

var errTooMany = value.Errorf("MemoryError", "there are too many combinations")

func product(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	all, err := rows(in, args)
	if err != nil {
		return nil, err
	}
	repeat := 1
	if v, ok := args.KwOf("repeat"); ok {
		if repeat, err = intArg(v); err != nil {
			return nil, err
		}
	}
	once := all
	for all = nil; repeat > 0 && len(all) < 64; repeat-- {
		all = append(all, once...)
	}
	out := [][]value.Value{{}}
	for _, row := range all {
		if len(out)*len(row) > most {
			return nil, errTooMany
		}
		var next [][]value.Value
		for _, head := range out {
			for _, v := range row {
				next = append(next, append(head[:len(head):len(head)], v))
			}
		}
		out = next
	}
	return tuples(out), nil
}

func tuples(all [][]value.Value) value.Value {
	out := make([]value.Value, 0, len(all))
	for _, items := range all {
		out = append(out, value.NewTuple(items...))
	}
	return list(out)
}

// choose makes a filter of a way to choose r of n positions.
func choose(fn string, pick func(n, r int, yield func([]int) bool)) jinja.Filter {
	return func(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
		a, err := args.Bind(fn, value.Opt("r", none))
		if err != nil {
			return nil, err
		}
		items, err := value.Elements(in)
		if err != nil {
			return nil, err
		}
		r := len(items)
		if n, ok := value.AsInt(a[0]); ok && n < 0 {
			return nil, value.ValueErrorf("r must be non-negative")
		}
		if !value.IsNone(a[0]) {
			if r, err = intArg(a[0]); err != nil {
				return nil, err
			}
		} else if fn == "combinations" {
			return nil, value.TypeErrorf("combinations() missing required argument 'r' (pos 2)")
		}
		var out [][]value.Value
		pick(len(items), r, func(at []int) bool {
			row := make([]value.Value, len(at))
			for i, n := range at {
				row[i] = items[n]
			}
			out = append(out, row)
			return len(out) <= most
		})
		if len(out) > most {
			return nil, errTooMany
		}
		return tuples(out), nil
	}
}

func permutations(n, r int, yield func([]int) bool) {
	used, at := make([]bool, n), make([]int, 0, max(r, 0))
	var walk func() bool
	walk = func() bool {
		if len(at) == r {
			return yield(at)
		}
		for i := range n {
			if used[i] {
				continue
			}
			used[i], at = true, append(at, i)
			if !walk() {
				return false
			}
			used[i], at = false, at[:len(at)-1]
		}
		return true
	}
	if r >= 0 && r <= n {
		walk()
	}
}

func combinations(n, r int, yield func([]int) bool) {
	at := make([]int, 0, max(r, 0))
	var walk func(from int) bool
	walk = func(from int) bool {
		if len(at) == r {
			return yield(at)
		}
		for i := from; i <= n-(r-len(at)); i++ {
			at = append(at, i)
			if !walk(i + 1) {
				return false
			}
			at = at[:len(at)-1]
		}
		return true
	}
	if r >= 0 && r <= n {
		walk(0)
	}
}

func flatten(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("flatten", value.Opt("levels", none), value.Opt("skip_nulls", value.Bool(true)))
	if err != nil {
		return nil, err
	}
	levels := -1
	if !value.IsNone(a[0]) {
		if levels, err = intArg(a[0]); err != nil {
			return nil, err
		}
	}
	skip, err := truthArg(a[1])
	if err != nil {
		return nil, err
	}
	items, err := value.Elements(in)
	if err != nil {
		return nil, err
	}
	return list(flat(items, levels, skip, nil)), nil
}

func flat(items []value.Value, levels int, skip bool, out []value.Value) []value.Value {
	for _, v := range items {
		if s, ok := value.Text(v); skip && (value.IsNone(v) || ok && (s == "None" || s == "null")) {
			continue
		}
		inner, err := value.Elements(v)
		if levels != 0 && err == nil && value.IsSequence(v) && !value.IsText(v) {
			out = flat(inner, levels-1, skip, out)
			continue
		}
		out = append(out, v)
	}
	return out
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
	v := a[0]
	for _, k := range keys {
		if v, err = jinja.GetItem(v, k); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func subelements(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("subelements", value.Req("subelements"), value.Opt("skip_missing", value.Bool(false)))
	if err != nil {
		return nil, err
	}
	skip, err := truthArg(a[1])
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
	var out []value.Value
	for _, e := range elements {
		v := e
		missing := false
		for _, key := range path {
			if !value.IsMapping(v) {
				return nil, value.FilterErrorf("the key %s should point to a dictionary, got '%s'", key, reprOf(v))
			}
			item, ok, err := value.Item(v, value.Str(key))
			if err != nil {
				return nil, err
			}
			if !ok {
				if !skip {
					return nil, value.FilterErrorf("could not find %s key in iterated item %s", value.ReprText(key), value.ReprText(reprOf(v)))
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
			return nil, value.FilterErrorf("the key %s should point to a list, got '%s'", path[len(path)-1], reprOf(v))
		}
		for _, sub := range items {
			out = append(out, value.NewTuple(e, sub))
		}
	}
	return list(out), nil
}

func reprOf(v value.Value) string {
	s, err := value.Repr(v)
	if err != nil {
		return v.Type()
	}
	return s
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
		return nil, value.FilterErrorf("subelements must be a list or a string")
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
	var items []value.Value
	switch {
	case value.IsMapping(in):
		items, err = subjects(in)
	case value.IsSequence(in) && !value.IsText(in):
		items, err = value.Elements(in)
	default:
		return nil, value.FilterErrorf("Type is not a valid list, set, or dict")
	}
	if err != nil {
		return nil, err
	}
	out := value.NewDict()
	for _, item := range items {
		if !value.IsMapping(item) {
			return nil, value.FilterErrorf("List item is not a valid dict")
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
