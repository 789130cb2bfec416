package runner

import (
	"context"
	"fmt"
	"time"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// Session is one host of one run. A session runs one plan at a time; the variables of a play come with its Start.
type Session struct {
	cfg Config
}

// New makes a session.
func New(cfg Config) *Session {
	if cfg.Engine == nil {
		cfg.Engine = templar.NewEngine()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Sleep == nil {
		cfg.Sleep = sleep
	}
	return &Session{cfg: cfg}
}

// Run walks the plan to its end and emits Ended. A failed host is not an error: an error says that the run itself broke
// (the controller is gone, ctx is over); Ended was emitted then too, with the fate Failed and the error as its text.
func (s *Session) Run(ctx context.Context, p *plan.Plan, start wire.Start) error {
	if err := known(p); err != nil {
		s.cfg.Emit(wire.Event{Run: start.Run, Play: p.Play.ID, Host: start.Host, Kind: wire.Ended, Fate: wire.Failed, Text: err.Error(), Time: s.cfg.Now()})
		return err
	}
	r := newWalk(s.cfg, p, start)
	f, err := r.plan(ctx)
	r.line.settle("")
	ended := wire.Event{Kind: wire.Ended, Fate: f.fate()}
	if err != nil {
		ended.Fate, ended.Text = wire.Failed, err.Error()
	}
	r.line.emit(ended)
	return err
}

// known refuses plans that a later hark, or one from long ago, has made.
func known(p *plan.Plan) error {
	switch {
	case p.Version > plan.Version:
		return fmt.Errorf("cannot run a plan of version %d: this agent knows version %d; upgrade hark-agent", p.Version, plan.Version)
	case p.Version < plan.VersionOf(plan.Level214):
		return fmt.Errorf("cannot run a plan of version %d: this agent knows version %d; upgrade hark, the controller", p.Version, plan.Version)
	case !p.Play.Level.Known():
		return fmt.Errorf("cannot run a plan of language level %s: this agent knows no level after %s; upgrade hark-agent", p.Play.Level, plan.Levels()[len(plan.Levels())-1])
	}
	return nil
}

// walk is one plan being walked.
type walk struct {
	*ground
	doc      *plan.Plan
	handlers *handlers
	at       position
	passed   passed
	resume   resumption
	cancel   cancellation
	// notified are the handlers that the step in hand of a Single has notified.
	notified []plan.ID
}

func newWalk(cfg Config, p *plan.Plan, start wire.Start) *walk {
	r := &walk{ground: newGround(cfg, p, start), doc: p, resume: resumption{start.Resume}, passed: passed{ran: map[string]bool{}, completed: map[string]bool{}}}
	r.cancel = cancellation{line: r.line, by: cfg.Cancelled}
	r.handlers = &handlers{roles: r.roles, line: r.line, render: func(ctx context.Context, s *plan.Step) (string, error) {
		return r.newEval(s, s.ID, nil).tpl.Text(ctx, s.NameText())
	}}
	r.join(p.Roles, p.Handlers, p.Blocks)
	return r
}

// join takes in what a plan or a fragment brings beside its steps.
func (r *walk) join(roles map[string]*plan.Role, handlers []plan.Handler, blocks []plan.Block) {
	for key, role := range roles {
		r.roles[key] = role
	}
	for i := range handlers {
		r.handlers.add(handlers[i])
		r.live = r.live || r.changesInventory(handlers[i].Step)
	}
	plan.Walk(blocks, func(s *plan.Step) { r.live = r.live || r.changesInventory(s) })
}

// fate is the standing of a host whose walk has ended with the flow.
func (f flow) fate() wire.Fate {
	switch f {
	case unreachable:
		return wire.Unreachable
	case failed, handlerFailed, leaveFailed:
		return wire.Failed
	case abandoned:
		return wire.Failed
	case leave:
		return wire.EndedEarly
	}
	return wire.Finished
}

func effect(layer vars.Layer, d *value.Dict) wire.Effect {
	return wire.Effect{Layer: string(layer), Vars: plan.Dict{Dict: d}}
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
