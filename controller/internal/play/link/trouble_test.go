package link

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/controller/broker"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

func text(s string) value.Value { return value.SourceText(s) }

// lossy is a transport that loses every other answer on its way out.
type lossy struct {
	wire.Transport

	mu sync.Mutex
	n  int // guarded by mu
}

func (l *lossy) Subscribe(subject string, f func(wire.Msg)) (wire.Subscription, error) {
	return l.Transport.Subscribe(subject, func(m wire.Msg) {
		l.mu.Lock()
		l.n++
		lose := l.n%2 == 1
		l.mu.Unlock()
		if lose && m.Respond != nil {
			m.Respond = func([]byte) error { return nil }
		}
		f(m)
	})
}

// Acknowledgements that are lost make agents send again; the reader of events must not notice.
func TestLostAcknowledgementsDoubleNothing(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	b.agent("web1", w.registry(), op)
	c := b.controller(op, "r1", nil)
	c.cfg.Broker = &lossy{Transport: c.bus}
	var texts []string
	for i := range 60 {
		texts = append(texts, fmt.Sprint(i))
	}
	c.begin(steps("0.0", false, "test.t.echo", texts...), "web1")
	if got := results(t, c.until(wire.Ended, 1))["web1"]; !cmp.Equal(got, texts) {
		t.Errorf("results %q", got)
	}
	c.begin(steps("1.0", false, "test.t.echo", "c"), "web1")
	if got := results(t, c.until(wire.Ended, 1))["web1"]; !cmp.Equal(got, []string{"c"}) {
		t.Errorf("results %q", got)
	}
}

func TestRestartedBrokerLosesNothing(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	b.agent("web1", w.registry(), op)
	c := b.controller(op, "r1", nil)
	var texts []string
	for i := range 300 {
		texts = append(texts, fmt.Sprint(i))
	}
	c.begin(steps("0.0", false, "test.t.echo", texts...), "web1")
	var events []wire.Event
	for range 20 {
		events = append(events, c.next())
	}
	b.stop()
	b.start()
	for events[len(events)-1].Kind != wire.Ended {
		events = append(events, c.next())
	}
	if got := results(t, events)["web1"]; !cmp.Equal(got, texts) {
		t.Errorf("%d of %d results", len(got), len(texts))
	}
	for _, text := range texts {
		if w.count(text) != 1 {
			t.Errorf("step %s ran %d times", text, w.count(text))
		}
	}
}

func TestMissedAdvanceIsAskedFor(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	b.agent("web1", w.registry(), op)
	c := b.controller(op, "r1", nil)
	p := steps("0.0", true, "test.t.echo", "a", "b")
	s := start(t, "r1", "web1", p)
	s.Lease = 3 * time.Second
	if err := c.Start(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	c.until(wire.AtGate, 1)
	// An Advance that nobody got: it is only in the Hub's memory.
	c.members.mu.Lock()
	c.seq++
	c.advances = append(c.advances, wire.Advance{Run: "r1", Play: "0.0", Seq: c.seq, Step: "1.0"})
	c.members.mu.Unlock()
	c.until(wire.Done, 1)
	if err := c.Advance(wire.Advance{Play: "0.0", Step: "1.1"}); err != nil {
		t.Fatal(err)
	}
	c.until(wire.Ended, 1)
	if w.count("a") != 1 || w.count("b") != 1 {
		t.Errorf("a ran %d times, b %d times", w.count("a"), w.count("b"))
	}
}

// The controller is killed while a step runs: the step is finished, the host goes no further than the barrier, the
// agent forgets the run and takes the next.
func TestAgentOutlivesItsController(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	a := b.agent("web1", w.registry(), op)
	c := b.controller(op, "r1", nil)
	s := start(t, "r1", "web1", steps("0.0", true, "test.t.hang", "a", "b"))
	s.Lease = 900 * time.Millisecond
	if err := c.Start(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	c.until(wire.AtGate, 1)
	if err := c.Advance(wire.Advance{Play: "0.0", Step: "1.0"}); err != nil {
		t.Fatal(err)
	}
	wait(t, w.began)
	_ = c.bus.Close() // dead, without a word
	close(w.release)

	next := b.controller(op, "r2", nil)
	next.begin(steps("0.0", false, "test.t.echo", "next"), "web1")
	if got := results(t, next.until(wire.Ended, 1))["web1"]; !cmp.Equal(got, []string{"next"}) {
		t.Errorf("the next run: %q", got)
	}
	if w.count("a") != 1 || w.count("b") != 0 {
		t.Errorf("a ran %d times, b %d times", w.count("a"), w.count("b"))
	}
	_ = a
}

func TestRestartedAgentTellsWhatWasInterrupted(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	a := b.agent("web1", w.registry(), op)
	c := b.controller(op, "r1", nil)
	c.begin(steps("0.0", false, "test.t.echo", "a"), "web1")
	c.until(wire.Ended, 1)
	c.begin(steps("1.0", false, "test.t.hang", "b", "c"), "web1")
	wait(t, w.began)
	c.until(wire.Started, 1)
	a.restart()
	events := c.until(wire.Ended, 1)
	last := events[len(events)-1]
	if last.State != wire.Unreachable || last.Play != "1.0" {
		t.Errorf("ended as %+v", last)
	}
	done := events[len(events)-2]
	if done.Kind != wire.Done || done.Step != "1.0" || !strings.Contains(string(done.Outcome.Result), "whether this task was done is not known") {
		t.Errorf("the interrupted step came as %+v", done)
	}
	if w.count("b") != 1 || w.count("c") != 0 {
		t.Errorf("b ran %d times, c %d times", w.count("b"), w.count("c"))
	}
	c.begin(steps("2.0", false, "test.t.echo", "d"), "web1") // and it is good for more
	if got := results(t, c.until(wire.Ended, 1))["web1"]; !cmp.Equal(got, []string{"d"}) {
		t.Errorf("the next play: %q", got)
	}
}

func TestHostWhoseAgentDiesIsLost(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	a := b.agent("web1", w.registry(), op)
	c := b.controller(op, "r1", nil)
	c.begin(steps("0.0", false, "test.t.hang", "a"), "web1")
	wait(t, w.began)
	_ = a.bus.Close()
	l := wait(t, c.Lost())
	if l.Host != "web1" || !strings.Contains(l.Reason, "its agent has gone away") {
		t.Errorf("lost %+v", l)
	}
}

func TestReplayedPlanIsRefused(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	a := b.agent("web1", w.registry(), op)
	spy := b.dial("spy")
	frames := make(chan []byte, 1)
	if _, err := spy.Subscribe(wire.HostSubject(a.identity.ID(), wire.KindPlan), func(m wire.Msg) {
		select {
		case frames <- m.Data:
		default: // its own replays
		}
	}); err != nil {
		t.Fatal(err)
	}
	flush(t, spy)
	c := b.controller(op, "r1", nil)
	c.begin(steps("0.0", false, "test.t.echo", "a"), "web1")
	c.until(wire.Ended, 1)
	frame := wait(t, frames)

	// While the session lives the agent answers as it did and runs nothing; afterwards, and after a restart, it refuses.
	replay := func() {
		t.Helper()
		if err := spy.Publish(wire.HostSubject(a.identity.ID(), wire.KindPlan), frame); err != nil {
			t.Fatal(err)
		}
		flush(t, spy)
		flush(t, a.bus)
	}
	refused := func() {
		t.Helper()
		for range 10_000 {
			if replay(); a.agent.Refused()[wire.Replayed] > 0 {
				return
			}
		}
		t.Error("the replay is not refused")
	}
	replay()
	if err := c.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	refused()
	a.end()
	a.start()
	refused()
	if n := w.count("a"); n != 1 {
		t.Errorf("the plan ran %d times", n)
	}
}

// An agent that was stolen sends in the name of another, and asks for what is another's.
func TestStolenAgentSpeaksForItselfOnly(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	b.agent("web1", w.registry(), op)
	thief := b.agent("web2", w.registry(), op)
	asked := make(chan wire.Ask, 10)
	c := b.controller(op, "r1", func(_ context.Context, a wire.Ask) wire.Answer {
		asked <- a
		return wire.Answer{}
	})
	c.begin(steps("0.0", true, "test.t.echo", "a"), "web1", "web2")
	c.until(wire.AtGate, 2)
	c.members.mu.Lock()
	mine, other := c.members.hosts["web2"].peer, c.members.hosts["web1"].peer
	c.members.mu.Unlock()
	pack := func(h wire.Header, body any) []byte {
		frame, err := c.codec.Pack(h, body, wire.Packing{Sign: thief.identity, Key: &mine.hostKey, Seal: wire.SealHost})
		if err != nil {
			t.Fatal(err)
		}
		return frame
	}
	lie := wire.Batch{Run: "r1", Host: "web1", Events: []wire.Event{{Run: "r1", Host: "web1", Seq: 2, Kind: wire.Ended, State: wire.Failed}}}
	batch := wire.Header{Kind: wire.KindBatch, Run: "r1"}
	ask := wire.Header{Kind: wire.KindAsk, Run: "r1"}
	for _, try := range []struct {
		subject string
		frame   []byte
	}{
		{wire.Results("r1", mine.id, wire.KindBatch), pack(batch, lie)},
		{wire.Results("r1", other.id, wire.KindBatch), pack(batch, lie)},
		{wire.Questions(mine.id, "r1", wire.KindAsk), pack(ask, wire.Ask{Run: "r1", Host: "web1", Kind: wire.AskOwn})},
		{wire.Questions(other.id, "r1", wire.KindAsk), pack(ask, wire.Ask{Run: "r1", Host: "web1", Kind: wire.AskOwn})},
		{wire.Results("r1", mine.id, wire.KindBatch), []byte("garbage")},
	} {
		if err := thief.bus.Publish(try.subject, try.frame); err != nil {
			t.Fatal(err)
		}
	}
	flush(t, thief.bus)
	// The reply to a good question must not go to a subject of the thief's choice.
	if err := thief.bus.Conn().PublishRequest(wire.Questions(mine.id, "r1", wire.KindAsk), wire.HostSubject(other.id, wire.KindCancel),
		pack(ask, wire.Ask{Run: "r1", Host: "web2", Kind: wire.AskOwn})); err != nil {
		t.Fatal(err)
	}
	if a := wait(t, asked); a.Host != "web2" {
		t.Errorf("a question of %s got through", a.Host)
	}
	if err := c.Advance(wire.Advance{Play: "0.0", Step: plan.ID("1.0")}); err != nil {
		t.Fatal(err)
	}
	if got := results(t, c.until(wire.Ended, 2)); !cmp.Equal(got, map[string][]string{"web1": {"a"}, "web2": {"a"}}) {
		t.Errorf("results %v", got)
	}
	if len(asked) > 0 {
		t.Errorf("questions got through: %+v", <-asked)
	}
}

// Results bear no signature: the key of the session says whose they are. Whoever lacks it, sends in clear, or sends
// again what was something else, is not heard.
func TestOnlyTheKeyOfASessionSpeaksForIt(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	agent := b.agent("web1", w.registry(), op)
	asked := make(chan wire.Ask, 10)
	c := b.controller(op, "r1", func(_ context.Context, a wire.Ask) wire.Answer {
		asked <- a
		return wire.Answer{}
	})
	refused := make(refusals, 100)
	c.cfg.Logger = zerolog.New(refused)
	c.times.Silence = time.Hour // nobody asks it
	c.begin(steps("0.0", true, "test.t.echo", "a"), "web1")
	c.until(wire.AtGate, 1)
	c.members.mu.Lock()
	p, session := c.members.hosts["web1"].peer, wire.Session{Life: c.members.hosts["web1"].life, Turn: c.members.hosts["web1"].turn}
	c.members.mu.Unlock()
	stranger, wrong := operator(t), wire.NewKey()
	end := wire.Batch{Session: session, Run: "r1", Host: "web1", Events: []wire.Event{{Run: "r1", Host: "web1", Seq: 2, Kind: wire.Ended, State: wire.Failed}}}
	send := func(k, says wire.Kind, run string, packing wire.Packing) {
		t.Helper()
		frame, err := c.codec.Pack(wire.Header{Kind: says, Run: run}, end, packing)
		if err != nil {
			t.Fatal(err)
		}
		if err := agent.bus.Publish(wire.Results("r1", p.id, k), frame); err != nil {
			t.Fatal(err)
		}
	}
	p.hear(time.Time{})
	good := wire.Packing{Key: &p.hostKey, Seal: wire.SealHost}
	send(wire.KindBatch, wire.KindBatch, "r1", wire.Packing{Key: &wrong, Seal: wire.SealHost})
	send(wire.KindBatch, wire.KindBatch, "r1", wire.Packing{Key: &c.runKey, Seal: wire.SealRun})                     // all agents of the run have it
	send(wire.KindBatch, wire.KindBatch, "r1", wire.Packing{Key: &c.runKey, Seal: wire.SealHost})                    // and could call it so
	send(wire.KindBatch, wire.KindBatch, "r1", wire.Packing{Sign: agent.identity})                                   // in clear, if well signed
	send(wire.KindBatch, wire.KindBatch, "r1", wire.Packing{Sign: agent.identity, To: op.XKey, Box: agent.identity}) // for the operator
	send(wire.KindBatch, wire.KindBatch, "r1", wire.Packing{Sign: stranger, Key: &p.hostKey, Seal: wire.SealHost})   // signed by somebody else
	send(wire.KindBatch, wire.KindBatch, "r2", good)                                                                 // of another run
	send(wire.KindBatch, wire.KindAsk, "r1", good)                                                                   // a question of the agent's
	send(wire.KindBatch, wire.KindAnswer, "r1", good)                                                                // an answer of the controller's
	send(wire.KindExecDone, wire.KindBatch, "r1", good)                                                              // on another subject
	frame, err := c.codec.Pack(wire.Header{Kind: wire.KindAsk, Run: "r1"}, wire.Ask{Run: "r1", Host: "web1", Kind: wire.AskOwn}, good)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		wait(t, refused)
	}
	p.mu.Lock()
	heard := p.heard
	p.mu.Unlock()
	if !heard.IsZero() {
		t.Error("a message that is not the agent's was taken for a sign of life")
	}
	if _, err := agent.bus.Request(t.Context(), wire.Questions(p.id, "r1", wire.KindAsk), frame); err != nil {
		t.Fatal(err)
	}
	wait(t, asked)
	if err := c.Advance(wire.Advance{Play: "0.0", Step: plan.ID("1.0")}); err != nil {
		t.Fatal(err)
	}
	if got := results(t, c.until(wire.Ended, 1)); !cmp.Equal(got, map[string][]string{"web1": {"a"}}) {
		t.Errorf("results %v", got)
	}
}

// refusals are what a controller logs.
type refusals chan string

func (r refusals) Write(line []byte) (int, error) {
	r <- string(line)
	return len(line), nil
}

// newGuarded is a broker with the permissions of PROTOCOL.md section 7.
func newGuarded(t *testing.T) *testBroker {
	t.Helper()
	data := t.TempDir()
	authority, err := broker.OpenAuthority(data)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	url, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- broker.Run(ctx, broker.Config{Data: data, Listen: "127.0.0.1:0", Authority: authority, Logger: testLog()},
			func(u string) { url <- u })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &testBroker{t: t, at: wait(t, url), authority: authority}
}

// A broker that tells of lost connections spares the asking, however long that would take.
func TestLostConnectionsAreHeardOfAtOnce(t *testing.T) {
	b, w, op := newGuarded(t), newWorld(), operator(t)
	a := b.agent("web1", w.registry(), op)
	c := b.controller(op, "r1", nil)
	c.times.Gone, c.times.Silence, c.times.Back = time.Hour, time.Hour, 200*time.Millisecond
	c.begin(steps("0.0", false, "test.t.hang", "a"), "web1")
	wait(t, w.began)
	_ = a.bus.Close()
	l := wait(t, c.Lost())
	if l.Host != "web1" || !strings.Contains(l.Reason, "its agent has gone away") {
		t.Errorf("lost %+v", l)
	}
}

// With the permissions of PROTOCOL.md section 7 everything works that a run needs.
func TestPlaysRunUnderTheBrokersPermissions(t *testing.T) {
	b, w, op := newGuarded(t), newWorld(), operator(t)
	b.agent("web1", w.registry(), op)
	b.agent("web2", w.registry(), op)
	var c *controller
	delegated := make(chan string, 1)
	c = b.controller(op, "r1", func(ctx context.Context, a wire.Ask) wire.Answer {
		if a.Kind != wire.AskStep {
			return wire.Answer{}
		}
		call := wire.Call{Module: "test.t.echo", Args: []byte(`{"text": "b"}`)}
		raw, err := c.Exec(ctx, wire.Exec{Run: a.Run, ID: "x" + a.Host, Host: "web2", Origin: a.Host, Play: a.Play, Step: a.Step, Call: call})
		delegated <- fmt.Sprint(string(raw), err)
		return wire.Answer{Did: &wire.Did{Outcome: wire.Outcome{Status: wire.OK}}}
	})
	p := steps("0.0", true, "test.t.echo", "a", "b")
	p.Blocks[0].Body[1].Step.DelegateTo = plan.Lit(text("web2"))
	c.begin(p, "web1")
	c.until(wire.AtGate, 1)
	for _, step := range []plan.ID{"1.0", "1.1"} {
		if err := c.Advance(wire.Advance{Play: "0.0", Step: step}); err != nil {
			t.Fatal(err)
		}
	}
	if got := results(t, c.until(wire.Ended, 1))["web1"]; !cmp.Equal(got, []string{"a"}) {
		t.Errorf("results %q", got)
	}
	if got := wait(t, delegated); !strings.Contains(got, `"msg":"b"`) {
		t.Errorf("the delegated call gave %s", got)
	}
	c.begin(steps("1.0", false, "test.t.hang", "c"), "web1")
	wait(t, w.began)
	if err := c.Cancel(wire.Cancel{Grace: time.Second}); err != nil {
		t.Error(err)
	}
	c.until(wire.Ended, 1)
	if err := c.End(t.Context()); err != nil {
		t.Error(err)
	}
}
