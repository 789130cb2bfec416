package link

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"hark/agent"
	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/agent/wire/natstest"
	"hark/controller/broker"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/fleet/streams"
	"hark/controller/internal/fleet/trust"
	"hark/modules"
	"hark/playbook/plan"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// testBroker is a server on the loopback with the roster's stream, which can be stopped and started again on its port.
type testBroker struct {
	t    *testing.T
	srv  *server.Server
	port int
	dir  string

	// at is the URL of a broker of another kind, authority who gives tokens for it.
	at        string
	authority *broker.Authority
}

func newBroker(t *testing.T) *testBroker {
	b := &testBroker{t: t, dir: t.TempDir()}
	b.start()
	conn := b.dial("setup").Conn()
	if err := roster.Ensure(t.Context(), streams.Manager{Conn: conn}); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *testBroker) start() {
	b.t.Helper()
	b.srv = natstest.Start(b.t, &server.Options{Port: b.port, JetStream: true, StoreDir: b.dir})
	b.port = b.srv.Addr().(*net.TCPAddr).Port
}

func (b *testBroker) stop() {
	natstest.Stop(b.srv)
}

func (b *testBroker) url() string {
	if b.at != "" {
		return b.at
	}
	return fmt.Sprintf("nats://127.0.0.1:%d", b.port)
}

// config is how an identity connects, with a token of the role if the broker asks for one.
func (b *testBroker) config(id *wire.Identity, role func(*broker.Authority, string) (string, error)) nats.Config {
	b.t.Helper()
	cfg := nats.Config{URL: b.url(), ID: id.ID(), Identity: id, MaxDelay: 50 * time.Millisecond}
	if b.authority != nil {
		token, err := role(b.authority, id.Key)
		if err != nil {
			b.t.Fatal(err)
		}
		cfg.JWT = token
	}
	return cfg
}

// operator connects as a controller.
func (b *testBroker) operator(id *wire.Identity) *nats.Transport {
	b.t.Helper()
	return b.connect(b.config(id, (*broker.Authority).Controller))
}

// dial connects somebody to a broker that lets everybody in.
func (b *testBroker) dial(id string) *nats.Transport {
	b.t.Helper()
	return b.connect(nats.Config{URL: b.url(), ID: id})
}

func (b *testBroker) connect(cfg nats.Config) *nats.Transport {
	b.t.Helper()
	tr, err := nats.Dial(context.Background(), cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = tr.Close() })
	return tr
}

// testAgent is an agent of a test. It can be stopped, cut off and started again on its state directory.
type testAgent struct {
	t         *testing.T
	b         *testBroker
	name, dir string
	operators []string
	modules   *modules.Registry
	now       func() time.Time // its clock, nil is the true one

	identity *wire.Identity
	agent    *agent.Agent
	bus      *nats.Transport
	end      func()
}

func (b *testBroker) agent(name string, m *modules.Registry, operators ...*wire.Identity) *testAgent {
	return b.agentAt(nil, name, m, operators...)
}

// agentAt is an agent with a clock of its own.
func (b *testBroker) agentAt(now func() time.Time, name string, m *modules.Registry, operators ...*wire.Identity) *testAgent {
	a := &testAgent{t: b.t, b: b, name: name, dir: filepath.Join(b.t.TempDir(), name), modules: m, now: now}
	for _, o := range operators {
		a.operators = append(a.operators, o.Key)
	}
	a.start()
	b.t.Cleanup(func() { a.end() })
	return a
}

func (a *testAgent) start() {
	a.t.Helper()
	state, err := agent.OpenState(a.dir)
	if err != nil {
		a.t.Fatal(err)
	}
	if a.identity, err = state.Identity(); err != nil {
		a.t.Fatal(err)
	}
	connected := make(chan struct{}, 1)
	cfg := a.b.config(a.identity, (*broker.Authority).Agent)
	cfg.Patient, cfg.OnConnect = true, func() {
		select {
		case connected <- struct{}{}:
		default:
		}
	}
	a.bus, err = nats.Dial(context.Background(), cfg)
	if err != nil {
		a.t.Fatal(err)
	}
	ready := make(chan struct{})
	a.agent = agent.New(agent.Config{
		Transport: a.bus, Connected: connected, Identity: a.identity, Name: a.name, Modules: a.modules, State: state,
		Trusted: func(k string) bool { return contains(a.operators, k) }, Logger: testLog(), Ready: func() { close(ready) }, Now: a.now,
		Resend: 200 * time.Millisecond, Grace: 100 * time.Millisecond,
	})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := a.agent.Run(ctx); err != nil {
			a.t.Errorf("agent %s: %v", a.name, err)
		}
	})
	var once sync.Once
	a.end = func() {
		once.Do(func() {
			cancel()
			running.Wait()
			_ = a.bus.Close()
			_ = state.Close()
		})
	}
	wait(a.t, ready)
	a.b.enrolled(a.identity.ID())
}

// enrolled waits until the roster's stream has an agent's hello.
func (b *testBroker) enrolled(id string) {
	b.t.Helper()
	agents := roster.New(b.operator(operator(b.t)).Conn(), nil)
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	for {
		all, err := agents.All(ctx)
		if err != nil {
			b.t.Fatalf("no hello of %s: %v", id, err)
		}
		for _, a := range all {
			if a.ID == id {
				return
			}
		}
		agents.Refresh()
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// restart ends the agent as if it had been killed: it is cut off first, so that it cannot tell anybody.
func (a *testAgent) restart() {
	a.t.Helper()
	_ = a.bus.Close()
	a.end()
	a.start()
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// testLog shows what agents and hubs log when HARK_TEST_LOG is set.
func testLog() zerolog.Logger {
	if os.Getenv("HARK_TEST_LOG") == "" {
		return zerolog.Nop()
	}
	return zerolog.New(zerolog.ConsoleWriter{Out: os.Stderr})
}

func flush(t *testing.T, tr wire.Transport) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := tr.Flush(ctx); err != nil {
		t.Fatal(err)
	}
}

func wait[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(3 * patience): // longer than the times of the protocol that tests set to patience
		t.Fatal("it never came")
		panic("unreachable")
	}
}

// controller is a Hub with the identity and the answers of a test.
type controller struct {
	*Hub
	t        *testing.T
	operator *wire.Identity
	bus      *nats.Transport
	seen     map[string]uint64 // last Seq by host
}

type answerFunc func(context.Context, wire.Ask) wire.Answer

func (f answerFunc) Answer(ctx context.Context, a wire.Ask) wire.Answer { return f(ctx, a) }

func (b *testBroker) controller(operator *wire.Identity, run string, asks answerFunc) *controller {
	b.t.Helper()
	bus := b.operator(operator)
	known, err := trust.OpenKnown(b.t.TempDir(), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	if asks == nil {
		asks = func(context.Context, wire.Ask) wire.Answer { return wire.Answer{Err: "no answers in this test"} }
	}
	h := New(Config{
		Run: run, Operator: operator, Broker: bus, Roster: roster.New(bus.Conn(), known), Asks: asks, Logger: testLog(),
		Times: Times{Ack: 3 * time.Second, Silence: 200 * time.Millisecond, Gone: 500 * time.Millisecond, Answer: 300 * time.Millisecond, Back: 300 * time.Millisecond, Return: 50 * time.Millisecond},
	})
	c := &controller{Hub: h, t: b.t, operator: operator, bus: bus, seen: map[string]uint64{}}
	b.t.Cleanup(func() { _ = h.Close() })
	return c
}

// local is a controller whose hosts are all of this process.
func local(t *testing.T, m *modules.Registry, asks answerFunc) *controller {
	h := New(Config{Run: "local", Local: func(string) bool { return true }, Agent: agent.Local{Modules: m, Logger: testLog()}.Run, Asks: asks, Logger: testLog()})
	t.Cleanup(func() { _ = h.Close() })
	return &controller{Hub: h, t: t, seen: map[string]uint64{}}
}

// next is the next event; numbers must have neither gaps nor repetitions.
func (c *controller) next() wire.Event {
	c.t.Helper()
	e := wait(c.t, c.Events())
	if e.Seq != c.seen[e.Host]+1 {
		c.t.Fatalf("event %d of %s came after %d: %+v", e.Seq, e.Host, c.seen[e.Host], e)
	}
	c.seen[e.Host] = e.Seq
	return e
}

// until reads events up to one of a kind from each of n hosts.
func (c *controller) until(k wire.EventKind, n int) []wire.Event {
	c.t.Helper()
	var all []wire.Event
	for n > 0 {
		e := c.next()
		all = append(all, e)
		if e.Kind == k {
			n--
		}
	}
	return all
}

// begin starts a play on hosts.
func (c *controller) begin(p *plan.Plan, hosts ...string) {
	c.t.Helper()
	for _, h := range hosts {
		if err := c.Start(c.t.Context(), start(c.t, c.cfg.Run, h, p)); err != nil {
			c.t.Fatalf("Start(%s): %v", h, err)
		}
	}
}

func start(t *testing.T, run, host string, p *plan.Plan) wire.Start {
	t.Helper()
	digest, body, err := p.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return wire.Start{Run: run, Host: host, Play: p.Play.ID, Digest: digest, Plan: body, Lease: time.Minute, Window: 4 << 10}
}

func operator(t *testing.T) *wire.Identity {
	t.Helper()
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return id
}
