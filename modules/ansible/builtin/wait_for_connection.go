package builtin

import (
	"context"
	"time"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/action"
	"hark/modules/py/value"
)

// WaitForConnection waits until the host can be used.
var WaitForConnection = modules.Define("ansible.builtin.wait_for_connection",
	"Waits until remote system is reachable/usable.", runWaitForConnection, modules.Is(modules.IsAction),
	modules.UsesItsHost,
	modules.With(func(m *modules.Module) {
		m.AnyArgs = true
		m.Examples = "- ansible.builtin.wait_for_connection: {delay: 5}\n"
		m.Returns = []modules.Return{{Name: "elapsed", Type: "int", When: "always", Doc: "Seconds waited."}}
	}))

type waitForConnectionArgs struct {
	ConnectTimeout value.Value `arg:"connect_timeout" doc:"Seconds for one attempt."`
	Delay          value.Value `arg:"delay" doc:"Seconds to wait first."`
	Sleep          value.Value `arg:"sleep" doc:"Seconds between attempts."`
	Timeout        value.Value `arg:"timeout" doc:"Seconds for all."`
	Extra          *value.Dict `arg:"*"`
}

func runWaitForConnection(ctx context.Context, env *modules.Env, a waitForConnectionArgs) (modules.Result, error) {
	if env.Check {
		return modules.Result{Skipped: true}, nil
	}
	if err := action.ValidOptions(env, a.Extra); err != nil {
		return modules.Result{}, err
	}
	var d waitDurations
	for _, x := range []struct {
		given value.Value
		into  *time.Duration
		or    int
	}{{a.ConnectTimeout, new(time.Duration), 0}, {a.Delay, &d.delay, 0}, {a.Sleep, &d.sleep, 1},
		{a.Timeout, &d.timeout, 600}} {
		n := x.or
		if x.given != nil {
			var err error
			if n, err = action.Int(x.given); err != nil {
				return modules.Result{}, modules.Raise("%v", err)
			}
		}
		*x.into = time.Duration(n) * time.Second
	}
	return d.wait(ctx, env)
}

// waitDurations are how long to wait for a host: before the first look, between looks, and for all looks.
type waitDurations struct{ delay, sleep, timeout time.Duration }

func (d waitDurations) wait(ctx context.Context, env *modules.Env) (modules.Result, error) {
	start := time.Now()
	if err := pauseFor(ctx, d.delay); err != nil {
		return modules.Result{}, err
	}
	elapsed := func() *value.Dict {
		return value.DictOf("elapsed", int64(time.Since(start).Seconds()), "changed", modules.Here)
	}
	var why value.Value
	for began := time.Now(); time.Since(began) < d.timeout; {
		ok, now, err := env.Asks.Reached(ctx)
		if err != nil {
			return modules.Result{}, err
		}
		if ok {
			return modules.Result{Data: elapsed()}, nil
		}
		why = now
		if err := pauseFor(ctx, d.sleep); err != nil {
			return modules.Result{}, err
		}
	}
	return modules.Result{Failed: true, Msg: "timed out waiting for ping module test: " + modules.Str(value.OrNone(why)),
		Data: elapsed()}, nil
}

func pauseFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
