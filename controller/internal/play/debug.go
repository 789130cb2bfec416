package play

import (
	"context"
	"errors"

	"hark/agent/wire"
	"hark/controller/internal/debugger"
	"hark/playbook/plan"
)

// debug shows how a step came out on a host and lets the user look into it. The screen is the user's alone meanwhile. To quit
// ends the run for all.
func (b *batchRun) debug(ctx context.Context, step plan.ID, out *wire.Outcome, c *debugger.Case) (debugger.Verdict, error) {
	if err := b.aside(ctx, func() {
		b.catchUp()
		b.order.Halt(wire.Event{Host: c.Host, Step: step, Outcome: out})
	}); err != nil {
		return debugger.Verdict{}, err
	}
	v, err := debugger.Talk(ctx, b.r.in.Prompt, c)
	if errors.Is(err, debugger.ErrQuit) {
		b.breakOff(c.Host, step, ErrQuit)
		return v, err
	}
	return v, errors.Join(err, b.aside(ctx, b.order.Resume))
}

// aside has the goroutine of run do something, and waits for it.
func (b *batchRun) aside(ctx context.Context, do func()) error {
	done := make(chan struct{})
	select {
	case b.asides <- func() { do(); close(done) }:
		<-done
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-b.r.stopped:
		return errors.New("the run is over")
	}
}
