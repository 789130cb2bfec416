package runner

import (
	"context"
	"errors"
	"sync"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// controllerLink is a session's conversation with its controller: events in order, and questions. A Done waits until
// the host's next step is known, or until another event follows.
type controllerLink struct {
	cfg  Config // Own, Emit, Ask and Now of it
	run  string
	play string
	host string
	// beyond notes that the current step needs what only the controller has.
	beyond func() error

	// at is the position of the walk, which keeps the place of steps that are done; nil without a walk.
	at *position

	// pending is a Done whose Next is not known yet; told is the gate that the last event named.
	pending  *wire.Event
	lastGate plan.ID

	// mu serialises events: templates that a module renders in its own goroutines may warn and ask.
	mu sync.Mutex

	// guarded by mu: doing is the step that was reported as begun and not yet as done; lost is the error that broke the
	// run, kept because templates wrap errors.
	doing plan.ID
	lost  error
}

// emit completes an event and sends it, after the Done that waited for its Next.
func (l *controllerLink) emit(e wire.Event) {
	l.settle("")
	l.send(e)
}

func (l *controllerLink) send(e wire.Event) {
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

// settle sends the waiting Done with the host's next step.
func (l *controllerLink) settle(next plan.ID) {
	if l.pending == nil {
		return
	}
	e := *l.pending
	l.pending = nil
	e.Next = next
	l.lastGate = next
	l.send(e)
}

// done keeps a Done until the host's next step is known.
func (l *controllerLink) done(e wire.Event) {
	l.settle("")
	if l.at != nil {
		l.at.keep(e.Outcome)
	}
	e.Kind = wire.Done
	e.Time = l.cfg.Now()
	l.pending = &e
}

func (l *controllerLink) warn(step plan.ID, text string) {
	l.emit(wire.Event{Kind: wire.Warning, Step: step, Text: text})
}

// ask completes a question and sends it, after the events before it.
func (l *controllerLink) ask(ctx context.Context, a wire.Ask) (wire.Answer, error) {
	l.settle("")
	out, err := l.askInBackground(ctx, a)
	return out, l.lose(ctx, err)
}

// lose notes that a question has failed because the controller is gone, unless only the asking step's own time was
// over.
func (l *controllerLink) lose(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil && !errors.Is(err, errBeyond) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lost = err
	}
	return err
}

// askInBackground sends a question of something that runs beside the session, such as a job. It settles nothing, and a
// controller that is gone does not end the session.
func (l *controllerLink) askInBackground(ctx context.Context, a wire.Ask) (wire.Answer, error) {
	if !l.cfg.Own && !travels(a.Kind) {
		return wire.Answer{}, l.beyond()
	}
	a.Run, a.Play, a.Host = l.run, l.play, l.host
	return l.cfg.Ask(ctx, a)
}

// broken returns why the run cannot go on: the controller is gone. A step whose own time is over does not count.
func (l *controllerLink) broken() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}
