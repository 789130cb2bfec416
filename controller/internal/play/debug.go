package play

import (
	"context"
	"errors"

	"hark/agent/wire"
	"hark/controller/internal/debugger"
	"hark/controller/internal/view"
	"hark/playbook/plan"
)

// debug shows how a step came out on a host and lets the user look into it. The screen is the user's alone meanwhile. To quit
// ends the run for all.
func (b *batchRun) debug(ctx context.Context, step plan.ID, out *wire.Outcome, c *debugger.Case) (debugger.Verdict, error) {
	if err := b.aside(ctx, func() {
		b.catchUp()
		b.order.halt(wire.Event{Host: c.Host, Step: step, Outcome: out})
	}); err != nil {
		return debugger.Verdict{}, err
	}
	v, err := debugger.Talk(ctx, b.r.in.Prompt, c)
	if errors.Is(err, debugger.ErrQuit) {
		b.breakOff(c.Host, step, ErrQuit)
		return v, err
	}
	return v, errors.Join(err, b.aside(ctx, b.order.resume))
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

// halt shows a result that may not be the last of its step, whoever's turn it is, and stops the screen there.
func (o *order) halt(e wire.Event) {
	l := o.by[e.Host]
	if l == nil {
		return
	}
	e.Outcome = visible(e.Outcome)
	l.pass()
	if o.step != e.Step {
		o.turnTo(e.Step)
	}
	o.showStep(l)
	o.redone(l)
	l.halted = e.Outcome
	o.view.Done(view.Result{Task: o.banner(e), Host: e.Host, Outcome: e.Outcome, Start: l.start, End: o.now()})
	o.paused = true
}

// resume goes on with what has come meanwhile.
func (o *order) resume() {
	o.paused = false
	o.moveFront()
	o.flush()
}

// redone takes a result that halt has shown out of the count: the step was done anew. Like Ansible it takes an ok of the host's away
// with it, also when the result was none.
func (o *order) redone(l *lane) {
	if was := l.halted; was != nil && was.Status != wire.OK && was.Status != wire.Changed {
		c := o.recap.of(l.host)
		c.OK = max(0, c.OK-1)
	}
	l.halted = nil
}
