package filters

import (
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// sequences are Jinja's filters that cut, group and add up sequences.
func sequences() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"batch":    batch,
		"slice":    slice,
		"groupby":  groupBy,
		"sum":      sum,
		"min":      extreme("do_min", "<"),
		"max":      extreme("do_max", ">"),
		"reverse":  reverse,
		"dictsort": dictSort,
		"items":    itemsFilter,
	}
}

func intArg(v value.Value) (int, error) {
	n, ok := value.AsInt(v)
	switch {
	case ok:
		return int(n), nil
	case value.AsBig(v) != nil:
		return 0, value.Errorf("OverflowError", "Python int too large to convert to C ssize_t")
	}
	if err := defined(v); err != nil {
		return 0, err
	}
	return 0, value.TypeErrorf("'%s' object cannot be interpreted as an integer", value.NativeType(v))
}

// defined is the error of using a value that is undefined.
func defined(v value.Value) error {
	if u, undefined := v.(*value.Undefined); undefined {
		return u.Use()
	}
	return nil
}

var errTooLong = value.Errorf("MemoryError", "the list is too long")

// rowLength returns the argument of batch. One that is no number is compared with the lengths of rows, which can only
// tell that they are not equal to it: all is one row, unless it is to be filled up.
func rowLength(v value.Value, fills bool, most int) (int, error) {
	if _, ok := value.AsFloat(v); ok || most == 0 {
		n, ok := value.AsInt(v)
		if !ok {
			n = int64(most) + 1
		}
		return int(n), nil
	}
	if fills {
		_, err := jinja.CompareOp("<", value.Int(0), v)
		return 0, err
	}
	return most + 1, nil
}

func batch(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_batch", value.Req("linecount"), value.Opt("fill_with", none))
	if err != nil {
		return nil, err
	}
	items, err := value.Elements(in)
	if err != nil {
		return nil, err
	}
	fill := a[1]
	n, err := rowLength(a[0], !value.IsNone(fill), len(items))
	if err != nil {
		return nil, err
	}
	if !value.IsNone(fill) && n > value.MaxItems {
		return nil, errTooLong
	}
	var out []value.Value
	if n <= 0 && len(items) > 0 { // as in Jinja a row is never full then, but for the empty first one of 0
		if n == 0 {
			out = append(out, value.NewList())
		}
		out = append(out, list(append([]value.Value{}, items...)))
		items = nil
	}
	for len(items) > 0 {
		row := append([]value.Value{}, items[:min(n, len(items))]...)
		items = items[len(row):]
		for !value.IsNone(fill) && len(row) < n {
			row = append(row, fill)
		}
		out = append(out, list(row))
	}
	return list(out), nil
}

func slice(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_slice", value.Req("slices"), value.Opt("fill_with", none))
	if err != nil {
		return nil, err
	}
	items, err := value.Elements(in)
	if err != nil {
		return nil, err
	}
	if _, err := value.Binary("//", value.Int(len(items)), a[0]); err != nil {
		return nil, err
	}
	n, err := intArg(a[0])
	if err != nil {
		return nil, err
	}
	fill := a[1]
	if n > value.MaxItems {
		return nil, errTooLong
	}
	var out []value.Value
	per, longer := len(items)/max(n, 1), len(items)%max(n, 1)
	at := 0
	for i := range n {
		end := at + per
		if i < longer {
			end++
		}
		row := append([]value.Value{}, items[at:end]...)
		if at = end; !value.IsNone(fill) && i >= longer {
			row = append(row, fill)
		}
		out = append(out, list(row))
	}
	return list(out), nil
}

// groupTuple returns what groupby yields: a pair whose parts have names.
func groupTuple(key value.Value, items []value.Value) value.Value {
	return &value.Tuple{Items: []value.Value{key, list(items)}, Names: []string{"grouper", "list"}}
}

func groupBy(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("sync_do_groupby", value.Req("attribute"), value.Opt("default", none),
		value.Opt("case_sensitive", value.Bool(false)))
	if err != nil {
		return nil, err
	}
	sensitive, err := value.Truth(a[2])
	if err != nil {
		return nil, err
	}
	items, err := value.Elements(in)
	if err != nil {
		return nil, err
	}
	g := newGetter(a[0], a[1])
	keys := make([]value.Value, len(items))
	order := make([]int, len(items))
	for i, item := range items {
		k, err := g.get(item)
		if err != nil {
			return nil, err
		}
		keys[i], order[i] = folded(k, sensitive), i
	}
	if order, err = sortedBy(order, keys); err != nil {
		return nil, err
	}
	var out, group []value.Value
	for n, i := range order {
		group = append(group, items[i])
		if n+1 < len(order) {
			same, err := value.Equal(keys[i], keys[order[n+1]])
			if err != nil {
				return nil, err
			}
			if same {
				continue
			}
		}
		first, err := g.get(group[0])
		if err != nil {
			return nil, err
		}
		out, group = append(out, groupTuple(first, group)), nil
	}
	return list(out), nil
}

func sum(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_sum", value.Opt("attribute", none), value.Opt("start", value.Int(0)))
	if err != nil {
		return nil, err
	}
	items, err := value.Elements(in)
	if err != nil {
		return nil, err
	}
	if value.IsText(a[1]) {
		return nil, value.TypeErrorf("sum() can't sum strings [use ''.join(seq) instead]")
	}
	g, total := newGetter(a[0], nil), a[1]
	for _, item := range items {
		if item, err = g.get(item); err != nil {
			return nil, err
		}
		if total, err = value.Binary("+", total, item); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// extreme is min and max.
func extreme(fn, op string) jinja.Filter {
	return func(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
		a, err := args.Bind(fn, value.Opt("case_sensitive", value.Bool(false)), value.Opt("attribute", none))
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
		if len(items) == 0 {
			return value.UndefinedHint("No aggregated item, sequence was empty."), nil
		}
		g := newGetter(a[1], nil)
		var best, bestKey value.Value
		for _, item := range items {
			k, err := g.get(item)
			if err != nil {
				return nil, err
			}
			k = folded(k, sensitive)
			better := best == nil
			if !better {
				n, err := value.Compare(op, k, bestKey)
				if err != nil {
					return nil, err
				}
				better = op == "<" && n < 0 || op == ">" && n > 0
			}
			if better {
				best, bestKey = item, k
			}
		}
		return best, nil
	}
}

func reverse(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	if s, ok := value.Text(in); ok {
		runes := []rune(s)
		for i, j := 0, len(runes)-1; i < j; i, j = i+1, j-1 {
			runes[i], runes[j] = runes[j], runes[i]
		}
		return value.TextLike(in, string(runes)), nil
	}
	items, err := value.Elements(in)
	if err != nil {
		return nil, filterArgError("argument must be iterable")
	}
	out := make([]value.Value, 0, len(items))
	for i := len(items) - 1; i >= 0; i-- {
		out = append(out, items[i])
	}
	return list(out), nil
}

func dictSort(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_dictsort", value.Opt("case_sensitive", value.Bool(false)), value.Opt("by", value.Str("key")),
		value.Opt("reverse", value.Bool(false)))
	if err != nil {
		return nil, err
	}
	sensitive, err := value.Truth(a[0])
	if err != nil {
		return nil, err
	}
	down, err := value.Truth(a[2])
	if err != nil {
		return nil, err
	}
	by, _ := value.Text(a[1])
	if by != "key" && by != "value" {
		return nil, filterArgError(`You can only sort by either "key" or "value"`)
	}
	if !value.IsMapping(in) {
		return nil, noAttribute(in, "items")
	}
	d, err := value.ToDict(in)
	if err != nil {
		return nil, err
	}
	var items, keys []value.Value
	for i := range d.Len() {
		k, v := d.At(i)
		items = append(items, value.NewTuple(k, v))
		if by == "value" {
			k = v
		}
		keys = append(keys, folded(k, sensitive))
	}
	return list(items), value.Sort(items, down, keys)
}

func itemsFilter(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	if _, ok := in.(*value.Undefined); ok {
		return list(nil), nil
	}
	if !value.IsMapping(in) {
		return nil, value.TypeErrorf("Can only get item pairs from a mapping.")
	}
	d, err := value.ToDict(in)
	if err != nil {
		return nil, err
	}
	var out []value.Value
	d.Each(func(k, v value.Value) bool { out = append(out, value.NewTuple(k, v)); return true })
	return list(out), nil
}
