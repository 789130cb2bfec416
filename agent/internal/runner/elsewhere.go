package runner

import (
	"context"
	"encoding/json"
	"time"

	"hark/agent/internal/call"
	"hark/agent/wire"
	"hark/modules/py/value"
)

// elsewhere has the controller run the call on the host that the task is delegated to.
func (x *execution) elsewhere(ctx context.Context, inv call.Invocation, env *call.Env) (*value.Dict, bool, error) {
	c := inv.Wire()
	awaited := c.Async > 0 && c.Poll > 0
	if awaited {
		c.Poll = 0
	}
	var res *value.Dict
	var final bool
	var err error
	if awaited && x.e.r.job != "" {
		res = value.NewDict()
		res.Set("ansible_job_id", value.Str(x.e.r.job))
		res.Set("started", value.Int(1))
		res.Set("finished", value.Int(0))
	} else {
		res, final, err = x.sendCall(ctx, c)
	}
	if awaited && err == nil && !final {
		res, final, err = x.awaitElsewhere(ctx, c, res)
	}
	if err != nil || final {
		return res, final, err
	}
	addWarnings(res, env.Warnings())
	return x.hostResult(ctx, res, inv), false, nil
}

// sendCall puts a call to the other host and decodes its result. A final result came of no module.
func (x *execution) sendCall(ctx context.Context, c wire.Call) (res *value.Dict, final bool, err error) {
	x.e.r.line.settle("")
	var a wire.Answer
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
		return nil, false, x.e.r.line.lose(ctx, err)
	case a.ErrKind == "unreachable":
		return unreachableFor(a.Err), true, nil
	case a.Err != "":
		return failure("%s", a.Err), true, nil
	}
	v, err := value.Decode(a.Result, value.KindUnsafe)
	res, ok := v.(*value.Dict)
	if err != nil || !ok {
		return failure("internal error: %s answered with something that is not a result", x.target()), true, nil
	}
	return res, false, nil
}

// awaitElsewhere waits for a job that the other host has started, and tells of it as of one of this host.
func (x *execution) awaitElsewhere(ctx context.Context, c wire.Call, started *value.Dict) (*value.Dict, bool, error) {
	id := jobOf(started)
	if failed, _ := started.Get("failed"); id == "" || value.IsTrue(failed) {
		return started, false, nil
	}
	x.progress(started, false)
	c.Await, c.Args, c.Files = id, json.RawMessage("{}"), nil
	res, final, err := x.sendCall(ctx, c)
	if err == nil && !final {
		x.progress(res, true)
	}
	return res, final, err
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

func jobOf(res *value.Dict) string {
	id, _ := res.Get("ansible_job_id")
	text, _ := value.Text(id)
	return text
}

// addWarnings adds what the stage in the session warned of to a result that came from elsewhere.
func addWarnings(res *value.Dict, given []string) {
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
func unreachableFor(reason string) *value.Dict {
	res := value.NewDict()
	res.Set("unreachable", value.Bool(true))
	res.Set("msg", value.UnsafeStr(reason))
	return res
}
