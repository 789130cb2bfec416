package jmespath

import (
	"math"
	"slices"
	"strings"

	"hark/modules/py/value"
)

// argument of a call: a value, or an expression that is applied to elements.
type argument struct {
	v   value.Value
	ref func(v value.Value) (value.Value, error)
}

// function is what can be called: the types of its arguments as the specification writes them, none for any.
type function struct {
	takes    [][]string
	variadic bool
	run      func(a []argument) (value.Value, error)
}

func functions() map[string]function {
	types := func(all ...[]string) [][]string { return all }
	of := func(names ...string) []string { return names }
	unary := func(f func(v value.Value) (value.Value, error), names ...string) function {
		return function{takes: types(of(names...)), run: func(a []argument) (value.Value, error) { return f(a[0].v) }}
	}
	byKey := func(f func(items []value.Value, ref argument) (value.Value, error)) function {
		return function{takes: types(of("array"), of("expref")), run: func(a []argument) (value.Value, error) {
			return f(a[0].v.(*value.List).Items, a[1])
		}}
	}
	texts := func(f func(s, part string) bool) function {
		return function{takes: types(of("string"), of("string")), run: func(a []argument) (value.Value, error) {
			s, _ := value.Text(a[0].v)
			part, _ := value.Text(a[1].v)
			return value.Bool(f(s, part)), nil
		}}
	}
	return map[string]function{
		"abs":         unary(absolute, "number"),
		"avg":         unary(average, "array-number"),
		"ceil":        unary(rounded(math.Ceil), "number"),
		"floor":       unary(rounded(math.Floor), "number"),
		"contains":    {takes: types(of("array", "string"), nil), run: contains},
		"ends_with":   texts(strings.HasSuffix),
		"starts_with": texts(strings.HasPrefix),
		"join":        {takes: types(of("string"), of("array-string")), run: join},
		"keys":        unary(keys, "object"),
		"values":      unary(values, "object"),
		"length":      unary(length, "string", "array", "object"),
		"map":         {takes: types(of("expref"), of("array")), run: mapped},
		"max":         unary(extreme(">"), "array-number", "array-string"),
		"min":         unary(extreme("<"), "array-number", "array-string"),
		"max_by":      byKey(extremeBy("max_by", ">")),
		"min_by":      byKey(extremeBy("min_by", "<")),
		"merge":       {takes: types(of("object")), variadic: true, run: merge},
		"not_null":    {takes: types(nil), variadic: true, run: notNull},
		"reverse":     unary(reverse, "array", "string"),
		"sort":        unary(sorted, "array-string", "array-number"),
		"sort_by":     byKey(sortBy),
		"sum":         unary(sum, "array-number"),
		"to_array":    unary(toArray),
		"to_number":   unary(toNumber),
		"to_string":   unary(toString),
		"type":        unary(func(v value.Value) (value.Value, error) { return value.Str(typeOf(v)), nil }),
	}
}

// call returns the call of a function.
func call(name string, args []expr) expr {
	return expr{eval: func(v value.Value) (value.Value, error) {
		resolved := make([]argument, len(args))
		for i, e := range args {
			if e.reference {
				resolved[i].ref = e.eval
				continue
			}
			var err error
			if resolved[i].v, err = e.eval(v); err != nil {
				return nil, err
			}
		}
		f, known := functions()[name]
		if !known {
			return nil, failf("Unknown function: %s()", name)
		}
		if err := f.check(name, resolved); err != nil {
			return nil, err
		}
		return f.run(resolved)
	}}
}

func (f function) check(name string, args []argument) error {
	plural := "s"
	if len(f.takes) == 1 {
		plural = ""
	}
	switch {
	case f.variadic && len(args) < len(f.takes):
		return failf("Expected at least %d argument%s for function %s(), received %d", len(f.takes), plural, name, len(args))
	case !f.variadic && len(args) != len(f.takes):
		return failf("Expected %d argument%s for function %s(), received %d", len(f.takes), plural, name, len(args))
	}
	for i, types := range f.takes {
		if err := accepts(name, types, args[i]); err != nil {
			return err
		}
	}
	return nil
}

// accepts checks one argument.
func accepts(name string, types []string, a argument) error {
	if a.ref != nil {
		if len(types) == 0 || slices.Contains(types, "expref") {
			return nil
		}
		return wrongType(name, "<expression>", types, "expref")
	}
	if len(types) == 0 {
		return nil
	}
	got := typeOf(a.v)
	elements := ""
	for _, t := range types {
		base, element, _ := strings.Cut(t, "-")
		if base != got {
			continue
		}
		if element == "" {
			return nil
		}
		elements += " " + element
	}
	if elements == "" {
		return wrongType(name, value.Printed(a.v), types, got)
	}
	return acceptsElements(name, types, a.v.(*value.List).Items, elements)
}

// acceptsElements checks the elements of an array: all are of the type of the first, which is one of those allowed.
func acceptsElements(name string, types []string, items []value.Value, allowed string) error {
	for _, item := range items {
		got := typeOf(item)
		if !strings.Contains(allowed, got) {
			return wrongType(name, value.Printed(item), types, item.Type())
		}
		allowed = got
	}
	return nil
}

func wrongType(name, shown string, types []string, got string) error {
	quoted := make([]string, len(types))
	for i, t := range types {
		quoted[i] = value.ReprText(t)
	}
	return failf(`In function %s(), invalid type for value: %s, expected one of: [%s], received: "%s"`, name, shown,
		strings.Join(quoted, ", "), got)
}

func typeOf(v value.Value) string {
	switch v.(type) {
	case value.None:
		return "null"
	case value.Bool:
		return "boolean"
	case *value.List:
		return "array"
	}
	switch {
	case value.IsText(v):
		return "string"
	case value.IsMapping(v):
		return "object"
	case isNumber(v):
		return "number"
	}
	return "unknown"
}

func items(v value.Value) []value.Value { return v.(*value.List).Items }

func absolute(v value.Value) (value.Value, error) {
	if n, err := value.Compare("<", v, value.Int(0)); err != nil || n >= 0 {
		return v, err
	}
	return value.Binary("-", value.Int(0), v)
}

func sum(v value.Value) (value.Value, error) {
	var total value.Value = value.Int(0)
	var err error
	for _, item := range items(v) {
		if total, err = value.Binary("+", total, item); err != nil {
			return nil, err
		}
	}
	return total, nil
}

func average(v value.Value) (value.Value, error) {
	if len(items(v)) == 0 {
		return none, nil
	}
	total, err := sum(v)
	if err != nil {
		return nil, err
	}
	return value.Binary("/", total, value.Float(len(items(v))))
}

func rounded(f func(float64) float64) func(v value.Value) (value.Value, error) {
	return func(v value.Value) (value.Value, error) {
		if x, isFloat := v.(value.Float); isFloat {
			return value.FloatToInt(f(float64(x)))
		}
		return v, nil
	}
}

func contains(a []argument) (value.Value, error) {
	if a[1].ref != nil {
		return value.Bool(false), nil
	}
	ok, err := value.Contains(a[0].v, a[1].v)
	return value.Bool(ok), err
}

func join(a []argument) (value.Value, error) {
	sep, _ := value.Text(a[0].v)
	var parts []string
	for _, item := range items(a[1].v) {
		s, _ := value.Text(item)
		parts = append(parts, s)
	}
	return value.Str(strings.Join(parts, sep)), nil
}

func keys(v value.Value) (value.Value, error) {
	d, err := value.ToDict(v)
	return &value.List{Items: d.Keys()}, err
}

func values(v value.Value) (value.Value, error) {
	d, err := value.ToDict(v)
	if err != nil {
		return nil, err
	}
	return &value.List{Items: valuesOf(d)}, nil
}

func length(v value.Value) (value.Value, error) {
	n, err := value.Len(v)
	return value.Int(n), err
}

func mapped(a []argument) (value.Value, error) {
	out := value.NewList()
	for _, item := range items(a[1].v) {
		found, err := a[0].ref(item)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, found)
	}
	return out, nil
}

func merge(a []argument) (value.Value, error) {
	out := value.NewDict()
	for _, arg := range a {
		if arg.v == nil || !value.IsMapping(arg.v) {
			return nil, value.TypeErrorf("cannot convert dictionary update sequence element #0 to a sequence")
		}
		d, err := value.ToDict(arg.v)
		if err != nil {
			return nil, err
		}
		d.Each(func(k, v value.Value) bool { return out.SetKey(k, v) })
	}
	return out, nil
}

func notNull(a []argument) (value.Value, error) {
	for _, arg := range a {
		if arg.v != nil && !value.IsNone(arg.v) {
			return arg.v, nil
		}
	}
	return none, nil
}

func reverse(v value.Value) (value.Value, error) {
	if s, ok := value.Text(v); ok {
		runes := []rune(s)
		slices.Reverse(runes)
		return value.Str(runes), nil
	}
	out := slices.Clone(items(v))
	slices.Reverse(out)
	return &value.List{Items: out}, nil
}

// extreme returns the first of the elements that come first in an order.
func extreme(op string) func(v value.Value) (value.Value, error) {
	return func(v value.Value) (value.Value, error) { return best(op, items(v), items(v)) }
}

// best returns the item whose key comes first in an order.
func best(op string, all, keys []value.Value) (value.Value, error) {
	if len(all) == 0 {
		return none, nil
	}
	at := 0
	for i := range all[1:] {
		ahead, err := ordered(op, keys[i+1], keys[at])
		if err != nil {
			return nil, err
		}
		if ahead == value.Bool(true) {
			at = i + 1
		}
	}
	return all[at], nil
}

func sorted(v value.Value) (value.Value, error) {
	out := slices.Clone(items(v))
	err := value.Sort(out, false, slices.Clone(out))
	return &value.List{Items: out}, err
}

// keysOf returns what a reference finds in the items, all of the types allowed.
func keysOf(name string, all []value.Value, ref argument, allowed ...string) ([]value.Value, error) {
	found := make([]value.Value, len(all))
	for i, item := range all {
		var err error
		if found[i], err = ref.ref(item); err != nil {
			return nil, err
		}
		if got := typeOf(found[i]); !slices.Contains(allowed, got) {
			return nil, wrongType(name, value.Printed(found[i]), allowed, got)
		}
	}
	return found, nil
}

func extremeBy(name, op string) func(all []value.Value, ref argument) (value.Value, error) {
	return func(all []value.Value, ref argument) (value.Value, error) {
		keys, err := keysOf(name, all, ref, "number", "string")
		if err != nil {
			return nil, err
		}
		return best(op, all, keys)
	}
}

func sortBy(all []value.Value, ref argument) (value.Value, error) {
	if len(all) == 0 {
		return value.NewList(), nil
	}
	first, err := ref.ref(all[0])
	if err != nil {
		return nil, err
	}
	kind := typeOf(first)
	if kind != "number" && kind != "string" {
		return nil, wrongType("sort_by", value.Printed(all[0]), []string{"string", "number"}, kind)
	}
	keys, err := keysOf("sort_by", all, ref, kind)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(all)
	err = value.Sort(out, false, keys)
	return &value.List{Items: out}, err
}
