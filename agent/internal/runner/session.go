package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
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
	r.settle("")
	ended := wire.Event{Kind: wire.Ended, Fate: r.fateOf(f)}
	if err != nil {
		ended.Fate, ended.Text = wire.Failed, err.Error()
	}
	r.emit(ended)
	return err
}

// walk is one plan being walked.
type walk struct {
	cfg   Config
	doc   *plan.Plan
	start wire.Start

	vars     *vars.Host
	shared   *vars.Shared
	roles    map[string]*plan.Role
	handlers []*handler
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
	// doing is the step that was told as begun and not yet as done.
	doing plan.ID
	// resume is the step to begin at, "" once it was found.
	resume plan.ID
	// pending is a Done whose Next is not known yet; told is the gate that an event named last.
	pending *wire.Event
	told    plan.ID
	// live: the inventory may change while the play runs, so groups and the host's own variables are asked for;
	// stale: a step that may have changed it has passed.
	live, stale bool
	// inline are contents of small files that came with their names, by digest.
	inline map[string][]byte
	// about is what templates may ask of their files, by path, where it came along.
	about map[string]*value.Dict
	// checked are the results of jobs that check mode has run inline.
	checked []*value.Dict
	// lateSeen are the names under which the late vars_files were read, by index.
	lateSeen map[int]string

	// mu keeps events apart: templates that a module renders in goroutines of its own may warn and ask.
	mu sync.Mutex

	// held is what this session can answer by itself.
	held held
	// single: the walk does single steps for a controller, see Single; notified are the handlers that the step in hand has notified.
	single   bool
	notified []plan.ID
	job      string // see Stand

	// lost is the error that broke the run, kept because templates wrap errors; guarded by mu.
	lost error
}

func newWalk(cfg Config, p *plan.Plan, start wire.Start) *walk {
	r := &walk{
		cfg: cfg, doc: p, start: start, resume: start.Resume,
		shared: vars.SharedOf(&p.Play),
		roles:  map[string]*plan.Role{},
		ran:    map[string]bool{}, completed: map[string]bool{},
		inline: map[string][]byte{}, about: map[string]*value.Dict{}, lateSeen: map[int]string{}, held: held{own: cfg.Own, withheld: map[string]bool{}},
		vars: &vars.Host{
			Name: start.Host, Inventory: start.Vars.Inventory.Dict, Magic: start.Vars.Magic.Dict,
			Facts: start.Vars.Facts.Dict, Include: start.Vars.Include.Dict, Set: start.Vars.Set.Dict,
			HashMerge: p.Play.HashMerge,
		},
	}
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
		r.addHandler(handlers[i])
		r.live = r.live || r.changesInventory(handlers[i].Step)
	}
	plan.Walk(blocks, func(s *plan.Step) { r.live = r.live || r.changesInventory(s) })
}

// emit completes an event and sends it, after the Done that waited for its Next.
func (r *walk) emit(e wire.Event) {
	r.settle("")
	r.send(e)
}

func (r *walk) send(e wire.Event) {
	e.Run, e.Play, e.Host = r.start.Run, r.doc.Play.ID, r.start.Host
	if e.Time.IsZero() {
		e.Time = r.cfg.Now()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Kind {
	case wire.Started:
		r.doing = e.Step
	case wire.Done:
		r.doing = ""
	}
	r.cfg.Emit(e)
}

// settle sends the Done that waits, telling where the host stands now.
func (r *walk) settle(next plan.ID) {
	if r.pending == nil {
		return
	}
	e := *r.pending
	r.pending = nil
	e.Next = next
	r.told = next
	r.send(e)
}

// done keeps a Done until it is known where the host goes.
func (r *walk) done(e wire.Event) {
	r.settle("")
	e.Kind = wire.Done
	e.Time = r.cfg.Now()
	r.pending = &e
}

func (r *walk) warn(step plan.ID, text string) {
	r.emit(wire.Event{Kind: wire.Warning, Step: step, Text: text})
}

// ask completes an ask and puts it. What was emitted before it is on its way first.
func (r *walk) ask(ctx context.Context, a wire.Ask) (wire.Answer, error) {
	r.settle("")
	out, err := r.askBeside(ctx, a)
	return out, r.lose(ctx, err)
}

// lose notes that an ask has failed because the controller is gone, unless it was the asking step's own time that was over.
func (r *walk) lose(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil && !errors.Is(err, errBeyond) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.lost = err
	}
	return err
}

// askBeside puts an ask of something that goes on beside the session, a job: it settles nothing, and that the controller is gone is not the
// end of the session.
func (r *walk) askBeside(ctx context.Context, a wire.Ask) (wire.Answer, error) {
	if !r.cfg.Own && !travels(a.Kind) {
		return wire.Answer{}, r.held.beyondHere()
	}
	a.Run, a.Play, a.Host = r.start.Run, r.doc.Play.ID, r.start.Host
	return r.cfg.Ask(ctx, a)
}

// broken is why the run cannot go on: the controller is gone. A step whose own time is over is not meant.
func (r *walk) broken() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost
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
