package runner

import (
	"context"
	"fmt"
	"time"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/modules/result"
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
	if p.Version > plan.Version || p.Version < plan.VersionOf(plan.Level214) {
		which := "hark-agent"
		if p.Version < plan.Version {
			which = "hark, the controller"
		}
		err := fmt.Errorf("cannot run a plan of version %d: this agent knows version %d; upgrade %s", p.Version, plan.Version, which)
		s.cfg.Emit(wire.Event{Run: start.Run, Play: p.Play.ID, Host: start.Host, Kind: wire.Ended, Fate: wire.Failed, Text: err.Error(), Time: s.cfg.Now()})
		return err
	}
	r := newWalk(s.cfg, p, start)
	f, err := r.plan(ctx)
	r.line.settle("")
	ended := wire.Event{Kind: wire.Ended, Fate: r.fateOf(f)}
	if err != nil {
		ended.Fate, ended.Text = wire.Failed, err.Error()
	}
	r.line.emit(ended)
	return err
}

// walk is one plan being walked.
type walk struct {
	cfg   Config
	doc   *plan.Plan
	start wire.Start
	line  *line
	blobs *blobs
	late  *lateVars

	vars     *vars.Host
	shared   *vars.Shared
	roles    map[string]*plan.Role
	handlers *handlers
	// ran and completed are about roles, by Identity: a step of it was not skipped; its end was passed.
	ran, completed map[string]bool
	// ending is the Identity of the role whose remaining steps are passed over (meta end_role), "" for none.
	ending string
	// frames are the blocks around the current step, outermost first.
	frames []frame
	// flushing is the flush whose handlers run now, "" outside.
	flushing plan.ID
	// lasting is the context of always sections: it outlives the cancellation of the run.
	lasting context.Context
	// resume is the step to begin at, "" once it was found.
	resume plan.ID
	// live: the inventory may change while the play runs, so groups and the host's own variables are asked for;
	// stale: a step that may have changed it has passed.
	live, stale bool
	// checked are the results of jobs that check mode has run inline.
	checked []*result.Result

	// held is what this session can answer by itself.
	held held
	// notified are the handlers that the step in hand of a Single has notified.
	notified []plan.ID
	job      string // see plan.Stand
}

func newWalk(cfg Config, p *plan.Plan, start wire.Start) *walk {
	r := &walk{
		cfg: cfg, doc: p, start: start, resume: start.Resume,
		shared: vars.SharedOf(&p.Play),
		roles:  map[string]*plan.Role{},
		ran:    map[string]bool{}, completed: map[string]bool{},
		held: held{own: cfg.Own, withheld: map[string]bool{}},
		vars: &vars.Host{
			Name: start.Host, Inventory: start.Vars.Inventory.Dict, Magic: start.Vars.Magic.Dict,
			Facts: start.Vars.Facts.Dict, Include: start.Vars.Include.Dict, Set: start.Vars.Set.Dict,
			HashMerge: p.Play.HashMerge,
		},
	}
	r.line = &line{cfg: cfg, run: start.Run, play: p.Play.ID, host: start.Host, beyond: r.held.beyondHere}
	r.handlers = &handlers{roles: r.roles, line: r.line, render: r.handlerName}
	r.late = &lateVars{
		files: p.Play.VarsFiles, vars: r.vars, line: r.line, eval: func() *eval { return r.newEval(&plan.Step{}, "", nil) }, seen: map[int]string{},
	}
	r.blobs = &blobs{line: r.line, open: cfg.Open, inline: map[string][]byte{}, about: map[string]*value.Dict{}}
	r.held.withhold(p.Play.Withheld)
	r.held.withhold(start.Vars.Withheld)
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

// apply changes the variables as an outcome's effects say.
func (r *walk) apply(effects []wire.Effect) {
	for _, e := range effects {
		if e.Host == "" || e.Host == r.start.Host {
			r.vars.Apply(vars.Layer(e.Layer), e.Vars.Dict, e.Clear)
		}
	}
}

func (r *walk) fateOf(f flow) wire.Fate {
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
