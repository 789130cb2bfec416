package filters

import (
	"fmt"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// rows returns the elements of the value and of every positional argument.
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

// onlyKeyword refuses keyword arguments of a function in C but one.
func onlyKeyword(fn, name string, args *jinja.Args) error {
	for _, k := range args.Kw {
		if k.Name != name {
			return value.TypeErrorf("'%s' is an invalid keyword argument for %s()", k.Name, fn)
		}
	}
	return nil
}

func zip(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	if err := onlyKeyword("zip", "strict", args); err != nil {
		return nil, err
	}
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

// most is how many elements the combinations that a filter makes may have together.
const most = value.MaxItems

var errTooMany = value.Errorf("MemoryError", "there are too many combinations")

func product(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	if err := onlyKeyword("product", "repeat", args); err != nil {
		return nil, err
	}
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
	if repeat > most/max(len(once), 1) {
		return nil, errTooMany
	}
	for all = nil; repeat > 0; repeat-- {
		all = append(all, once...)
	}
	out := [][]value.Value{{}}
	for i, row := range all {
		if len(out)*max(len(row), 1)*(i+1) > most {
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

// chosen returns the argument r of permutations and combinations; nil for all, which only permutations has.
func chosen(fn string, args *jinja.Args) (value.Value, error) {
	r, given := args.KwOf("r")
	if n := 1 + len(args.Pos) + len(args.Kw); n > 2 {
		return nil, value.TypeErrorf("%s() takes at most 2 arguments (%d given)", fn, n)
	}
	if len(args.Pos) == 1 {
		r, given = args.Pos[0], true
	}
	_, isInt := value.AsInt(r)
	switch {
	case fn == "combinations" && !given:
		return nil, value.TypeErrorf("combinations() missing required argument 'r' (pos 2)")
	case fn == "combinations" && !isInt:
		_, err := intArg(r)
		return nil, err
	case !given && len(args.Kw) > 0:
		return nil, onlyKeyword(fn, "r", args)
	case !given || fn == "permutations" && value.IsNone(r):
		return nil, nil
	case !isInt && value.AsBig(r) == nil:
		return nil, value.TypeErrorf("Expected int as r")
	}
	return r, nil
}

// choose makes a filter of a way to choose r of n positions.
func choose(fn string, pick func(n, r int, yield func([]int) bool)) jinja.Filter {
	return func(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
		size, err := chosen(fn, args)
		if err != nil {
			return nil, err
		}
		items, err := value.Elements(in)
		if err != nil {
			return nil, err
		}
		r := len(items)
		if size != nil {
			if r, err = intArg(size); err != nil {
				return nil, err
			}
		}
		if r < 0 {
			return nil, value.ValueErrorf("r must be non-negative")
		}
		var out [][]value.Value
		made := 0
		pick(len(items), r, func(at []int) bool {
			row := make([]value.Value, len(at))
			for i, n := range at {
				row[i] = items[n]
			}
			out = append(out, row)
			made += len(row) + 1
			return made <= most
		})
		if made > most {
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
