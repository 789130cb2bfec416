// Package result judges and dresses results of tasks as Ansible does: how a result counts, what of it is registered,
// what may be shown, and its plain JSON.
package result

import (
	"strings"

	"hark/agent/wire"
	"hark/modules/py/value"
)

// Status counts a result as Ansible does: failed_when_result decides where there is one, and a loop is
// skipped if all of its items were.
func Status(res *value.Dict) wire.Status {
	key := "failed"
	if hasDeep(res, "failed_when_result") {
		key = "failed_when_result"
	}
	switch {
	case anyTrue(res, key):
		return wire.StatusFailed
	case anyTrue(res, "unreachable"):
		return wire.StatusUnreachable
	case allSkipped(res):
		return wire.Skipped
	case anyTrue(res, "changed"):
		return wire.Changed
	}
	return wire.OK
}

func itemsOf(res *value.Dict) []value.Value {
	v, _ := res.Get("results")
	if l, ok := v.(*value.List); ok {
		return l.Items
	}
	return nil
}

func hasDeep(res *value.Dict, key string) bool {
	if _, ok := res.Get(key); ok {
		return true
	}
	for _, item := range itemsOf(res) {
		if d, ok := item.(*value.Dict); ok {
			if _, ok := d.Get(key); ok {
				return true
			}
		}
	}
	return false
}

// anyTrue is the key of the result or, where it has none, of any of its items.
func anyTrue(res *value.Dict, key string) bool {
	if v, ok := res.Get(key); ok {
		return value.IsTrue(v)
	}
	for _, item := range itemsOf(res) {
		if d, ok := item.(*value.Dict); ok {
			if d.True(key) {
				return true
			}
		}
	}
	return false
}

func allSkipped(res *value.Dict) bool {
	items := itemsOf(res)
	for _, item := range items {
		d, ok := item.(*value.Dict)
		if !ok {
			items = nil
			break
		}
		if !d.True("skipped") {
			items = nil
			break
		}
	}
	return len(items) > 0 || res.True("skipped")
}

// Clean is what register keeps: no internal keys, and no invocation of the task as a whole.
func Clean(res *value.Dict) *value.Dict {
	out, _ := stripInternal(res).(*value.Dict)
	out.Delete(value.Str("invocation"))
	return out
}

func stripInternal(v value.Value) value.Value {
	switch v := v.(type) {
	case *value.Dict:
		out := value.NewDict()
		for i := range v.Len() {
			k, item := v.Kept(i)
			if name, ok := value.Text(k); !ok || !strings.HasPrefix(name, "_ansible_") {
				out.SetKey(k, stripInternal(item))
			}
		}
		return out
	case *value.List:
		out := value.NewList()
		for _, item := range v.Items {
			out.Items = append(out.Items, stripInternal(item))
		}
		return out
	}
	return v
}
