package link

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hark/agent"
	"hark/agent/wire"
	"hark/agent/wire/mem"
	"hark/controller/internal/fleet/roster"
	"hark/modules"
	"hark/playbook/plan"
)

// The model: one controller and two hosts with the true Hub, the true agents and their true logs, over a bad line in
// memory, in the time of a bubble. Agents are killed, their hosts lose power and with it what was not synced, or are
// set back to an old copy of their disk; lines are cut. Whatever happens
//
//   - the run ends,
//   - no step runs twice on a host,
//   - what is reported as done was done,
//   - a host that came to the end of its plan did all of it,
//   - nothing begins on a host that was reported as unreachable.
var (
	modelCases = flag.Int("cases", 150, "how many cases of the model are tried")
	modelSeed  = flag.Uint64("seed", 0, "the only case of the model to be tried")
)

func TestRunsEndAndReportWhatHappened(t *testing.T) {
	if *modelSeed != 0 {
		playModel(t, *modelSeed)
		return
	}
	first := rand.Uint64() >> 1
	for i := range uint64(*modelCases) {
		if playModel(t, first+i); t.Failed() {
			t.Fatalf("seed %d", first+i)
		}
	}
}

// modelSteps is how many steps the plan of a case has.
const modelSteps = 6

func playModel(t *testing.T, seed uint64) {
	synctest.Test(t, func(t *testing.T) {
		m := newModel(t, seed)
		defer m.close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		m.drive(ctx)
		if ctx.Err() != nil {
			t.Errorf("seed %d: the run does not end: it waits for %v", seed, slices.Collect(maps.Keys(m.live)))
		}
		m.settle()
		m.check()
	})
}

// model is one case.
type model struct {
	t     *testing.T
	seed  uint64
	calm  bool // lines are good
	rand  *rand.Rand
	bus   mem.Bus
	op    *wire.Identity
	hub   *Hub
	line  *noisy // the controller's
	hosts map[string]*modelHost
	gated bool

	patience time.Duration                     // for which agents are waited for that are not connected
	mischief func(context.Context, *modelHost) // makes trouble on a host until its context is over

	live map[string]plan.ID // hosts that take part, with the step before which they stand; "" runs
}

// modelHost is a host: what was done on it, and what was told of it.
type modelHost struct {
	name     string
	dir      string
	identity *wire.Identity
	process  *modelProcess
	elders   []*modelProcess // that have handed over, and may have something in hand
	rand     *rand.Rand      // of what makes trouble here

	boots int // how often the host was started

	passes atomic.Pointer[func()] // see noisy

	mu    sync.Mutex
	began map[string][]time.Time // by step's text: when; guarded by mu

	done     map[string]bool // reported as done
	finished bool            // reported as having come to the end
	lost     time.Time       // reported as unreachable
	why      string          // that is so
}

// modelProcess is one life of a host's agent.
type modelProcess struct {
	agent *agent.Agent
	line  *noisy
	end   func()
	dead  bool // guarded by modelHost.mu
}

func newModel(t *testing.T, seed uint64) *model { return makeModel(t, seed, false) }

func makeModel(t *testing.T, seed uint64, calm bool) *model {
	m := &model{t: t, seed: seed, calm: calm, rand: rand.New(rand.NewPCG(seed, 1)), op: operator(t), hosts: map[string]*modelHost{}, live: map[string]plan.ID{}}
	m.gated = m.rand.IntN(2) == 0
	m.mischief = m.trouble
	for _, name := range []string{"h1", "h2"} {
		h := &modelHost{name: name, dir: modelDir(t), began: map[string][]time.Time{}, done: map[string]bool{}}
		h.rand = rand.New(rand.NewPCG(m.rand.Uint64(), 4))
		m.hosts[name] = h
		m.boot(h)
	}
	m.line = m.noisy(m.op, m.rand)
	ping := Pinger{Transport: m.line.Transport, Operator: m.op} // agents that cannot answer would hide much
	if _, err := ping.Ping(t.Context(), m.hosts["h1"].identity.Key); err != nil {
		t.Fatal(err)
	}
	m.hub = New(Config{
		Run: "r1", Operator: m.op, Broker: m.line, Roster: m, Logger: testLog(),
		Asks: answerFunc(func(context.Context, wire.Ask) wire.Answer { return wire.Answer{} }),
	})
	return m
}

// newCalmModel is a model in which lines are good.
func newCalmModel(t *testing.T) *model { return makeModel(t, 1, true) }

func (m *model) noisy(id *wire.Identity, r *rand.Rand) *noisy {
	n := &noisy{Transport: m.bus.Connect(id.ID()), rand: rand.New(rand.NewPCG(r.Uint64(), 2))}
	if !m.calm && r.IntN(3) > 0 {
		n.noise = noise{lose: r.Float64() / 5, double: r.Float64() / 5, hold: r.Float64() / 10, delay: time.Duration(r.IntN(1500)) * time.Millisecond}
	}
	return n
}

// Size implements Roster.
func (m *model) Size() int { return 1 }

// Patience implements Roster.
func (m *model) Patience(roster.Agent) time.Duration { return m.patience }

// Find implements Roster.
func (m *model) Find(_ context.Context, name string) (roster.Agent, error) {
	h := m.hosts[name]
	return roster.Agent{Hello: wire.Hello{ID: h.identity.ID(), Name: name, XKey: h.identity.XKey}, Key: h.identity.Key}, nil
}

// boot starts an agent on what the disk of its host holds.
func (m *model) boot(h *modelHost) {
	var id *wire.Identity
	state, err := agent.OpenState(h.dir)
	if err == nil {
		id, err = state.Identity()
	}
	if err != nil {
		m.t.Fatal(err)
	}
	if h.identity == nil {
		h.identity = id
	}
	p := &modelProcess{line: m.noisy(id, h.rand)}
	p.line.passes = func() {
		if f := h.passes.Load(); f != nil {
			(*f)()
		}
	}
	ready := make(chan struct{})
	p.agent = agent.New(agent.Config{
		Transport: p.line, Identity: id, Name: h.name, Modules: m.modules(h, p), State: state, Logger: testLog(),
		Trusted: func(k string) bool { return k == m.op.Key }, Ready: func() { close(ready) }, Heartbeat: -1, Grace: -1,
		Boot: fmt.Sprintf("boot-%d", h.boots),
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		err := p.agent.Run(ctx)
		_ = state.Close() // as when its process has gone
		ended <- err
	}()
	p.end = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			m.t.Error(err)
		}
		_ = p.line.Close()
	})
	<-ready
	h.process = p
}

// modules are those of one life of an agent: after its end they do nothing more.
func (m *model) modules(h *modelHost, p *modelProcess) *modules.Registry {
	work := rand.New(rand.NewPCG(h.rand.Uint64(), 3))
	return modules.NewRegistry(modules.Define("test.t.work", "Works for a while.", func(ctx context.Context, _ *modules.Env, a echoArgs) (modules.Result, error) {
		h.mu.Lock()
		if p.dead {
			h.mu.Unlock()
			return modules.Result{}, ctx.Err()
		}
		h.began[a.Text] = append(h.began[a.Text], time.Now())
		takes := time.Duration(work.IntN(1000)) * time.Millisecond
		if work.IntN(20) == 0 {
			takes *= 40
		}
		h.mu.Unlock()
		pause(ctx, takes)
		return modules.Result{Changed: true, Msg: a.Text}, ctx.Err()
	}))
}

// trouble makes trouble on a host until ctx is over.
func (m *model) trouble(ctx context.Context, h *modelHost) {
	r := h.rand
	snapshot := func() (sessions, state map[string][]byte) {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.disk(filepath.Join(h.dir, "sessions")), h.disk(h.dir)
	}
	oldSessions, oldState := snapshot()
	for pause(ctx, time.Duration(r.IntN(12_000))*time.Millisecond) {
		switch r.IntN(9) {
		case 0:
			h.process.line.cutFor(time.Duration(r.IntN(60_000)) * time.Millisecond)
		case 1, 2:
			m.cutPower(h)
			pause(ctx, time.Duration(r.IntN(r.IntN(40_000)+1))*time.Millisecond)
			m.boot(h)
		case 3:
			oldSessions, oldState = snapshot()
		case 5:
			m.kill(h, func(text []byte) []byte { return text })
			m.boot(h)
		case 4:
			m.cutPower(h)
			h.restore(m.t, filepath.Join(h.dir, "sessions"), oldSessions)
			h.restore(m.t, h.dir, oldState)
			m.boot(h)
		case 6, 7:
			m.restart(h)
		}
	}
}

// restart stops an agent and starts it again, as a service manager does: what it has in hand goes on beside the new one.
func (m *model) restart(h *modelHost) {
	p := h.process
	if p.agent.HandOver() {
		h.elders = append(h.elders, p)
	} else {
		p.end()
	}
	m.boot(h)
}

// drive is the run: as controller/internal/play does, without the rest of it.
func (m *model) drive(ctx context.Context) {
	noisy, calm := context.WithTimeout(ctx, time.Duration(m.rand.IntN(60))*time.Second)
	defer calm()
	var troubles sync.WaitGroup
	for _, name := range slices.Sorted(maps.Keys(m.hosts)) {
		troubles.Go(func() { m.mischief(noisy, m.hosts[name]) })
	}
	var texts []string
	for i := range modelSteps {
		texts = append(texts, fmt.Sprint(i))
	}
	p := steps("0.0", m.gated, "test.t.work", texts...)
	opened := make(chan map[string]error)
	for name := range m.hosts {
		m.live[name] = ""
		go func() { opened <- map[string]error{name: m.hub.Start(ctx, start(m.t, "r1", name, p))} }()
	}
	for opening := len(m.hosts); opening > 0 || len(m.live) > 0; {
		select {
		case o := <-opened:
			opening--
			for name, err := range o {
				if err != nil {
					m.unreachable(name)
					m.hosts[name].why = err.Error()
				}
			}
		case e := <-m.hub.Events():
			m.heed(e)
		case l := <-m.hub.Lost():
			m.catchUp()
			m.unreachable(l.Host)
			m.hosts[l.Host].why = l.Reason
		case <-ctx.Done():
			opening = 0
			calm()
			troubles.Wait()
			return
		}
		m.proceed()
	}
	calm()
	troubles.Wait()
}

func (m *model) catchUp() {
	for {
		select {
		case e := <-m.hub.Events():
			m.heed(e)
		default:
			return
		}
	}
}

func (m *model) unreachable(name string) {
	if _, takesPart := m.live[name]; takesPart {
		delete(m.live, name)
		m.hosts[name].lost = time.Now()
	}
}

func (m *model) heed(e wire.Event) {
	if _, takesPart := m.live[e.Host]; !takesPart {
		return
	}
	h := m.hosts[e.Host]
	switch e.Kind {
	case wire.AtGate:
		m.live[e.Host] = e.Next
	case wire.Done:
		m.live[e.Host] = e.Next
		var r struct{ Msg string }
		if json.Unmarshal(e.Outcome.Result, &r) == nil && e.Outcome.Status == wire.Changed {
			h.done[r.Msg] = true
		}
	case wire.Ended:
		delete(m.live, e.Host)
		h.finished = e.State == wire.Finished
		if e.State == wire.Unreachable {
			h.lost = time.Now()
		}
	}
}

// proceed lets the hosts go when all stand at one step.
func (m *model) proceed() {
	at := map[plan.ID]bool{}
	for name, step := range m.live {
		at[step] = true
		_ = name
	}
	if !m.gated || len(at) != 1 || at[""] {
		return
	}
	for step := range at {
		_ = m.hub.Advance(wire.Advance{Play: "0.0", Step: step})
	}
	for name := range m.live {
		m.live[name] = ""
	}
}

// settle ends the run and lets every message that is still on its way arrive.
func (m *model) settle() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if m.rand.IntN(2) == 0 { // else the agents never hear of it
		_ = m.hub.End(ctx)
	}
	_ = m.hub.Close()
	time.Sleep(5 * time.Minute)
}

func (m *model) check() {
	for name, h := range m.hosts {
		h.mu.Lock()
		for text, times := range h.began {
			if len(times) > 1 {
				m.t.Errorf("%s: step %s ran %d times", name, text, len(times))
			}
			for _, at := range times {
				if !h.lost.IsZero() && at.After(h.lost) {
					m.t.Errorf("%s: step %s began %s after the host was reported as unreachable", name, text, at.Sub(h.lost))
				}
			}
		}
		for text := range h.done {
			if len(h.began[text]) == 0 {
				m.t.Errorf("%s: step %s was reported as done, and was not", name, text)
			}
		}
		if h.finished && len(h.done) != modelSteps {
			m.t.Errorf("%s came to its end, and did only %s", name, strings.Join(slices.Sorted(maps.Keys(h.done)), " "))
		}
		for text := range h.began {
			if !h.done[text] && h.lost.IsZero() {
				m.t.Errorf("%s: step %s ran and was not reported", name, text)
			}
		}
		h.mu.Unlock()
	}
	if m.t.Failed() {
		m.t.Logf("seed %d, in lockstep %v", m.seed, m.gated)
	}
}

func (m *model) close() {
	for _, h := range m.hosts {
		for _, p := range append(h.elders, h.process) {
			p.end()
		}
	}
	_ = m.hub.Close()
	_ = m.line.Close()
	time.Sleep(5 * time.Minute) // what is held up comes to nobody
}

// A restart costs a play nothing, at whatever point of it: each task runs once, and no host is lost.
func TestARestartCostsAPlayNothing(t *testing.T) {
	const points, apart = 24, 150 * time.Millisecond
	for i := range points {
		for _, gated := range []bool{false, true} {
			for _, again := range []time.Duration{0, 30 * time.Millisecond} {
				t.Run(fmt.Sprintf("%d gated=%v again=%s", i, gated, again), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { playOverRestarts(t, time.Duration(i)*apart, again, gated) })
				})
			}
		}
	}
}

// playOverRestarts plays with restarts of both agents: one at a point of the play and, where again is set, another one
// so long after it.
func playOverRestarts(t *testing.T, point, again time.Duration, gated bool) {
	m := newCalmModel(t)
	defer m.close()
	m.gated, m.patience = gated, roster.Restart // they say bye
	m.mischief = func(_ context.Context, h *modelHost) {
		time.Sleep(point)
		m.restart(h)
		if again > 0 {
			time.Sleep(again)
			m.restart(h)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	m.drive(ctx)
	m.settle()
	m.check()
	for name, h := range m.hosts {
		if !h.lost.IsZero() || !h.finished {
			t.Errorf("%s: lost at %v (%s), finished %v", name, h.lost, h.why, h.finished)
		}
	}
}

// An agent that is stopped in the middle of a play, and not started again, begins nothing more and says so.
func TestAnAgentThatIsNotStartedAgainEndsWhatItHasInHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newCalmModel(t)
		defer m.close()
		var at sync.Mutex
		var stopped time.Time
		m.mischief = func(_ context.Context, h *modelHost) {
			time.Sleep(700 * time.Millisecond)
			if !h.process.agent.HandOver() {
				t.Error("nothing was in hand")
			}
			at.Lock()
			defer at.Unlock()
			stopped = time.Now()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		m.drive(ctx)
		for name, h := range m.hosts {
			if took := h.lost.Sub(stopped); h.lost.IsZero() || took > 2*time.Minute {
				t.Errorf("%s is lost after %s", name, took)
			}
			h.mu.Lock()
			for text, times := range h.began {
				if times[0].After(stopped) {
					t.Errorf("%s: %s began after the agent was stopped", name, text)
				}
			}
			h.mu.Unlock()
		}
		m.settle()
		m.check()
	})
}
