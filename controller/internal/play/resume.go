package play

import (
	"context"
	"errors"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/link"
	"hark/controller/internal/play/steps"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// returnLimit is how long an agent that was lost in a step with ignore_unreachable may take to come back.
const returnLimit = 15 * time.Second

// returnPause is how long is waited before it is looked for again.
const returnPause = 300 * time.Millisecond

// pardoned is the step in hand of a host, if it may be lost there and goes on behind it (ignore_unreachable, as it is written).
func (b *batchRun) pardoned(host string) *plan.Step {
	s := b.steps.Step(b.current[host])
	if s == nil || !b.doing[host] || !steps.Constant(s.IgnoreUnreachable, false) {
		return nil
	}
	return s
}

// goOn opens a new session for a host that was lost in a step, behind that step. An agent that is not back by then is unreachable there.
func (b *batchRun) goOn(host, reason string, s *plan.Step) {
	result := map[string]any{"changed": false, "msg": reason, "unreachable": true}
	e := b.madeUp(host, wire.StatusUnreachable, result)
	e.Outcome.Ignored = true
	if s.Register != "" {
		d := value.NewDict()
		d.Set(s.Register, value.FromGo(result, value.KindUnsafe))
		e.Outcome.Effects = []wire.Effect{{Layer: "set", Vars: plan.Dict{Dict: d}}}
	}
	b.handle(e)
	b.continueBehind(host, s)
}

// continueBehind opens a new session for a host behind a step. It hears which handlers still have to run.
func (b *batchRun) continueBehind(host string, s *plan.Step) {
	next := steps.Following(b.plan.Blocks, s.ID)
	if next == "" {
		b.handle(wire.Event{Own: true, Run: b.r.in.Run, Play: b.plan.Play.ID, Host: host, Kind: wire.Ended, Fate: wire.Finished})
		return
	}
	b.resumed[host], b.current[host] = next, next
	b.pending = append(b.pending, host)
}

// open opens a session. The agent of a host that was lost may need a while to come back.
func (b *batchRun) open(ctx context.Context, s wire.Start, returns bool) error {
	for until := time.Now().Add(returnLimit); ; {
		err := b.r.link.Start(ctx, s)
		var absent *link.AbsentError
		if err == nil || !returns || !errors.As(err, &absent) || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(returnPause):
		}
	}
}
