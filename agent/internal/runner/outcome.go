package runner

import (
	"strings"

	"hark/agent/internal/result"
	"hark/agent/wire"
	"hark/modules/py/value"
)

// outcome is a result as the controller gets it, without effects.
func (t *task) outcome(res *value.Dict, f *fields) *wire.Outcome {
	return t.outcomeOf(res, func(wire.Status) *value.Dict { return res }, f)
}

// brief is an outcome without what no view would show of it; see plan.Play.
func (t *task) brief(res *value.Dict, f *fields) *wire.Outcome {
	return t.outcomeOf(res, func(s wire.Status) *value.Dict { return t.shortened(res, s) }, f)
}

func (t *task) outcomeOf(res *value.Dict, seen func(wire.Status) *value.Dict, f *fields) *wire.Outcome {
	o := &wire.Outcome{Status: result.Status(res), NoLog: f.noLog || result.NoLog.On(res), Delegated: f.delegate}
	if o.NoLog {
		o.Result = result.Censored(res)
		return o
	}
	o.Result = result.Shown(seen(o.Status), t.r.doc.Play.Verbosity >= 3 || t.r.doc.Play.Invocation)
	if result.OfItem.On(res) {
		loopVar, _ := res.Get("ansible_loop_var")
		if item, ok := res.GetKey(loopVar); ok {
			o.Item = result.JSON(item)
		}
		if label := result.ItemLabel.Of(res); label != nil {
			o.Label, _ = value.ToStr(label)
		}
	}
	attempts, _ := res.Get("attempts")
	if n, ok := value.AsInt(attempts); ok {
		o.Attempts = int(n)
	}
	return o
}

// shortened is a result of the given status as brief has it.
func (t *task) shortened(res *value.Dict, s wire.Status) *value.Dict {
	p := &t.r.doc.Play
	if !p.Brief || s == wire.StatusUnreachable {
		return res
	}
	state := p.Verbosity == 0 && (s == wire.OK || s == wire.Changed) && !result.Verbose.On(res)
	out := value.NewDict()
	for i := range res.Len() {
		k, v := res.Kept(i)
		if name, ok := value.Text(k); !state || ok && t.stated(name) {
			out.SetKey(k, v)
		}
	}
	if t.loop && !result.OfItem.On(res) && !p.Diff && len(t.resultItems(res)) > 0 {
		out.Set("results", value.NewList())
	}
	return out
}

// stated tells the members of a result that say how it came out: views that show the state alone read no others.
func (t *task) stated(name string) bool {
	switch name {
	case "changed", "failed", "skipped", "rc", "attempts", "retries", "warnings", "deprecations", "exception", "results", "censored", "ansible_loop_var", "item",
		"ansible_job_id", "started", "finished", "ansible_stats":
		return true
	case "diff":
		return t.f.diff || t.r.doc.Play.Diff
	}
	return strings.HasPrefix(name, "_ansible_")
}

// dictOr is the first that is not nil, else an empty one.
func dictOr(first, second *value.Dict) *value.Dict {
	switch {
	case first != nil:
		return first
	case second != nil:
		return second
	}
	return value.NewDict()
}
