package link

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// still is a transport whose connection stands since a time, zero for none.
type still struct {
	wire.Transport
	since time.Time
}

func (s *still) Since() time.Time { return s.since }

// TestClocksOfPresenceStandWithoutTheBroker goes through a broker's ups and downs by the clock.
func TestClocksOfPresenceStandWithoutTheBroker(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	line := &still{since: start}
	b := &bus{transport: line, first: start}
	q := &ping{}
	ask := func(began, ended int, failed bool) time.Duration {
		return q.take(at(began), at(ended), failed, b.quiet(at(ended)) == 0, b.found()).Round(time.Second)
	}
	if got := ask(1, 4, true); got != 3*time.Second {
		t.Errorf("a question that failed for 3 s counts as %s", got)
	}
	b.note(false, at(5))
	if got := ask(4, 8, true); got != 0 || b.quiet(at(65)) != time.Minute {
		t.Errorf("while the broker does not answer %s count, it is away for %s", got, b.quiet(at(65)))
	}
	b.note(false, at(64))
	b.note(true, at(65))
	if got := ask(60, 70, true); got != 5*time.Second || !b.found().Equal(at(65)) {
		t.Errorf("5 s after the broker is back %s count, found %s", got, b.found().Sub(start))
	}
	if got := ask(71, 72, false); got != 0 {
		t.Errorf("an answer counts as %s of silence", got)
	}
	line.since = at(80) // lost and made again between two looks
	if got := ask(75, 84, true); got != 4*time.Second {
		t.Errorf("4 s after a new connection %s count", got)
	}
}

// TestLongAbsenceOfTheBrokerLosesNobody: for longer than an agent may be silent.
func TestLongAbsenceOfTheBrokerLosesNobody(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	b.agent("web1", w.registry(), op)
	b.agent("web2", w.registry(), op)
	c := b.controller(op, "r1", nil)
	said := make(chan string, 10)
	c.cfg.Warn = func(text string) { said <- text }
	c.begin(steps("0.0", true, "test.t.echo", "a", "b"), "web1", "web2")
	c.until(wire.AtGate, 2)
	b.stop()
	if text := wait(t, said); !strings.Contains(text, "the broker does not answer") {
		t.Errorf("said %q", text)
	}
	select {
	case l := <-c.Lost():
		t.Fatalf("lost %+v", l)
	case <-time.After(3 * c.times.Gone): // the outage
	}
	b.start()
	if text := wait(t, said); text != "the broker is back" {
		t.Errorf("said %q", text)
	}
	for _, step := range []string{"1.0", "1.1"} {
		if err := c.Advance(wire.Advance{Play: "0.0", Step: plan.ID(step)}); err != nil {
			t.Fatal(err)
		}
	}
	if got := results(t, c.until(wire.Ended, 2)); !cmp.Equal(got, map[string][]string{"web1": {"a", "b"}, "web2": {"a", "b"}}) {
		t.Errorf("results %v", got)
	}
}

// TestBrokerThatStaysAwayEndsTheRun, after all.
func TestBrokerThatStaysAwayEndsTheRun(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	b.agent("web1", w.registry(), op)
	c := b.controller(op, "r1", nil)
	c.times.Outage = 300 * time.Millisecond
	c.begin(steps("0.0", true, "test.t.echo", "a"), "web1")
	c.until(wire.AtGate, 1)
	b.stop()
	if l := wait(t, c.Lost()); l.Host != "web1" || !strings.Contains(l.Reason, "the broker has been away for") {
		t.Errorf("lost %+v", l)
	}
	err := c.Start(t.Context(), start(t, "r1", "web1", steps("1.0", false, "test.t.echo", "b")))
	var absent *AbsentError
	if !errors.As(err, &absent) || !strings.Contains(err.Error(), "the broker is away") {
		t.Errorf("a start without a broker: %v", err)
	}
}

// TestPlayWaitsForAgentsThatComeBack: after their broker's restart, and after their own.
func TestPlayWaitsForAgentsThatComeBack(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	a := b.agent("web1", w.registry(), op)
	c := b.controller(op, "r1", nil)
	c.times.Return = patience
	a.end()
	began := make(chan error, 1)
	go func() {
		began <- c.Start(t.Context(), start(t, "r1", "web1", steps("0.0", false, "test.t.echo", "a")))
	}()
	select {
	case err := <-began:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(100 * time.Millisecond): // the agent's restart
	}
	a.start()
	if err := wait(t, began); err != nil {
		t.Fatal(err)
	}
	if got := results(t, c.until(wire.Ended, 1))["web1"]; !cmp.Equal(got, []string{"a"}) {
		t.Errorf("results %q", got)
	}
	b.stop()
	go func() {
		began <- c.Start(t.Context(), start(t, "r1", "web1", steps("1.0", false, "test.t.echo", "b")))
	}()
	select {
	case err := <-began:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(100 * time.Millisecond): // the broker's restart
	}
	b.start()
	if err := wait(t, began); err != nil {
		t.Fatal(err)
	}
	if got := results(t, c.until(wire.Ended, 1))["web1"]; !cmp.Equal(got, []string{"b"}) {
		t.Errorf("results %q", got)
	}
}

// stalling is a transport whose broker takes and says nothing for a while, on a connection that stands.
type stalling struct {
	wire.Transport

	mu     sync.Mutex
	stalls chan struct{} // closed when it goes on, nil while it does; guarded by mu
}

func (s *stalling) stall() (goOn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stalls = make(chan struct{})
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		close(s.stalls)
		s.stalls = nil
	})
}

// passes waits until the broker goes on.
func (s *stalling) passes(ctx context.Context) error {
	s.mu.Lock()
	stalls := s.stalls
	s.mu.Unlock()
	if stalls == nil {
		return nil
	}
	select {
	case <-stalls:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *stalling) Flush(ctx context.Context) error {
	if err := s.passes(ctx); err != nil {
		return err
	}
	return s.Transport.Flush(ctx)
}

func (s *stalling) Request(ctx context.Context, subject string, frame []byte) ([]byte, error) {
	if err := s.passes(ctx); err != nil {
		return nil, err
	}
	return s.Transport.Request(ctx, subject, frame)
}

// A broker may stall at any time for any time: between two plays as well as within one, the next goes on when it is
// back.
func TestAPlayBeginsWhenABrokerThatStalledIsBack(t *testing.T) {
	for _, stall := range []time.Duration{time.Second, 5 * time.Second, 9 * time.Second, 40 * time.Second, 4 * time.Minute} {
		for _, within := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s within=%v", stall, within), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { playOverAStall(t, stall, within) })
			})
		}
	}
}

// playOverAStall plays two plays on a host; the broker stalls within the first or between the two.
func playOverAStall(t *testing.T, stall time.Duration, within bool) {
	m := newCalmModel(t)
	defer m.close()
	broker := &stalling{Transport: m.line}
	m.hub.cfg.Broker = broker
	play := func(id string) {
		t.Helper()
		if err := m.hub.Start(t.Context(), start(t, "r1", "h1", steps(id, false, "test.t.work", id+"a", id+"b"))); err != nil {
			t.Fatal(err)
		}
		for e := range m.hub.Events() {
			if e.Kind == wire.Ended {
				return
			}
		}
	}
	if !within {
		play("0.0")
	}
	goOn := broker.stall()
	time.AfterFunc(stall, goOn)
	if !within { // what is in the middle of a play asks the broker, and finds it silent
		began := time.Now()
		playing := func(is bool) {
			m.hub.members.mu.Lock()
			defer m.hub.members.mu.Unlock()
			m.hub.members.hosts["h1"].playing = is
		}
		playing(true)
		time.Sleep(min(stall, 8*time.Second))
		playing(false)
		time.Sleep(stall - time.Since(began))
	}
	began := time.Now()
	play("1.0")
	if took := time.Since(began); took > stall+30*time.Second {
		t.Errorf("the next play took %s", took)
	}
}
