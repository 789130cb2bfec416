package result

import "hark/modules/py/value"

// Status is how a result counts.
type Status string

// The statuses, as the recap counts them.
const (
	OK          Status = "ok"
	Changed     Status = "changed"
	Failed      Status = "failed"
	Skipped     Status = "skipped"
	Unreachable Status = "unreachable"
)

// Status returns the status as Ansible counts it: failed_when_result decides where there is one, and a loop is skipped
// if all of its items were.
func (r *Result) Status() Status {
	key := "failed"
	if r.says("failed_when_result") {
		key = "failed_when_result"
	}
	switch {
	case r.anyTrue(key):
		return Failed
	case r.anyTrue("unreachable"):
		return Unreachable
	case r.allSkipped():
		return Skipped
	case r.anyTrue("changed"):
		return Changed
	}
	return OK
}

// Listed returns the entries of "results": those of a loop's items, and what modules return by that name, which Ansible
// treats the same.
func (r *Result) Listed() []value.Value {
	v, _ := r.Get("results")
	if l, ok := v.(*value.List); ok {
		return l.Items
	}
	return nil
}

// says reports whether the result, or any that is listed in it, has the key.
func (r *Result) says(key string) bool {
	if r.Has(key) {
		return true
	}
	for _, item := range r.Listed() {
		if d, ok := item.(*value.Dict); ok && d.Has(key) {
			return true
		}
	}
	return false
}

// anyTrue is the key of the result or, where it has none, of any that is listed in it.
func (r *Result) anyTrue(key string) bool {
	if v, ok := r.Get(key); ok {
		return value.IsTrue(v)
	}
	for _, item := range r.Listed() {
		if d, ok := item.(*value.Dict); ok && d.True(key) {
			return true
		}
	}
	return false
}

func (r *Result) allSkipped() bool {
	listed := r.Listed()
	for _, item := range listed {
		if d, ok := item.(*value.Dict); !ok || !d.True("skipped") {
			return r.True("skipped")
		}
	}
	return len(listed) > 0 || r.True("skipped")
}
