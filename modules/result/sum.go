package result

import "hark/modules/py/value"

// Sum returns the result of a loop with those of its items. The caller adds everything else.
func Sum(items []*Result) *Result {
	r, l := New(), value.NewList()
	for _, item := range items {
		l.Items = append(l.Items, item.Dict)
	}
	r.Items = items
	r.Set("results", l)
	return r
}

// Size returns about how many bytes Whole takes as JSON, and no fewer.
func (r *Result) Size() int {
	n := value.ShortSize(r.Dict) + r.Marks.size()
	for _, item := range r.Items {
		n += item.Marks.size()
	}
	return n
}
