package runner

import (
	"context"
	"encoding/json"
	"time"

	"hark/agent/internal/call"
	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/modules/result"
)

// elsewhere has the controller run the call on the host that the task is delegated to.
func (x *execution) elsewhere(ctx context.Context, inv call.Invocation, env *call.Env) (*result.Result, error) {
	c := inv.Wire()
	awaited := c.Async > 0 && c.Poll > 0
	if awaited {
		c.Poll = 0
	}
	var res *result.Result
	var err error
	if awaited && x.e.r.job != "" {
		res = result.New()
		res.Set("ansible_job_id", value.Str(x.e.r.job))
		res.Set("started", value.Int(1))
		res.Set("finished", value.Int(0))
	} else {
		res, err = x.sendCall(ctx, c)
	}
	if awaited && err == nil && !res.Final {
		res, err = x.awaitElsewhere(ctx, c, res)
	}
	if err != nil || res.Final {
		return res, err
	}
	addWarnings(res, env.Warnings())
	return x.hostResult(ctx, res), nil
}

// sendCall puts a call to the other host and decodes its result. A final result came of no module.
func (x *execution) sendCall(ctx context.Context, c wire.Call) (*result.Result, error) {
	x.e.r.line.settle("")
	var a wire.Answer
	var err error
	ask := func() {
		a, err = x.e.r.line.askBeside(ctx, wire.Ask{Kind: wire.AskDelegate, Step: x.e.id, Name: x.target(), Call: &c})
	}
	if c.Await == "" {
		ask()
	} else {
		x.whileWaiting(ask)
	}
	switch {
	case err != nil:
		return nil, x.e.r.line.lose(ctx, err)
	case a.ErrKind == "unreachable":
		return unreachableFor(a.Err), nil
	case a.Err != "":
		return final(failure("%s", a.Err)), nil
	}
	res := answered(a)
	if res == nil {
		return final(failure("internal error: %s answered with something that is not a result", x.target())), nil
	}
	return res, nil
}

// answered is the result in an answer, nil if it holds something else.
func answered(a wire.Answer) *result.Result {
	v, err := value.Decode(a.Result, value.KindUnsafe)
	d, ok := v.(*value.Dict)
	if err != nil || !ok {
		return nil
	}
	return result.Of(d)
}

// final is a result that came of no call of the module, and is not judged any further.
func final(res *result.Result) *result.Result {
	res.Final = true
	return res
}

// awaitElsewhere waits for a job that the other host has started, and tells of it as of one of this host.
func (x *execution) awaitElsewhere(ctx context.Context, c wire.Call, started *result.Result) (*result.Result, error) {
	id := started.Job()
	if id == "" || started.Failed() {
		return started, nil
	}
	x.progress(started, false)
	c.Await, c.Args, c.Files = id, json.RawMessage("{}"), nil
	res, err := x.sendCall(ctx, c)
	if err == nil && !res.Final {
		x.progress(res, true)
	}
	return res, err
}

// overElsewhere waits until a job of the other host has ended, but not for longer than patience. It is false when it does not know.
func (x *execution) overElsewhere(ctx context.Context, id string, patience time.Duration) bool {
	c := wire.Call{Module: x.e.s.Action, Name: x.e.s.Written, Args: json.RawMessage("{}"), Await: id, Patience: patience}
	a, err := x.e.r.line.askBeside(ctx, wire.Ask{Kind: wire.AskDelegate, Step: x.e.id, Name: x.target(), Call: &c})
	var told struct {
		Over bool `json:"over"`
	}
	return err == nil && a.Err == "" && json.Unmarshal(a.Result, &told) == nil && told.Over
}

// addWarnings adds what the stage in the session warned of to a result that came from elsewhere.
func addWarnings(res *result.Result, given []string) {
	if len(given) == 0 {
		return
	}
	all, _ := value.FromGo(given, value.KindUnsafe).(*value.List)
	if have, ok := res.Get("warnings"); ok {
		if l, ok := have.(*value.List); ok {
			all = value.NewList(append(append([]value.Value{}, l.Items...), all.Items...)...)
		}
	}
	res.Set("warnings", all)
}

// unreachableFor is the result of a call to a host that is not there.
func unreachableFor(reason string) *result.Result {
	res := final(result.New())
	res.Set("unreachable", value.Bool(true))
	res.Set("msg", value.UnsafeStr(reason))
	return res
}
