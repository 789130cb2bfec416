package runner

import (
	"hark/agent/internal/result"
	"hark/agent/wire"
	"hark/playbook/jinja/value"
)

// sendable is the result of a task, or of one item of its loop, as it counts: one that cannot be sent is a failure for this host too, not
// only for those who look on. parts are what becomes of it beside being shown.
func (t *task) sendable(res *value.Dict, f *fields, parts ...value.Value) *value.Dict {
	if weight(res)*(2+len(parts)) < wire.MaxEvent/8 {
		return res // whatever is added to it and escaped in it
	}
	size := len(t.brief(res, f).Result)
	for _, part := range parts {
		if raw, err := value.EncodeShort(part); err == nil {
			size += len(raw)
		}
	}
	if size <= wire.MaxEvent-eventFrame {
		return res
	}
	out := failure("the result has %d MB: more than %d MB cannot be sent to the controller", size>>20, wire.MaxEvent>>20)
	for _, name := range []string{"changed", "_ansible_no_log"} {
		if v, ok := res.Get(name); ok {
			out.Set(name, v)
		}
	}
	return out
}

// eventFrame is room for what else is in an event.
const eventFrame = 64 << 10

// effective is what becomes of a result beside being shown: variables of the host.
func (t *task) effective(res *value.Dict) []value.Value {
	var parts []value.Value
	if t.s.Register != "" {
		parts = append(parts, result.Clean(res))
	}
	if result.Status(res) == wire.StatusFailed && t.r.rescuing() {
		parts = append(parts, res)
	}
	for _, item := range t.resultItems(res) {
		if v, ok := item.Get("ansible_facts"); ok {
			parts = append(parts, v)
		}
	}
	return parts
}

// weight is about how many bytes a value takes.
func weight(v value.Value) int {
	const node = 16
	if text, ok := value.Text(v); ok {
		return node + len(text)
	}
	n := node
	switch v := v.(type) {
	case *value.List:
		for _, item := range v.Items {
			n += weight(item)
		}
	case *value.Tuple:
		for _, item := range v.Items {
			n += weight(item)
		}
	case *value.Dict:
		for i := range v.Len() {
			k, item := v.Kept(i)
			n += weight(k) + weight(item)
		}
	}
	return n
}
