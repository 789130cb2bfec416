package runner

import (
	"context"
	"encoding/json"
	"time"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/modules/result"
)

// remoteCaller has the controller run calls of a task on another host.
type remoteCaller struct {
	runTarget
	turn *turn // of an item that runs together with others, else nil
	// tell reports a job that is awaited, and then, with last, its end.
	tell func(res *result.Result, last bool)
}

// run makes the call. A job whose end is awaited is started and reported like one of this host.
func (a remoteCaller) run(ctx context.Context, c wire.Call) (*result.Result, error) {
	if c.Async == 0 || c.Poll == 0 {
		return a.send(ctx, c)
	}
	c.Poll = 0
	if a.e.g.job != "" {
		res := result.New()
		res.Set("ansible_job_id", value.Str(a.e.g.job))
		res.Set("started", value.Int(1))
		res.Set("finished", value.Int(0))
		return a.await(ctx, c, res)
	}
	res, err := a.send(ctx, c)
	if err != nil || res.Final {
		return res, err
	}
	return a.await(ctx, c, res)
}

// send sends a call to the other host and decodes its result.
func (a remoteCaller) send(ctx context.Context, c wire.Call) (*result.Result, error) {
	a.e.g.line.settle("")
	var ans wire.Answer
	var err error
	ask := func() {
		ans, err = a.e.g.line.askInBackground(ctx, wire.Ask{Kind: wire.AskDelegate, Step: a.e.id, Name: a.target(), Call: &c})
	}
	if c.Await == "" {
		ask()
	} else {
		a.turn.passWhile(ask)
	}
	switch {
	case err != nil:
		return nil, a.e.g.line.lose(ctx, err)
	case ans.ErrKind == "unreachable":
		return unreachableOn(ans.Err), nil
	case ans.Err != "":
		return final(failure("%s", ans.Err)), nil
	}
	res := answered(ans)
	if res == nil {
		return final(failure("internal error: %s answered with something that is not a result", a.target())), nil
	}
	return res, nil
}

// await waits for a job that the other host has started.
func (a remoteCaller) await(ctx context.Context, c wire.Call, started *result.Result) (*result.Result, error) {
	id := started.Job()
	if id == "" || started.Failed() {
		return started, nil
	}
	a.tell(started, false)
	c.Await, c.Args, c.Files = id, json.RawMessage("{}"), nil
	res, err := a.send(ctx, c)
	if err == nil && !res.Final {
		a.tell(res, true)
	}
	return res, err
}

// over waits until a job of the other host has ended, but no longer than patience. It returns false if it does not
// know.
func (a remoteCaller) over(ctx context.Context, id string, patience time.Duration) bool {
	c := wire.Call{Module: a.e.s.Action, Name: a.e.s.Written, Args: json.RawMessage("{}"), Await: id, Patience: patience}
	ans, err := a.e.g.line.askInBackground(ctx, wire.Ask{Kind: wire.AskDelegate, Step: a.e.id, Name: a.target(), Call: &c})
	var told struct {
		Over bool `json:"over"`
	}
	return err == nil && ans.Err == "" && json.Unmarshal(ans.Result, &told) == nil && told.Over
}

// answered returns the result in an answer, nil if it holds something else.
func answered(a wire.Answer) *result.Result {
	v, err := value.Decode(a.Result, value.KindUnsafe)
	d, ok := v.(*value.Dict)
	if err != nil || !ok {
		return nil
	}
	return result.Of(d)
}

// final returns a result that no call of the module produced, and that is not judged any further.
func final(res *result.Result) *result.Result {
	res.Final = true
	return res
}

// unreachableOn returns the result of a call to a host that is not there.
func unreachableOn(reason string) *result.Result {
	res := final(result.New())
	res.Set("unreachable", value.Bool(true))
	res.Set("msg", value.UnsafeStr(reason))
	return res
}

// addWarnings adds the warnings of the session's stage to a result from elsewhere.
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
