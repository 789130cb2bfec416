package play

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/play/admit"
	"hark/controller/internal/play/answer"
	"hark/controller/internal/play/display"
	"hark/controller/internal/play/link"
	"hark/controller/internal/play/playtest"
	"hark/controller/internal/play/sessions"
	"hark/controller/internal/play/steps"
	"hark/controller/internal/play/strategy"
	"hark/controller/internal/ui/view"
	"hark/modules/py/value"
	"hark/playbook/deprecation"
	"hark/playbook/plan"
)

// theatre is a link whose agents are puppets: each walks the plan by the rules of sessions, and its steps come out as
// the test says. It writes down the order in which steps are done.
type theatre struct {
	plan    *plan.Plan
	outcome func(host string, step plan.ID) wire.Outcome
	absent  map[string]string
	// hold, if set, is called when a host does a step, before it is done.
	hold func(host string, step plan.ID)
	// room is how many Advances may wait for a puppet.
	room int

	events chan wire.Event
	lost   chan link.LostHost
	work   sync.WaitGroup

	mu       sync.Mutex
	sessions map[string]chan wire.Advance // guarded by mu
	done     []string                     // "host step": guarded by mu
	cancels  chan struct{}
}

func newTheatre(p *plan.Plan) *theatre {
	return &theatre{
		plan: p, events: make(chan wire.Event, 1000), lost: make(chan link.LostHost, 10), sessions: map[string]chan wire.Advance{},
		cancels: make(chan struct{}, 1), room: 1000, outcome: func(string, plan.ID) wire.Outcome { return wire.Outcome{Status: wire.OK} },
	}
}

func (t *theatre) Start(_ context.Context, s wire.Start) error {
	return t.enter(s, func(advances chan wire.Advance) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.sessions[s.Host] = advances
	})
}

// enter begins a session. Its advances are listened to, by listen, before its puppet can stand at a gate.
func (t *theatre) enter(s wire.Start, listen func(chan wire.Advance)) error {
	reason, absent := t.absent[s.Host]
	if absent && s.Absent == "" {
		return &link.AbsentError{Host: s.Host, Reason: reason}
	}
	advances := make(chan wire.Advance, t.room)
	listen(advances)
	p := &puppet{t: t, host: s.Host, advances: advances, resume: s.Resume, ahead: s.Go, absent: absent}
	t.work.Go(p.run)
	return nil
}

func (t *theatre) Advance(a wire.Advance) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.sessions {
		c <- a
	}
	return nil
}

func (t *theatre) Exec(context.Context, wire.Exec) ([]byte, error) { return []byte("{}"), nil }
func (*theatre) Reset(string)                                      {}
func (*theatre) Settle(context.Context, string, *wire.Login) bool  { return false }

func (t *theatre) Cancel(wire.Cancel) error {
	select {
	case t.cancels <- struct{}{}:
	default:
	}
	return nil
}
func (t *theatre) End(context.Context) error  { return nil }
func (t *theatre) Events() <-chan wire.Event  { return t.events }
func (t *theatre) Notices() []string          { return nil }
func (t *theatre) Lost() <-chan link.LostHost { return t.lost }
func (t *theatre) Close() error               { return nil }
func (t *theatre) note(host string, s plan.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done = append(t.done, host+" "+string(s))
}

// did is the order in which steps were done.
func (t *theatre) did() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.done)
}

// puppet is one host's session.
type puppet struct {
	t        *theatre
	host     string
	advances chan wire.Advance
	pending  *wire.Event
	resume   plan.ID
	ahead    plan.ID // the step at whose gate it does not wait
	absent   bool
}

type puppetFlow int

const (
	onward puppetFlow = iota
	fails
	leaves
	vanishes
)

func (p *puppet) run() {
	f := onward
	for i := range p.t.plan.Blocks {
		if f = p.block(&p.t.plan.Blocks[i]); f != onward {
			break
		}
	}
	p.settle("")
	state := map[puppetFlow]wire.HostState{onward: wire.Finished, fails: wire.Failed, leaves: wire.EndedEarly, vanishes: wire.Unreachable}[f]
	p.send(wire.Event{Kind: wire.Ended, State: state})
}

func (p *puppet) block(b *plan.Block) puppetFlow {
	f := p.nodes(b.Body)
	if f == fails && len(b.Rescue) > 0 {
		f = p.nodes(b.Rescue)
	}
	if f != leaves && f != vanishes && len(b.Always) > 0 {
		if g := p.nodes(b.Always); g != onward {
			f = g
		}
	}
	return f
}

func (p *puppet) nodes(list []plan.Node) puppetFlow {
	for _, n := range list {
		f := onward
		if n.Block != nil {
			f = p.block(n.Block)
		} else {
			f = p.step(n.Step)
		}
		if f != onward {
			return f
		}
	}
	return onward
}

func (p *puppet) step(s *plan.Step) puppetFlow {
	if s.Kind == plan.Meta && s.Implicit {
		return onward
	}
	if p.resume != "" && p.resume != s.ID {
		return onward
	}
	p.resume = ""
	if (s.Gate || p.t.plan.Play.AllGated) && s.ID != p.ahead {
		if f, done := p.gate(s.ID); done {
			return f
		}
	}
	p.settle("")
	if s.Kind == plan.Task {
		p.send(wire.Event{Kind: wire.Started, Step: s.ID, Name: s.Name})
	}
	if p.t.hold != nil {
		p.t.hold(p.host, s.ID)
	}
	o := p.t.outcome(p.host, s.ID)
	if p.absent && s.Kind == plan.Task {
		o = wire.Outcome{Status: wire.StatusUnreachable}
	}
	p.t.note(p.host, s.ID)
	if o.Result == nil {
		o.Result = []byte("{}")
	}
	p.pending = &wire.Event{Kind: wire.Done, Step: s.ID, Name: s.Name, Outcome: &o}
	switch {
	case o.Status == wire.StatusUnreachable:
		return vanishes
	case o.Status == wire.StatusFailed && !o.Ignored:
		return fails
	case strings.HasPrefix(o.Meta, "end_"):
		return leaves
	}
	return onward
}

// gate waits until the host may pass; done says that it must not do the step.
func (p *puppet) gate(id plan.ID) (f puppetFlow, done bool) {
	if !p.t.plan.Play.Gated {
		return onward, false
	}
	if p.pending != nil {
		p.settle(id)
	} else {
		p.send(wire.Event{Kind: wire.AtGate, Next: id})
	}
	for a := range p.advances {
		switch {
		case slices.Contains(a.Drop, p.host), a.EndPlay:
			return leaves, true
		case slices.Contains(a.Fail, p.host):
			return fails, true
		case a.Step != id, len(a.Only) > 0 && !slices.Contains(a.Only, p.host):
		case a.Shared != nil:
			shown := *a.Shared
			p.pending = &wire.Event{Kind: wire.Done, Step: id, Adopted: true, Outcome: &shown}
			if shown.Status == wire.StatusFailed {
				return fails, true
			}
			if strings.HasPrefix(shown.Meta, "end_") {
				return leaves, true
			}
			return onward, true
		default:
			return onward, false
		}
	}
	return leaves, true
}

func (p *puppet) settle(next plan.ID) {
	if p.pending != nil {
		e := *p.pending
		p.pending = nil
		e.Next = next
		p.send(e)
	}
}

func (p *puppet) send(e wire.Event) {
	e.Own, e.Play, e.Host, e.Time = true, p.t.plan.Play.ID, p.host, time.Now()
	p.t.events <- e
}

// notes are messages that nobody reads but the test.
type notes struct{ lines []string }

func (n *notes) Warn(text string)                  { n.lines = append(n.lines, text) }
func (n *notes) ErrorWrapped(text string)          { n.lines = append(n.lines, text) }
func (n *notes) Deprecate(d deprecation.Notice)    { n.lines = append(n.lines, d.Text) }
func (n *notes) Error(text string)                 { n.lines = append(n.lines, text) }
func (n *notes) Verbose(_ int, _ string, _ string) {}
func (n *notes) Print(_ view.Color, text string)   { n.lines = append(n.lines, text) }

// nobody is an inventory in which every host is known and has no variables.
type nobody struct{}

func (nobody) Vars(string) (*value.Dict, bool) { return nil, true }
func (nobody) Magic(string) *value.Dict        { return value.NewDict() }
func (nobody) Groups() *value.Dict             { return value.NewDict() }

// stage is a batch that is ready to run on puppets.
type stage struct {
	*batchRun
	theatre *theatre
	screen  *playtest.Script
}

func newStage(p *plan.Plan, hosts ...string) *stage {
	th := newTheatre(p)
	p.Play.ID = "0.0"
	shown := &playtest.Script{}
	r := &runner{points: newCheckpoints(&Input{}),
		in: Input{Run: "test"}, view: shown, messages: &notes{}, link: th, recap: display.NewRecap(), ctx: context.Background(),
		states: strategy.NewHostStates(), syncs: make(chan chan struct{}), stopped: make(chan struct{}),
	}
	r.mirror = answer.NewMirror(nobody{}, false)
	r.answers = answer.New(answer.Config{Mirror: r.mirror})
	r.hidden, r.admission = newHider(nil), admit.New(admit.Config{})
	r.facts = newFactKeeper(nil, r.mirror, r.admission, nil)
	of := steps.Of(p)
	b := &batchRun{
		r: r, plan: p, hosts: hosts, steps: of, present: newPresence(hosts, hosts, nil, nil), queue: newBatchQueue(r.stopped),
		order:   display.New(display.Config{View: shown, Warn: func(string) {}, Recap: r.recap, Steps: of, Free: p.Play.Free(), Hosts: hosts}),
		machine: strategy.New(strategy.Config{Hosts: hosts, Gated: p.Play.Gated, Free: p.Play.Free(), Blocks: of, States: r.states}),
		starts:  &sessions.Starts{Base: wire.Start{Run: "test", Play: p.Play.ID}, Whole: p.Written(), Vars: r.mirror.Start},
	}
	b.equip(nil)
	return &stage{b, th, shown}
}

// play runs the batch; a batch that does not end fails the test.
func (s *stage) play(t *testing.T) {
	t.Helper()
	s.playWith(t, context.Background())
}

func (s *stage) playWith(t testing.TB, ctx context.Context) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.run(ctx) }()
	select {
	case err := <-done:
		if err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("the batch does not end; done so far: %v", s.theatre.did())
	}
	close(s.r.stopped)
	s.r.work.Wait()
	s.theatre.mu.Lock()
	for _, c := range s.theatre.sessions {
		close(c)
	}
	s.theatre.mu.Unlock()
	s.theatre.work.Wait()
}

// linear is a plan of gated steps.
func linear(words ...string) *plan.Plan {
	return &plan.Plan{Play: plan.Play{Gated: true}, Blocks: []plan.Block{{Body: playtest.Steps(words)}}}
}

// failing makes hosts fail at steps: "a 2".
func failing(where ...string) func(string, plan.ID) wire.Outcome {
	return func(host string, step plan.ID) wire.Outcome {
		if slices.Contains(where, fmt.Sprintf("%s %s", host, step)) {
			return wire.Outcome{Status: wire.StatusFailed}
		}
		return wire.Outcome{Status: wire.OK}
	}
}
