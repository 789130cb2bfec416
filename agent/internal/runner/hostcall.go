package runner

import (
	"context"
	"errors"
	"fmt"

	"hark/agent/internal/call"
	"hark/modules"
	"hark/modules/py/value"
)

// errSameHost is the error of a "host" ask in a session that runs on the very host.
var errSameHost = errors.New("hark can restart a host only where it sees that before the play begins: " +
	"this task came in with a dynamic include; import it, or put it into the play")

// callHost answers the "host" ask: it runs another module on the task's host, for a session module that runs elsewhere.
func (x *execution) callHost(ctx context.Context, args map[string]any) (map[string]any, error) {
	if !x.delegated() && x.f.connection == "local" {
		return map[string]any{"local": true}, nil
	}
	if !x.away() {
		return nil, errSameHost
	}
	if args == nil {
		return map[string]any{"local": false}, nil
	}
	name, _ := args["module"].(string)
	mod, ok := x.e.r.cfg.Modules.Get(name)
	if !ok {
		return nil, fmt.Errorf("internal error: there is no module %s", name)
	}
	c, err := x.wireCall(ctx, mod)
	if err != nil {
		return nil, err
	}
	c.Name, c.Check, c.Diff, c.Async, c.Invocation = mod.Name, false, false, 0, false
	params, _ := value.FromGo(args["args"], value.KindUnsafe).(*value.Dict)
	env := &call.Env{Env: &modules.Env{}}
	res, err := x.elsewhere(ctx, call.Invocation{Module: mod, Call: c, Args: params, Env: env.Env}, env)
	if err != nil {
		return nil, err
	}
	out, err := value.ToGo(res.Dict)
	m, _ := out.(map[string]any)
	return m, err
}

// reached answers the "reached" ask: whether the task's host can be used now. A session on the host itself has reached it.
func (x *execution) reached(ctx context.Context) (map[string]any, error) {
	if !x.away() {
		return map[string]any{"ok": true}, nil
	}
	res, err := x.callHost(ctx, map[string]any{"module": modules.Ping, "args": map[string]any{}})
	if err != nil {
		return nil, err
	}
	return map[string]any{"ok": res["unreachable"] != true, "msg": res["msg"]}, nil
}
