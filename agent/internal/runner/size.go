package runner

import (
	"hark/agent/internal/result"
	"hark/agent/wire"
	"hark/modules/py/value"
)

// sendable is the result of a task, or of one item of its loop, as it counts. What is too large to be sent loses the ends of its output, with a
// word; what is too large even then is a failure for this host too, not only for those who look on. With effects it becomes variables.
func (t *task) sendable(res *value.Dict, f *fields, effects bool) *value.Dict {
	size := t.sent(res, f, effects)
	for keep := wire.MaxEvent / 4; size > wire.MaxEvent && keep >= 1<<10; keep /= 2 {
		short := result.Shorten(res, keep)
		if short == res && keep < 1<<20 {
			break // it is not the output
		}
		if t.sent(short, f, effects) <= wire.MaxEvent {
			return short
		}
	}
	if size <= wire.MaxEvent {
		return res
	}
	out := failure("the result has %d MB: more than %d MB cannot be sent to the controller", size>>20, wire.MaxEvent>>20)
	for _, name := range []string{"changed", "rc", string(result.NoLog)} {
		if v, ok := res.Get(name); ok {
			out.Set(name, v)
		}
	}
	return out
}

// eventFrame is room for what else is in an event.
const eventFrame = 64 << 10

// sent is at most how many bytes a result takes in an event: as it is shown, and what becomes of it beside that.
func (t *task) sent(res *value.Dict, f *fields, effects bool) int {
	n := eventFrame
	if !f.noLog && !result.NoLog.On(res) {
		n += value.ShortSize(t.shortened(res, result.Status(res)))
	}
	if effects {
		for _, part := range t.effective(res) {
			n += value.ShortSize(part)
		}
	}
	return n
}

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
