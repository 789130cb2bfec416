package play

import (
	"context"
	"errors"

	"hark/agent/wire"
	"hark/controller/internal/ui/debugger"
	"hark/playbook/plan"
)

// debug shows how a step came out on a host and lets the user look into it. The screen is the user's alone meanwhile.
// To quit ends the run for all.
func (b *batchRun) debug(ctx context.Context, step plan.ID, out *wire.Outcome,
	c *debugger.Case) (debugger.Verdict, error) {
	if err := b.queue.aside(ctx, func() {
		b.catchUp()
		b.order.Halt(wire.Event{Host: c.Host, Step: step, Outcome: out})
	}); err != nil {
		return debugger.Verdict{}, err
	}
	v, err := debugger.Talk(ctx, b.r.in.Prompt, c)
	if errors.Is(err, debugger.ErrQuit) {
		b.queue.breakOff(c.Host, step, ErrQuit)
		return v, err
	}
	return v, errors.Join(err, b.queue.aside(ctx, b.order.Resume))
}
