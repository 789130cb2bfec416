// Package report makes what a session reports from results: outcomes, without what nobody may see and what no
// view shows, and no larger than a message can be. It judges no results.
package report

import (
	"encoding/json"
	"slices"

	"hark/agent/wire"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/plan"
)

// Reporter reports the results of one task, or of one item of its loop.
type Reporter struct {
	Play *plan.Play
	// NoLog and Delegated are the keywords no_log and delegate_to of the execution; Diff is that of the task.
	NoLog     bool
	Delegated string
	Diff      bool
	// Registered: the result becomes a variable. Rescued: so does a failure.
	Registered, Rescued bool
}

// Outcome returns a result as the controller gets it, without effects.
func (r Reporter) Outcome(res *result.Result) *wire.Outcome { return r.outcome(res, res) }

// Brief returns an outcome without what no view would show of it; see plan.Play.
func (r Reporter) Brief(res *result.Result) *wire.Outcome {
	return r.outcome(res, r.shortened(res, res.Status()))
}

// outcome returns the outcome of a result that is shown.
func (r Reporter) outcome(res, seen *result.Result) *wire.Outcome {
	o := &wire.Outcome{Status: res.Status(), NoLog: r.NoLog || res.NoLog.On(), Delegated: r.Delegated}
	if o.NoLog {
		o.Result = value.PlainJSON(r.hidden(res).Whole())
		return o
	}
	o.Result = shown(seen, r.Play.Verbosity >= 3 || r.Play.Invocation)
	if res.OfItem.On() {
		loopVar, _ := res.Get("ansible_loop_var")
		if item, ok := res.GetKey(loopVar); ok {
			o.Item = value.PlainJSON(item)
		}
		if res.Label != nil {
			o.Label, _ = value.ToStr(res.Label)
		}
	}
	attempts, _ := res.Get("attempts")
	if n, ok := value.AsInt(attempts); ok {
		o.Attempts = int(n)
	}
	return o
}

// hidden returns what is left of a result that nobody may see. A loop keeps its items: views recognize it by them.
func (r Reporter) hidden(res *result.Result) *result.Result {
	out := res.Censored()
	if len(res.Items) > 0 && r.Play.Level.Has(dialect.NoLogLoops) {
		out.Items = []*result.Result{}
		for _, item := range res.Items {
			out.Items = append(out.Items, item.Censored())
		}
	}
	return out
}

// shown returns a result for the views. Nobody sees invocation before -vvv, so it does not travel.
func shown(res *result.Result, invocation bool) json.RawMessage {
	out := res.Whole()
	if invocation {
		return value.PlainJSON(out)
	}
	out.Delete(value.Str("invocation"))
	listed, _ := out.Get("results")
	l, ok := listed.(*value.List)
	if !ok {
		return value.PlainJSON(out)
	}
	bare := l
	if res.Items == nil { // they are the module's own
		bare = value.NewList(slices.Clone(l.Items)...)
		out.Set("results", bare)
	}
	for i, item := range l.Items {
		if d, ok := item.(*value.Dict); ok && d.Has("invocation") {
			if res.Items == nil {
				d = d.Copy()
			}
			d.Delete(value.Str("invocation"))
			bare.Items[i] = d
		}
	}
	return value.PlainJSON(out)
}

// shortened returns a result of the given status as Brief has it.
func (r Reporter) shortened(res *result.Result, s result.Status) *result.Result {
	p := r.Play
	if !p.Brief || s == result.Unreachable {
		return res
	}
	state := p.Verbosity == 0 && (s == result.OK || s == result.Changed) && !res.Verbose.On()
	if !state && (len(res.Items) == 0 || p.Diff) {
		return res
	}
	out := *res
	out.Dict = value.NewDict()
	for i := range res.Len() {
		k, v := res.Kept(i)
		if name, ok := value.Text(k); !state || ok && r.stated(name) {
			out.SetKey(k, v)
		}
	}
	if len(res.Items) > 0 && !p.Diff {
		out.Items = []*result.Result{} // that there are some is what counts, and each was told
		out.Set("results", value.NewList())
	}
	return &out
}

// stated reports whether a member of a result says how it came out: views that show the state alone read no others.
func (r Reporter) stated(name string) bool {
	switch name {
	case "changed", "failed", "skipped", "rc", "attempts", "retries", "warnings", "deprecations", "exception", "results",
		"censored", "ansible_loop_var", "item",
		"ansible_job_id", "started", "finished", "ansible_stats":
		return true
	case "diff":
		return r.Diff || r.Play.Diff
	}
	return result.Internal(name)
}
