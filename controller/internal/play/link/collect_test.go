package link

import (
	"sync"
	"testing"
	"time"

	"hark/agent/wire"
)

// deadController starts a play of two steps on hosts, the first of which hangs on them, and dies. It gives the seats
// that it noted.
func deadController(b *testBroker, w *world, op *wire.Identity, hosts ...string) []SessionKeys {
	b.t.Helper()
	var mu sync.Mutex
	var seats []SessionKeys
	c := b.controller(op, "r1", nil)
	c.cfg.Opens = func(s SessionKeys) {
		mu.Lock()
		defer mu.Unlock()
		seats = append(seats, s)
	}
	for _, h := range hosts {
		s := start(b.t, "r1", h, steps("0.0", false, "test.t.hang", "a "+h))
		s.Lease = time.Second
		if err := c.Start(b.t.Context(), s); err != nil {
			b.t.Fatal(err)
		}
	}
	for range hosts {
		wait(b.t, w.began)
	}
	for range hosts { // it has heard that they began
		for c.next().Kind != wire.Started {
		}
	}
	_ = c.bus.Close()
	_ = c.Hub.Close()
	return seats
}

// collector is one who comes after the controller. It gives the events that were taken, by host.
func (b *testBroker) collector(op *wire.Identity, seats []SessionKeys) (*Collector, map[string][]wire.Event) {
	b.t.Helper()
	taken := map[string][]wire.Event{}
	return &Collector{
		Run: "r1", Transport: b.operator(op), Operator: op, Sessions: seats, Logger: testLog(),
		Take: func(events []wire.Event) error {
			for _, e := range events {
				taken[e.Host] = append(taken[e.Host], e)
			}
			return nil
		},
	}, taken
}

// ends reports whether a host told of the end of its step.
func ends(events []wire.Event) bool {
	for _, e := range events {
		if e.Kind == wire.Done && e.Outcome.Status == wire.OK {
			return true
		}
	}
	return false
}

// TestWhatAgentsKeptForADeadControllerIsCollected: the step in hand came to its end after the controller did.
func TestWhatAgentsKeptForADeadControllerIsCollected(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	for _, name := range []string{"web1", "web2", "web3"} {
		b.agent(name, w.registry(), op)
	}
	gone := b.agent("db1", w.registry(), op)
	seats := deadController(b, w, op, "web1", "web2", "web3", "db1")
	if len(seats) != 4 {
		t.Fatalf("%d seats", len(seats))
	}
	close(w.release)
	gone.end()
	c, taken := b.collector(op, seats)
	told, err := c.Collect(t.Context(), patience)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []string{"web1", "web2", "web3"} {
		if told[h] != Everything || !ends(taken[h]) {
			t.Errorf("%s: %s, %+v", h, told[h], taken[h])
		}
	}
	if told["db1"] != Nothing {
		t.Errorf("an agent that is away: %s", told["db1"])
	}
	// Twice is harmless: there is nothing left.
	again, taken := b.collector(op, seats)
	told, err = again.Collect(t.Context(), patience)
	if err != nil || told["web1"] != Everything || len(taken) != 0 {
		t.Errorf("again: %v, %v, %v", told, taken, err)
	}
}

// TestHostAtWorkIsLeftAlone: collecting ends nothing.
func TestHostAtWorkIsLeftAlone(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	b.agent("web1", w.registry(), op)
	seats := deadController(b, w, op, "web1")
	c, taken := b.collector(op, seats)
	told, err := c.Collect(t.Context(), time.Second)
	if err != nil || told["web1"] != StillBusy || ends(taken["web1"]) {
		t.Errorf("%v, %v, %v", told, taken, err)
	}
	close(w.release)
	c, taken = b.collector(op, seats)
	if told, err = c.Collect(t.Context(), patience); err != nil || told["web1"] != Everything || !ends(taken["web1"]) {
		t.Errorf("%v, %v, %v", told, taken, err)
	}
}

// TestAgentThatWasRestartedTellsTheCollector what its log held.
func TestAgentThatWasRestartedTellsTheCollector(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	a := b.agent("web1", w.registry(), op)
	seats := deadController(b, w, op, "web1")
	a.restart()
	c, taken := b.collector(op, seats)
	told, err := c.Collect(t.Context(), patience)
	if err != nil || told["web1"] != Everything || ends(taken["web1"]) {
		t.Errorf("%v, %v, %v", told, taken, err)
	}
}

// TestCollectorBelievesAgentsAlone: what is not sealed with the session's key is nothing to it.
func TestCollectorBelievesAgentsAlone(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	b.agent("web1", w.registry(), op)
	seats := deadController(b, w, op, "web1")
	close(w.release)
	wrong := append([]SessionKeys(nil), seats...)
	wrong[0].HostKey = wire.NewKey()
	c, taken := b.collector(op, wrong)
	if _, err := c.Collect(t.Context(), time.Second); err != nil || len(taken) != 0 {
		t.Errorf("%v, %v", taken, err)
	}
	c, taken = b.collector(op, seats)
	if told, err := c.Collect(t.Context(), patience); err != nil || told["web1"] != Everything || !ends(taken["web1"]) {
		t.Errorf("afterwards: %v, %v, %v", told, taken, err)
	}
}

// TestBatchesAreKeptBeforeTheyAreAcknowledged: what an agent may drop is stored, and can be opened with the keys of the
// session.
func TestBatchesAreKeptBeforeTheyAreAcknowledged(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	b.agent("web1", w.registry(), op)
	c := b.controller(op, "r1", nil)
	type kept struct {
		agent string
		frame []byte
	}
	batches, seats := make(chan kept, 10), make(chan SessionKeys, 1)
	hold := make(chan struct{})
	c.cfg.Opens = func(s SessionKeys) { seats <- s }
	c.cfg.Keep = func(agent string, frame []byte) {
		batches <- kept{agent, frame}
		<-hold
	}
	if err := c.Start(t.Context(), start(t, "r1", "web1", steps("0.0", false, "test.t.echo", "a"))); err != nil {
		t.Fatal(err)
	}
	first := <-batches
	select {
	case e := <-c.Events():
		t.Errorf("%+v was delivered before it was kept", e)
	default:
	}
	close(hold)
	sessions := []SessionKeys{<-seats}
	events, err := ReadBatch("r1", sessions, first.agent, first.frame)
	if err != nil || len(events) == 0 || events[0].Host != "web1" || events[0].Seq != 1 {
		t.Errorf("%+v, %v", events, err)
	}
	if _, err := ReadBatch("r2", sessions, first.agent, first.frame); err == nil {
		t.Error("it was taken for another run's")
	}
	for e := range c.Events() {
		if e.Kind == wire.Ended {
			break
		}
	}
}

// TestCollectingLetsNothingBegin: whoever takes what an agent kept is not its controller.
func TestCollectingLetsNothingBegin(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	b.agent("web1", w.registry(), op)
	c := b.controller(op, "r1", nil)
	seats := make(chan SessionKeys, 1)
	c.cfg.Opens = func(s SessionKeys) { seats <- s }
	s := start(t, "r1", "web1", steps("0.0", false, "test.t.hang", "a", "b"))
	s.Fresh = 50 * time.Millisecond
	if err := c.Start(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	wait(t, w.began)
	for c.next().Kind != wire.Started {
	}
	_ = c.bus.Close()
	_ = c.Hub.Close()
	<-time.After(2 * s.Fresh) // until no answer of the controller counts
	late, taken := b.collector(op, []SessionKeys{<-seats})
	collected := make(chan error, 1)
	go func() {
		_, err := late.Collect(t.Context(), 2*time.Second)
		collected <- err
	}()
	close(w.release)
	if err := wait(t, collected); err != nil || !ends(taken["web1"]) {
		t.Errorf("collected %+v, %v", taken["web1"], err)
	}
	if n := w.count("b"); n > 0 {
		t.Error("the next task began when the result of the one before was collected")
	}
}

// TestALogThatLostItsTurnIsALogThatWasCut: after a power cut it may not even say which turn it was of.
func TestALogThatLostItsTurnIsALogThatWasCut(t *testing.T) {
	c := &Collector{sessions: map[string]map[string]SessionKeys{"a": {"web1": {Host: "web1", Turn: 2}}}}
	for _, tt := range []struct {
		turn      uint64
		cut, want bool
	}{{2, false, true}, {2, true, true}, {1, true, true}, {0, true, true}, {1, false, false}} {
		c.left = nil
		c.heedLeft("a", wire.Renew{Session: wire.Session{Turn: tt.turn, Left: true}, Host: "web1", Cut: tt.cut})
		if _, noted := c.Left()["web1"]; noted != tt.want {
			t.Errorf("turn %d, cut %v: noted %v", tt.turn, tt.cut, noted)
		}
	}
}
