package play

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"hark/agent/evaluate"
	"hark/agent/wire"
	"hark/controller/internal/play/handover"
	"hark/playbook/plan"
)

// doStep evaluates a step for a host that has handed it over, and runs it. Its result is reported as events of the
// controller's own before the host hears of it.
func (b *batchRun) doStep(ctx context.Context, ask wire.Ask) (*wire.Did, error) {
	h := b.tasks.Of(ask.Host)
	if h == nil {
		return nil, fmt.Errorf("host %q has no steps to hand over", ask.Host)
	}
	h.Lock()
	defer h.Unlock()
	var refused error
	if err := b.queue.aside(ctx, func() { refused = b.turn(ask.Host, h, ask.Step) }); err != nil || refused != nil {
		return nil, cmp.Or(refused, err)
	}
	at := plan.Stand{Step: b.steps.Step(ask.Step), ID: ask.Step, Failing: ask.Failing}
	var lasting bool
	at.Rescuing, lasting = b.steps.Handled(ask.Step)
	within, end := b.within(ctx, lasting)
	defer end()
	return b.executor.Do(ctx, within, h, at)
}

// evaluators make what does the controller's steps for a host: the code of the sessions, over one that begins as the
// host's would in this process.
func evaluators(b *batchRun) func(host string, now wire.HostVars) handover.Evaluator {
	return func(host string, now wire.HostVars) handover.Evaluator {
		start := b.starts.OfExecutor(host)
		start.Vars = now
		return evaluate.New(evaluate.Config{
			Modules: b.r.in.Modules, Engine: b.r.in.Templates.Engine,
			Ask: func(ctx context.Context, a wire.Ask) (wire.Answer, error) {
				if err := ctx.Err(); err != nil {
					return wire.Answer{}, err
				}
				return b.r.answers.Answer(ctx, a), nil
			},
			Emit: func(e wire.Event) {
				e.Own, e.Time = true, time.Now()
				_ = b.queue.aside(b.ends, func() { b.handle(e) }) // nobody listens any more when the batch is over
			},
		}, b.plan, start)
	}
}

// turn notes that it is a host's turn to be at a step; the error is why it is not. A host says where it stands; where
// it may stand, and that it comes to no step twice, the controller knows.
func (b *batchRun) turn(host string, h *handover.Task, id plan.ID) error {
	if err := b.executor.Pending(h, id); err != nil {
		return err
	}
	s, p := b.steps.Step(id), &b.plan.Play
	gated := p.Gated && (s.Gate || p.AllGated) && !(s.Implicit && s.Kind == plan.Meta)
	switch {
	case !b.machine.Live(host):
		return fmt.Errorf("host %q takes no part any more", host)
	case gated && !b.machine.LetGo(host, id):
		return fmt.Errorf("it is not the turn of host %q at step %s", host, id)
	case b.r.cause() == nil && b.lost.faulty(host, b.tracker.Comes(host, id)):
		return fmt.Errorf("host %q has left out a step before %s", host, id)
	}
	h.Take(id)
	return nil
}

// within returns the context in which a step is done: that of the question, and of the batch; cancelling the run ends
// steps but those of always sections.
func (b *batchRun) within(ctx context.Context, lasting bool) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stops := []func() bool{context.AfterFunc(b.ends, cancel)}
	if !lasting {
		stops = append(stops, context.AfterFunc(b.soft, cancel))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}
