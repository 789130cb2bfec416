package filters

import (
	"hark/modules/py/value"
)

// sortedBy sorts positions by the keys that stand there.
func sortedBy(order []int, keys []value.Value) ([]int, error) {
	items := make([]value.Value, len(order))
	for i, n := range order {
		items[i] = value.Int(n)
	}
	if err := value.Sort(items, false, keys); err != nil {
		return nil, err
	}
	for i, v := range items {
		n, _ := value.AsInt(v)
		order[i] = int(n)
	}
	return order, nil
}
