package report

import (
	"fmt"
	"strings"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/modules/result"
)

// Fit returns the result of a task, or of one item of its loop, as it counts. What is too large to be sent loses the
// ends of its output, with a word. What is too large even then, too deep, or has no form in which it can be sent is a
// failure for this host too, not only for those who look on. With effects it becomes variables.
//
// It is the one judgement of what can be told: whoever writes the result afterwards meets nothing that it cannot write.
func (r Reporter) Fit(res *result.Result, effects bool) *result.Result {
	err := r.sendable(res, effects)
	if err != nil && res.Has("invocation") { // only some views ask for it, and no view decides how a task came out
		res = bare(res)
		err = r.sendable(res, effects)
	}
	if err != nil {
		return inPlaceOf(res, "the result cannot be sent to the controller: "+err.Error())
	}
	size := r.sent(res, effects)
	for keep := wire.MaxEvent / 4; size > wire.MaxEvent && keep >= 1<<10; keep /= 2 {
		short := shorten(res, keep)
		if short == res && keep < 1<<20 {
			break // it is not the output
		}
		if r.sent(short, effects) <= wire.MaxEvent {
			return short
		}
	}
	if size <= wire.MaxEvent {
		return res
	}
	return inPlaceOf(res, fmt.Sprintf("the result has %d MB: more than %d MB cannot be sent to the controller", size>>20,
		wire.MaxEvent>>20))
}

// bare returns a result without its invocation.
func bare(res *result.Result) *result.Result {
	out := *res
	out.Dict = res.Dict.Copy()
	out.Delete(value.Str("invocation"))
	return &out
}

// sendable returns why the report of a result, or what is made of it beside that, cannot be encoded.
func (r Reporter) sendable(res *result.Result, effects bool) error {
	if err := value.Showable(res.Whole()); err != nil || !effects {
		return err
	}
	if r.Registered || r.Rescued && res.Status() == result.Failed {
		return value.Sendable(res.Whole())
	}
	for _, item := range res.Each() {
		if v, ok := item.Get("ansible_facts"); ok {
			if err := value.Sendable(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// inPlaceOf returns the failure that counts in place of a result.
func inPlaceOf(res *result.Result, why string) *result.Result {
	out := result.New()
	out.Set("failed", value.Bool(true))
	out.Set("msg", value.UnsafeStr(why))
	for _, name := range []string{"changed", "rc"} {
		if v, ok := res.Get(name); ok {
			out.Set(name, v)
		}
	}
	out.NoLog = res.NoLog
	return out
}

// eventFrame is room for what else is in an event.
const eventFrame = 64 << 10

// sent is at most how many bytes a result takes in an event: as it is shown, and what becomes of it beside that.
func (r Reporter) sent(res *result.Result, effects bool) int {
	n, status := eventFrame, res.Status()
	if !r.NoLog && !res.NoLog.On() {
		n += r.shortened(res, status).Size()
	}
	if !effects {
		return n
	}
	if r.Registered {
		n += value.ShortSize(res.Clean())
	}
	if status == result.Failed && r.Rescued {
		n += res.Size()
	}
	for _, item := range res.Each() {
		if v, ok := item.Get("ansible_facts"); ok {
			n += value.ShortSize(v)
		}
	}
	return n
}

// shorten returns a result whose outputs, those of loop items included, have at most keep bytes each. It says
// what was left out; a result that loses nothing comes back as it is.
func shorten(res *result.Result, keep int) *result.Result {
	d, left := shortenDict(res.Dict, keep)
	if left == 0 {
		return res
	}
	warnings := value.NewList()
	if v, ok := res.Get("warnings"); ok {
		if l, ok := v.(*value.List); ok {
			warnings.Items = append(warnings.Items, l.Items...)
		}
	}
	text := fmt.Sprintf("the output was too large to be sent to the controller: %d bytes at the end were left out", left)
	warnings.Items = append(warnings.Items, value.UnsafeStr(text))
	d.Set("warnings", warnings)
	out := *res
	out.Dict, out.Items = d, nil
	for i, item := range out.Listed() {
		if res.Items != nil {
			short := *res.Items[i]
			short.Dict, _ = item.(*value.Dict)
			out.Items = append(out.Items, &short)
		}
	}
	return &out
}

func shortenDict(d *value.Dict, keep int) (out *value.Dict, left int) {
	out = d.Copy()
	for _, stream := range []string{"stdout", "stderr"} {
		v, _ := d.Get(stream)
		text, ok := value.Text(v)
		if !ok || len(text) <= keep {
			continue
		}
		left += len(text) - keep
		short := value.UnsafeStr(strings.Clone(strings.ToValidUTF8(text[:keep], "")))
		out.Set(stream, short)
		if d.Has(stream + "_lines") {
			out.Set(stream+"_lines", value.NewLines(short))
		}
	}
	v, _ := d.Get("results")
	items, ok := v.(*value.List)
	if !ok {
		return out, left
	}
	l := value.NewList()
	for _, item := range items.Items {
		if d, ok := item.(*value.Dict); ok {
			short, n := shortenDict(d, keep)
			item, left = short, left+n
		}
		l.Items = append(l.Items, item)
	}
	out.Set("results", l)
	return out, left
}
