package result

import (
	"slices"

	"hark/modules/py/value"
)

// foreign are keys under which stands what others made, in an order of its own.
var foreign = map[string]bool{"json": true, "packages": true, "services": true, "ansible_local": true, "ansible_env": true, "invocation": true}

// Order puts the keys of a result, at any depth, into the order of their ranks; keys without a rank follow as they come.
func Order(v value.Value, rank map[string]int) {
	switch v := v.(type) {
	case *value.List:
		for _, item := range v.Items {
			Order(item, rank)
		}
	case *value.Dict:
		orderDict(v, rank)
	}
}

func orderDict(d *value.Dict, rank map[string]int) {
	for i := range d.Len() {
		k, v := d.Kept(i)
		if name, _ := value.Text(k); !foreign[name] {
			Order(v, rank)
		}
	}
	OrderKeys(d, rank)
}

// OrderKeys is Order for the keys of this mapping alone.
func OrderKeys(d *value.Dict, rank map[string]int) {
	type entry struct {
		k, v value.Value
		at   int
	}
	entries := make([]entry, 0, d.Len())
	for i := range d.Len() {
		k, v := d.Kept(i)
		name, _ := value.Text(k)
		at, ok := rank[name]
		if !ok {
			at = len(rank)
		}
		entries = append(entries, entry{k, v, at})
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return a.at - b.at })
	for _, e := range entries {
		d.Delete(e.k)
	}
	for _, e := range entries {
		d.SetKey(e.k, e.v)
	}
}
