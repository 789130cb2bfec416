package value

import "sort"

// Sort sorts in place and stably, by key(i) if key is not nil, as Python's sort does.
func Sort(items []Value, down bool, keys []Value) error {
	by := keys
	if by == nil {
		by = append([]Value(nil), items...)
	}
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	var failed error
	sort.SliceStable(order, func(i, j int) bool {
		if failed != nil {
			return false
		}
		a, b := by[order[i]], by[order[j]]
		if down {
			a, b = b, a
		}
		n, err := Compare("<", a, b)
		if err != nil {
			failed = err
		}
		return n == -1
	})
	if failed != nil {
		return failed
	}
	sorted := make([]Value, len(items))
	for i, from := range order {
		sorted[i] = items[from]
	}
	copy(items, sorted)
	return nil
}
