package runner

import (
	"context"
	"errors"
	"sync"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// line is how a session talks with its controller: what it tells, in order, and what it asks. A Done waits until it
// is known where the host goes next, or something else is told.
type line struct {
	cfg  Config // Own, Emit, Ask and Now of it
	run  string
	play string
	host string
	// beyond notes that the step in hand needs what only the controller has.
	beyond func() error

	// pending is a Done whose Next is not known yet; told is the gate that an event named last.
	pending *wire.Event
	told    plan.ID

	// mu keeps events apart: templates that a module renders in goroutines of its own may warn and ask.
	mu sync.Mutex

	// guarded by mu: doing is the step that was told as begun and not yet as done; lost the error that broke the run,
	// kept because templates wrap errors.
	doing plan.ID
	lost  error
}

// emit completes an event and sends it, after the Done that waited for its Next.
func (l *line) emit(e wire.Event) {
	l.settle("")
	l.send(e)
}

func (l *line) send(e wire.Event) {
	e.Run, e.Play, e.Host = l.run, l.play, l.host
	if e.Time.IsZero() {
		e.Time = l.cfg.Now()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e.Kind {
	case wire.Started:
		l.doing = e.Step
	case wire.Done:
		l.doing = ""
	}
	l.cfg.Emit(e)
}

// settle sends the Done that waits, telling where the host stands now.
func (l *line) settle(next plan.ID) {
	if l.pending == nil {
		return
	}
	e := *l.pending
	l.pending = nil
	e.Next = next
	l.told = next
	l.send(e)
}

// done keeps a Done until it is known where the host goes.
func (l *line) done(e wire.Event) {
	l.settle("")
	e.Kind = wire.Done
	e.Time = l.cfg.Now()
	l.pending = &e
}

func (l *line) warn(step plan.ID, text string) {
	l.emit(wire.Event{Kind: wire.Warning, Step: step, Text: text})
}

// ask completes an ask and puts it. What was emitted before it is on its way first.
func (l *line) ask(ctx context.Context, a wire.Ask) (wire.Answer, error) {
	l.settle("")
	out, err := l.askBeside(ctx, a)
	return out, l.lose(ctx, err)
}

// lose notes that an ask has failed because the controller is gone, unless it was the asking step's own time that was
// over.
func (l *line) lose(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil && !errors.Is(err, errBeyond) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lost = err
	}
	return err
}

// askBeside puts an ask of something that goes on beside the session, a job: it settles nothing, and that the
// controller is gone is not the end of the session.
func (l *line) askBeside(ctx context.Context, a wire.Ask) (wire.Answer, error) {
	if !l.cfg.Own && !travels(a.Kind) {
		return wire.Answer{}, l.beyond()
	}
	a.Run, a.Play, a.Host = l.run, l.play, l.host
	return l.cfg.Ask(ctx, a)
}

// broken is why the run cannot go on: the controller is gone. A step whose own time is over is not meant.
func (l *line) broken() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}
