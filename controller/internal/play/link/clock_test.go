package link

import (
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hark/agent/wire"
	"hark/playbook/plan"
)

func TestAgentsWithAWrongClockWork(t *testing.T) {
	for name, off := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour, "years behind": -3 * 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			b, w, op := newBroker(t), newWorld(), operator(t)
			a := b.agentAt(func() time.Time { return time.Now().Add(off) }, "web1", w.registry(), op)
			spy := b.dial("spy")
			plans := make(chan wire.Msg, 10)
			if _, err := spy.Subscribe(wire.HostSubject(a.identity.ID(), wire.KindPlan), func(m wire.Msg) { plans <- m }); err != nil {
				t.Fatal(err)
			}
			flush(t, spy)
			c := b.controller(op, "r1", nil)
			c.begin(steps("0.0", true, "test.t.echo", "a"), "web1")
			c.until(wire.AtGate, 1)
			if err := c.Advance(wire.Advance{Play: "0.0", Step: "1.0"}); err != nil {
				t.Fatal(err)
			}
			if got := results(t, c.until(wire.Ended, 1)); !cmp.Equal(got, map[string][]string{"web1": {"a"}}) {
				t.Errorf("results %v", got)
			}
			if err := c.End(t.Context()); err != nil {
				t.Fatal(err)
			}
			ping := &Pinger{Transport: c.bus, Operator: op}
			for { // until the run is forgotten: before that a plan that comes again is acknowledged again
				pong, err := ping.Ping(t.Context(), a.identity.Key)
				if err != nil || (pong.Offset-off).Abs() > time.Minute {
					t.Fatalf("%+v, %v", pong, err)
				}
				if len(pong.Hello.Runs) == 0 {
					break
				}
			}
			// The clock is no way around the journal, not after a restart either.
			old := wait(t, plans).Data
			for range 2 {
				before := map[wire.Reason]uint64{}
				maps.Copy(before, a.agent.Refused())
				if err := spy.Publish(wire.HostSubject(a.identity.ID(), wire.KindPlan), old); err != nil {
					t.Fatal(err)
				}
				before[wire.Replayed]++
				awaitRefusals(t, a, before)
				a.restart()
				if _, err := ping.Ping(t.Context(), a.identity.Key); err != nil { // it asks for the time again
					t.Fatal(err)
				}
			}
		})
	}
}

// A host whose clock steps in a play that others wait in obeys what lets it go at once: it does not wait until it has
// asked for the time.
func TestAClockThatStepsHoldsUpNobody(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	var off atomic.Int64
	a := b.agentAt(func() time.Time { return time.Now().Add(time.Duration(off.Load())) }, "web1", w.registry(), op)
	c := b.controller(op, "r1", nil)
	c.begin(steps("0.0", true, "test.t.echo", "a", "b", "c", "d"), "web1")
	c.until(wire.AtGate, 1)
	for i, step := range []time.Duration{time.Hour, -time.Hour, 10 * 365 * 24 * time.Hour, 0} {
		off.Store(int64(step))
		if err := c.Advance(wire.Advance{Play: "0.0", Step: plan.ID("1").Under(i)}); err != nil {
			t.Fatal(err)
		}
		c.until(wire.Done, 1)
	}
	if n := a.agent.Refused()[wire.Expired]; n > 0 {
		t.Errorf("%d messages were refused for their date", n)
	}
}

// Only the operator who was asked can say what time it is, once.
func TestNobodyElseTellsTheTime(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	off := time.Hour
	a := b.agentAt(func() time.Time { return time.Now().Add(off) }, "web1", w.registry(), op)
	bus, thief := b.operator(op), operator(t)
	if _, err := (&Pinger{Transport: bus, Operator: op}).Ping(t.Context(), a.identity.Key); err != nil {
		t.Fatal(err)
	}
	before := a.agent.Refused()
	for _, q := range []inquiry{
		{transport: b.operator(thief), operator: thief, codec: &wire.Codec{}, key: a.identity.Key}, // untrusted
		{transport: bus, operator: op, codec: &wire.Codec{}, key: a.identity.Key},                  // unasked
	} {
		if err := q.tellTime(t.Context(), wire.NewNonce()); err != nil {
			t.Fatal(err)
		}
	}
	after := a.agent.Refused()
	if after[wire.Untrusted] != before[wire.Untrusted]+1 || after[wire.Replayed] != before[wire.Replayed]+1 {
		t.Errorf("refused %v, before %v", after, before)
	}
}

// awaitRefusals waits until the agent has refused what it should have, and nothing else.
func awaitRefusals(t *testing.T, a *testAgent, want map[wire.Reason]uint64) {
	t.Helper()
	total := func(n map[wire.Reason]uint64) (sum uint64) {
		for _, x := range n {
			sum += x
		}
		return sum
	}
	late := time.After(patience)
	for total(a.agent.Refused()) < total(want) {
		select {
		case <-late:
			t.Fatalf("refused %v, want %v", a.agent.Refused(), want)
		case <-time.After(5 * time.Millisecond):
		}
	}
	if got := a.agent.Refused(); !cmp.Equal(got, want) {
		t.Errorf("refused %v, want %v", got, want)
	}
}
