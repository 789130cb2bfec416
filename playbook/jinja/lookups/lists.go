package lookups

import (
	"math/rand/v2"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// once flattens one level.
func once(terms []value.Value) []value.Value {
	out := []value.Value{}
	for _, t := range terms {
		if inner, ok := value.Items(t); ok {
			out = append(out, inner...)
		} else {
			out = append(out, t)
		}
	}
	return out
}

func items(_ *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	return once(terms), nil
}

func listOf(_ *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	return terms, nil
}

func dict(_ *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	out := []value.Value{}
	for _, t := range terms {
		if !value.IsMapping(t) {
			return nil, failf("with_dict expects a dict")
		}
		d, err := value.ToDict(t)
		if err != nil {
			return nil, err
		}
		for i := range d.Len() {
			k, v := d.At(i)
			pair := value.NewDict()
			pair.SetKey(value.Str("key"), k)
			pair.SetKey(value.Str("value"), v)
			out = append(out, pair)
		}
	}
	return out, nil
}

// most is how many items a lookup makes before it refuses.
const most = 1 << 20

// nested pairs the lists one after the other. Every pair is opened once and so is the whole, so that lists within
// the first lists are opened more than those within the last.
func nested(_ *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	if len(terms) == 0 {
		return nil, failf("with_nested requires at least one element in the nested list")
	}
	rows := choices(terms[0])
	for _, t := range terms[1:] {
		more := choices(t)
		if len(rows)*len(more) > most {
			return nil, failf("there are too many combinations: more than %d", most)
		}
		var next []value.Value
		for _, row := range rows {
			for _, c := range more {
				next = append(next, value.NewList(once([]value.Value{row, c})...))
			}
		}
		rows = next
	}
	out := []value.Value{}
	for _, row := range rows {
		out = append(out, value.NewList(once(choices(row))...))
	}
	return out, nil
}

func cartesian(_ *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	if len(terms) == 0 {
		return nil, failf("with_cartesian requires at least one element in each list")
	}
	rows := [][]value.Value{{}}
	for _, t := range terms {
		more := choices(t)
		if len(rows)*len(more) > most {
			return nil, failf("there are too many combinations: more than %d", most)
		}
		var next [][]value.Value
		for _, row := range rows {
			for _, c := range more {
				next = append(next, append(row[:len(row):len(row)], c))
			}
		}
		rows = next
	}
	out := []value.Value{}
	for _, row := range rows {
		out = append(out, value.NewList(once(row)...))
	}
	return out, nil
}

// choices returns the elements of a list, or the keys of a mapping; anything else is a list of one.
func choices(v value.Value) []value.Value {
	if d, ok := v.(*value.Dict); ok {
		return d.Keys()
	}
	if items, ok := value.Items(v); ok {
		return items
	}
	return []value.Value{v}
}

// flattened opens lists all the way down. The text None or null ends the list that it is in.
func flattened(_ *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	return flatten(terms, []value.Value{}), nil
}

func flatten(terms, out []value.Value) []value.Value {
	for _, t := range terms {
		t = unwrapped(t)
		if s, ok := value.Text(t); ok && (s == "None" || s == "null") {
			break
		}
		if l, ok := t.(*value.List); ok {
			out = flatten(l.Items, out)
		} else {
			out = append(out, t)
		}
	}
	return out
}

// unwrapped takes a value out of lists that hold nothing else.
func unwrapped(v value.Value) value.Value {
	for {
		l, ok := v.(*value.List)
		if !ok || len(l.Items) != 1 {
			return v
		}
		v = l.Items[0]
	}
}

func together(_ *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	if len(terms) == 0 {
		return nil, failf("with_together requires at least one element in each list")
	}
	n := 0
	var columns [][]value.Value
	for _, t := range terms {
		c := choices(t)
		columns = append(columns, c)
		n = max(n, len(c))
	}
	out := []value.Value{}
	for i := range n {
		var row []value.Value
		for _, c := range columns {
			if i < len(c) {
				row = append(row, c[i])
			} else {
				row = append(row, value.None{})
			}
		}
		out = append(out, value.NewList(once(row)...))
	}
	return out, nil
}

func indexed(_ *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	out := []value.Value{}
	for i, v := range once(terms) {
		out = append(out, value.NewTuple(value.Int(i), v))
	}
	return out, nil
}

func randomChoice(_ *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	if len(terms) == 0 {
		return terms, nil
	}
	return []value.Value{terms[rand.IntN(len(terms))]}, nil
}
