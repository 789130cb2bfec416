package runner

import (
	"context"
	"fmt"
	"time"

	"hark/agent/wire"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// Session is one host of one run. A session runs one plan at a time. The variables of a play come with its Start.
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
	if cfg.Clock == nil {
		cfg.Clock = cfg.Now
	}
	if cfg.Sleep == nil {
		cfg.Sleep = sleep
	}
	return &Session{cfg: cfg}
}

// Run walks the plan to its end and emits Ended. A failed host is not an error: an error says that the run itself broke
// (the controller is gone, ctx is done). Ended was emitted then too, with the state Failed and the error as its text.
func (s *Session) Run(ctx context.Context, p *plan.Plan, start wire.Start) error {
	if err := known(p); err != nil {
		s.cfg.Emit(wire.Event{Run: start.Run, Play: p.Play.ID, Host: start.Host, Kind: wire.Ended, State: wire.Failed,
			Text: err.Error(), Time: s.cfg.Now()})
		return err
	}
	r := newWalk(s.cfg, p, start)
	f, err := r.plan(ctx)
	r.line.settle("")
	ended := wire.Event{Kind: wire.Ended, State: f.hostState()}
	if err != nil {
		ended.State, ended.Text = wire.Failed, err.Error()
	}
	r.line.emit(ended)
	return err
}

// known returns an error for a plan of a later hark, or of one that is too old.
func known(p *plan.Plan) error {
	switch {
	case p.Version > plan.Version:
		return fmt.Errorf("cannot run a plan of version %d: this agent knows version %d; upgrade hark-agent", p.Version,
			plan.Version)
	case p.Version < plan.VersionOf(plan.Level214):
		return fmt.Errorf("cannot run a plan of version %d: this agent knows version %d; upgrade hark, the controller",
			p.Version, plan.Version)
	case !p.Play.Level.Known():
		return fmt.Errorf("cannot run a plan of language level %s: this agent knows no level after %s; upgrade hark-agent",
			p.Play.Level, plan.Levels()[len(plan.Levels())-1])
	}
	return nil
}

// walk is one walk through a plan.
type walk struct {
	*playState
	doc      *plan.Plan
	handlers *handlers
	at       position
	passed   passedRoles
	resume   resumption
	cancel   cancellation
	// notified are the handlers that the current step of a Single has notified.
	notified notified
}

func newWalk(cfg Config, p *plan.Plan, start wire.Start) *walk {
	r := &walk{playState: newPlayState(cfg, p, start), doc: p, resume: resumption{start.Resume},
		passed: passedRoles{ran: map[string]bool{}, completed: map[string]bool{}}}
	r.line.at = &r.at
	r.at.failsAsTask = r.play.Level.Has(dialect.FlushFailures)
	r.cancel = cancellation{line: r.line, by: cfg.Cancelled}
	r.handlers = &handlers{roles: r.roles, line: r.line, render: func(ctx context.Context, s *plan.Step) (string, error) {
		return r.newEval(s, s.ID, nil).tpl.Text(ctx, s.NameText())
	}}
	r.handlers.late = p.Play.Level.Has(dialect.HandlersAtFlush)
	r.join(p.Roles, p.Handlers, p.Blocks)
	return r
}

// join adds the roles and handlers of a plan or a fragment.
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

// hostState returns the state of a host whose walk has ended with the flow.
func (f flow) hostState() wire.HostState {
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
