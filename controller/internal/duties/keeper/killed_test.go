package keeper

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"hark/agent"
	"hark/agent/wire"
	"hark/agent/wire/mem"
	"hark/controller/internal/duties/duty"
	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/play/link"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// Keepers, true agents with their true logs and the true way between them, in the time of a bubble. Keepers are
// killed at any moment: nothing of them is said or sent any more. Whatever happens, no host does a slot twice, and
// none is left out for longer than the dead keeper's session lives.
func TestKilledKeepersDoNoSlotTwiceAndLoseNoHost(t *testing.T) {
	for range 2 {
		seed := rand.Uint64()
		synctest.Test(t, func(t *testing.T) {
			c := newCrime(t, seed)
			defer c.close()
			for range 20 {
				c.keep(1, time.Duration(c.rand.IntN(900))*time.Second)
				time.Sleep(time.Duration(c.rand.IntN(60)) * time.Second)
			}
			for range 5 { // and with the lock gone
				c.keep(2, time.Duration(c.rand.IntN(900))*time.Second)
			}
			c.keep(1, 30*time.Minute)
			c.check()
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// crime is a case.
type crime struct {
	t     *testing.T
	rand  *rand.Rand
	bus   mem.Bus
	op    *wire.Identity
	hosts map[string]*victim // by name
	plan  Plan
	start time.Time

	mu     sync.Mutex
	states map[string]dutystate.State // guarded by mu
	runs   int                        // guarded by mu
}

// victim is a host.
type victim struct {
	identity *wire.Identity
	end      func()

	mu    sync.Mutex
	began map[string][]time.Time // by slot and step; guarded by mu
	turns []time.Time            // guarded by mu
}

const crimeEvery = 5 * time.Minute

func newCrime(t *testing.T, seed uint64) *crime {
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	c := &crime{t: t, rand: rand.New(rand.NewPCG(seed, 1)), op: id, hosts: map[string]*victim{},
		states: map[string]dutystate.State{}, start: time.Now()}
	d := Planned{At: nowhere, Duty: duty.Duty{
		Name: "base", Mode: duty.Enforce, AtOnce: 10, CatchUp: time.Hour,
		Schedule: duty.Schedule{Every: crimeEvery, Splay: crimeEvery},
	}}
	for _, name := range []string{"web1", "web2", "db1"} {
		v := c.boot(name)
		c.hosts[name] = v
		d.Hosts = append(d.Hosts, Host{Name: name, Agent: v.identity.ID(), Key: v.identity.Key})
	}
	c.plan = Plan{Commit: "c1", Duties: []Planned{d}}
	return c
}

// boot starts a host's agent.
func (c *crime) boot(name string) *victim {
	state, err := agent.OpenState(filepath.Join(c.t.TempDir(), name))
	if err != nil {
		c.t.Fatal(err)
	}
	v := &victim{began: map[string][]time.Time{}}
	if v.identity, err = state.Identity(); err != nil {
		c.t.Fatal(err)
	}
	line, ready, ended := c.bus.Connect(v.identity.ID()), make(chan struct{}), make(chan error, 1)
	a := agent.New(agent.Config{
		Transport: line, Identity: v.identity, Name: name, Modules: v.modules(rand.New(rand.NewPCG(c.rand.Uint64(), 2))),
		State: state, Logger: zerolog.Nop(),
		Trusted: func(k string) bool { return k == c.op.Key }, Ready: func() { close(ready) }, Heartbeat: -1, Grace: -1,
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { ended <- a.Run(ctx) }()
	v.end = func() {
		cancel()
		if err := <-ended; err != nil {
			c.t.Error(err)
		}
		_ = line.Close()
		_ = state.Close()
	}
	<-ready
	return v
}

// modules are one, which works for up to 40 s and notes of which slot's which step it was.
func (v *victim) modules(r *rand.Rand) *modules.Registry {
	type args struct {
		Text string `arg:"text"`
	}
	return modules.NewRegistry(modules.Define("test.t.work", "Works for a while.",
		func(ctx context.Context, _ *modules.Env, a args) (modules.Result, error) {
			v.mu.Lock()
			v.began[a.Text] = append(v.began[a.Text], time.Now())
			v.turns = append(v.turns, time.Now())
			takes := time.Duration(r.IntN(40_000)) * time.Millisecond
			v.mu.Unlock()
			select {
			case <-time.After(takes):
			case <-ctx.Done():
			}
			return modules.Result{}, ctx.Err()
		}))
}

// keep has keepers at work for a while, and kills them.
func (c *crime) keep(keepers int, d time.Duration) {
	var work sync.WaitGroup
	end := time.Now().Add(d)
	for range keepers {
		k := &killer{crime: c, Transport: c.bus.Connect(c.op.ID())}
		ctx, cancel := context.WithDeadline(context.Background(), end)
		context.AfterFunc(ctx, k.kill)
		work.Go(func() {
			defer cancel()
			_ = New(Config{
				Store: k, Driver: k, Poll: time.Minute, Now: time.Now, Logger: zerolog.Nop(), Reached: func() bool { return true },
				Plan: func(context.Context) (Plan, error) { return c.plan, nil }, Keep: func([]string) {},
				Present: func(context.Context) ([]string, error) { return nil, nil },
			}).Run(ctx)
		})
	}
	work.Wait()
}

// check holds what was done against what may be.
func (c *crime) check() {
	// A dead keeper's session ends with its lease and the step in hand; then the host is asked each half minute. A
	// keeper that dies before it has opened the host costs a slot, and may be followed by others.
	limit := 4*crimeEvery + time.Minute + 40*time.Second + busyPause
	for name, v := range c.hosts {
		v.check(c, name, limit)
	}
}

func (v *victim) check(c *crime, name string, limit time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for what, times := range v.began {
		if len(times) > 1 {
			c.t.Errorf("%s did %s %d times: %v", name, what, len(times), times)
		}
	}
	last := c.start
	for _, at := range append(v.turns, time.Now()) {
		if gap := at.Sub(last); gap > limit {
			c.t.Errorf("%s had nothing done for %v", name, gap)
		}
		last = at
	}
	if n := int(time.Since(c.start) / crimeEvery); len(v.turns) < n/2 {
		c.t.Errorf("%s had %d steps in %d slots", name, len(v.turns), n)
	}
}

func (c *crime) close() {
	for _, v := range c.hosts {
		v.end()
	}
	time.Sleep(5 * time.Minute) // what is on its way comes to nobody
}

// killer is a keeper's way to the world until it is killed: its store, its driver and its roster.
type killer struct {
	*crime
	*mem.Transport
	dead bool // guarded by mu of the crime
}

func (k *killer) kill() {
	k.mu.Lock()
	k.dead = true
	k.mu.Unlock()
	_ = k.Transport.Close()
}

// Overwritten implements Store.
func (k *killer) Overwritten(context.Context) ([]dutystate.Place, error) { return nil, nil }

// Own implements Store.
func (k *killer) Own(context.Context) (dutystate.Words, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	w := dutystate.Words{Definitions: []dutystate.Definition{{V: dutystate.Version, Name: "base", Commit: "c1"}}}
	for _, s := range k.states {
		w.States = append(w.States, s)
	}
	return w, nil
}

// PutState implements Store.
func (k *killer) PutState(_ context.Context, s dutystate.State) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.dead {
		return errors.New("it was killed")
	}
	k.states[s.Agent] = s
	return nil
}

// PutDefinition implements Store.
func (k *killer) PutDefinition(context.Context, dutystate.Definition) error { return nil }

// PutReport implements Store.
func (k *killer) PutReport(context.Context, dutystate.Report) error { return nil }

// Size implements link.Roster.
func (k *killer) Size() int { return len(k.hosts) }

// Patience implements link.Roster.
func (k *killer) Patience(roster.Agent) time.Duration { return 0 }

// Find implements link.Roster.
func (k *killer) Find(_ context.Context, name string) (roster.Agent, error) {
	id := k.hosts[name].identity
	return roster.Agent{Hello: wire.Hello{ID: id.ID(), Name: name, XKey: id.XKey}, Key: id.Key}, nil
}

// Carry implements Driver, as a worker does.
func (k *killer) Carry(ctx context.Context, t Turn) map[string]Outcome {
	h := t.Hosts[0]
	k.mu.Lock()
	k.runs++
	j := Job{Run: fmt.Sprint("run", k.runs), Nonce: t.Nonce, Push: t.Push, Hosts: t.Hosts}
	k.mu.Unlock()
	o, may := k.look(ctx, &j, h)
	if may {
		o = k.play(ctx, &j, h, fmt.Sprint("slot ", t.Slot.ID()))
	}
	return map[string]Outcome{h.Agent: o}
}

func (k *killer) look(ctx context.Context, j *Job, h Host) (Outcome, bool) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	pong, err := (&link.Pinger{Transport: k, Operator: k.op}).Ping(ctx, h.Key)
	if err != nil {
		return j.Look(wire.Hello{}, err)
	}
	return j.Look(pong.Hello, nil)
}

func (k *killer) play(ctx context.Context, j *Job, h Host, slot string) Outcome {
	hub := link.New(link.Config{Run: j.Run, Operator: k.op, Broker: k, Roster: k, Nonce: j.Opening, Logger: zerolog.Nop()})
	defer hub.Close()
	p := workPlan(slot+" first", slot+" second")
	digest, body, err := p.Digest()
	if err != nil {
		return Outcome{Status: Broke, Why: err.Error()}
	}
	err = hub.Start(ctx, wire.Start{Run: j.Run, Host: h.Name, Play: p.Play.ID, Digest: digest, Plan: body,
		Lease: time.Minute, Window: 4 << 10})
	var absent *link.AbsentError
	switch {
	case errors.As(err, &absent) && absent.Replayed:
		return Outcome{Status: Twice}
	case err != nil:
		return Outcome{Status: Away, Why: err.Error()}
	}
	for {
		select {
		case e := <-hub.Events():
			if e.Kind == wire.Ended {
				_ = hub.End(ctx)
				return Outcome{Status: Done, Tasks: 2}
			}
		case l := <-hub.Lost():
			return Outcome{Status: Lost, Why: l.Reason}
		case <-ctx.Done(): // killed: it tells nobody
			return Outcome{Status: Lost}
		}
	}
}

// workPlan is a plan of two steps.
func workPlan(texts ...string) *plan.Plan {
	p := &plan.Plan{Version: plan.Version, Play: plan.Play{Name: "test", ID: "0.0", Strategy: "linear"}}
	b := plan.Block{ID: "1"}
	for i, text := range texts {
		d := value.NewDict()
		d.Set("text", value.SourceText(text))
		b.Body = append(b.Body, plan.Node{Step: &plan.Step{
			ID: plan.ID("1").Under(i), Kind: plan.Task, Name: text, Action: "test.t.work", Written: "test.t.work",
			Args: plan.Dict{Dict: d},
		}})
	}
	p.Blocks = []plan.Block{b}
	return p
}
