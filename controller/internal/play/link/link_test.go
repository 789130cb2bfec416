package link

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hark/agent"
	"hark/agent/wire"
	"hark/playbook/plan"
)

func TestPlayRunsInThisProcess(t *testing.T) {
	w := newWorld()
	c := local(t, w.registry(), nil)
	c.begin(steps("0.0", false, "test.t.echo", "a", "b", "c"), "localhost")
	events := c.until(wire.Ended, 1)
	if diff := cmp.Diff(map[string][]string{"localhost": {"a", "b", "c"}}, results(t, events)); diff != "" {
		t.Error(diff)
	}
	if fate := events[len(events)-1].State; fate != wire.Finished {
		t.Errorf("fate %q", fate)
	}
	if err := c.End(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestPlaysRunBehindTheBroker(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	for _, name := range []string{"web1", "web2"} {
		b.agent(name, w.registry(), op)
	}
	c := b.controller(op, "r1", nil)
	c.begin(steps("0.0", false, "test.t.echo", "a", "b"), "web1", "web2")
	got := results(t, c.until(wire.Ended, 2))
	c.begin(steps("1.0", false, "test.t.echo", "c"), "web1", "web2") // the session goes on
	for h, msgs := range results(t, c.until(wire.Ended, 2)) {
		got[h] = append(got[h], msgs...)
	}
	if diff := cmp.Diff(map[string][]string{"web1": {"a", "b", "c"}, "web2": {"a", "b", "c"}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestHostsWaitForTheAdvance(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	b.agent("web1", w.registry(), op)
	b.agent("web2", w.registry(), op)
	c := b.controller(op, "r1", nil)
	c.begin(steps("0.0", true, "test.t.echo", "a", "b"), "web1", "web2")
	c.until(wire.AtGate, 2)
	if w.count("a") != 0 {
		t.Error("a step ran before the advance")
	}
	advance := func(step string) {
		if err := c.Advance(wire.Advance{Play: "0.0", Step: plan.ID(step)}); err != nil {
			t.Fatal(err)
		}
	}
	advance("1.0")
	for _, e := range c.until(wire.Done, 2) {
		if e.Kind == wire.Done && e.Next != "1.1" {
			t.Errorf("%s goes to %q", e.Host, e.Next)
		}
	}
	if w.count("b") != 0 {
		t.Error("the second step ran before its advance")
	}
	advance("1.1")
	c.until(wire.Ended, 2)
	if w.count("a") != 2 || w.count("b") != 2 {
		t.Errorf("a ran %d times, b %d times", w.count("a"), w.count("b"))
	}
}

func TestLargePlansArePulled(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	b.agent("web1", w.registry(), op)
	var texts []string
	for i := range 2000 {
		texts = append(texts, fmt.Sprintf("%d %s", i, strings.Repeat("x", 400)))
	}
	p := steps("0.0", false, "test.t.echo", texts...)
	s := start(t, "r1", "web1", p)
	body := s.Plan
	s.Plan = nil
	const piece = 256 << 10
	c := b.controller(op, "r1", func(_ context.Context, a wire.Ask) wire.Answer {
		if a.Kind != wire.AskPlan || a.Digest != s.Digest || a.Play != "0.0" {
			return wire.Answer{Err: "not asked for that"}
		}
		end := min(a.Offset+piece, int64(len(body)))
		return wire.Answer{Data: body[a.Offset:end], EOF: end == int64(len(body))}
	})
	if err := c.Start(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if got := results(t, c.until(wire.Ended, 1))["web1"]; !cmp.Equal(got, texts) {
		t.Errorf("%d of %d results", len(got), len(texts))
	}
}

func TestAbsentAgentsAreNamedWithTheReason(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	b.agent("gone", w.registry(), op).end()
	b.agent("strange", w.registry(), operator(t))
	c := b.controller(op, "r1", nil)
	none := New(Config{Run: "r2", Logger: testLog()})
	defer none.Close()
	for _, tt := range []struct {
		hub        *Hub
		host, want string
	}{
		{c.Hub, "nobody", "no agent named nobody was ever enrolled"},
		{c.Hub, "gone", "the agent of gone is not connected to the broker: last seen "},
		{c.Hub, "strange", "its issuer " + op.Key + " is not trusted here"},
		{none, "web1", "no broker is configured"},
	} {
		began := time.Now()
		err := tt.hub.Start(t.Context(), start(t, "r1", tt.host, steps("0.0", false, "test.t.echo", "a")))
		var absent *AbsentError
		if !errors.As(err, &absent) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.host, err, tt.want)
		}
		if time.Since(began) > 3*time.Second {
			t.Errorf("%s: it took %s", tt.host, time.Since(began))
		}
	}
}

func TestAsksSeeTheEventsBeforeThem(t *testing.T) {
	w := newWorld()
	var c *controller
	asked := make(chan uint64, 1)
	c = local(t, w.registry(), func(_ context.Context, a wire.Ask) wire.Answer {
		if a.Kind == wire.AskVars || a.Kind == wire.AskMagic {
			return wire.Answer{}
		}
		asked <- uint64(len(c.Events()))
		return wire.Answer{Result: json.RawMessage(`{"changed": false, "msg": "far"}`)}
	})
	p := steps("0.0", false, "test.t.echo", "a", "b")
	p.Blocks[0].Body[1].Step.DelegateTo = plan.Lit(text("other"))
	c.begin(p, "localhost")
	if n := wait(t, asked); n < 2 { // started and done of the first step
		t.Errorf("only %d events had come before the ask", n)
	}
	if got := results(t, c.until(wire.Ended, 1))["localhost"]; !cmp.Equal(got, []string{"a", "far"}) {
		t.Errorf("results %q", got)
	}
}

func TestDelegatedCallsRunOnTheOtherAgent(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	b.agent("web1", w.registry(), op)
	c := b.controller(op, "r1", nil)
	call := wire.Call{Module: "test.t.echo", Args: json.RawMessage(`{"text": "hello"}`)}
	raw, err := c.Exec(t.Context(), wire.Exec{Run: "r1", ID: "1", Host: "web1", Origin: "db1", Call: call})
	if err != nil || !strings.Contains(string(raw), `"msg":"hello"`) {
		t.Errorf("Exec = %s, %v", raw, err)
	}
	call.Module = "test.t.boom"
	raw, err = c.Exec(t.Context(), wire.Exec{Run: "r1", ID: "2", Host: "web1", Origin: "db1", Call: call})
	if err != nil || !strings.Contains(string(raw), `"failed":true`) {
		t.Errorf("a module that panics: %s, %v", raw, err)
	}
	_, err = c.Exec(t.Context(), wire.Exec{Run: "r1", ID: "3", Host: "nobody", Origin: "db1", Call: call})
	var absent *AbsentError
	if !errors.As(err, &absent) {
		t.Errorf("an agent that is not there: %v", err)
	}
}

func TestRunsDoNotDisturbEachOther(t *testing.T) {
	b, w, one, two := newBroker(t), newWorld(), operator(t), operator(t)
	b.agent("web1", w.registry(), one, two)
	first, second := b.controller(one, "r1", nil), b.controller(two, "r2", nil)
	first.begin(steps("0.0", false, "test.t.hang", "slow"), "web1")
	wait(t, w.began)
	second.begin(steps("0.0", false, "test.t.echo", "quick"), "web1")
	if got := results(t, second.until(wire.Ended, 1))["web1"]; !cmp.Equal(got, []string{"quick"}) {
		t.Errorf("the second run: %q", got)
	}
	if err := second.End(t.Context()); err != nil {
		t.Error(err)
	}
	close(w.release)
	if got := results(t, first.until(wire.Ended, 1))["web1"]; !cmp.Equal(got, []string{"slow"}) {
		t.Errorf("the first run: %q", got)
	}
}

func TestCancelEndsWhatRuns(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	b.agent("web1", w.registry(), op)
	c := b.controller(op, "r1", nil)
	c.begin(steps("0.0", false, "test.t.hang", "a", "b"), "web1")
	wait(t, w.began)
	began := time.Now()
	if err := c.Cancel(wire.Cancel{Grace: time.Second}); err != nil {
		t.Fatal(err)
	}
	c.until(wire.Ended, 1)
	if d := time.Since(began); d > time.Second {
		t.Errorf("the run ended %s after it was cancelled", d)
	}
	if w.count("b") != 0 {
		t.Error("the next step ran")
	}
}

// A play whose host restarts has its session in the controller's process; the plays around it have theirs on the agent.
func TestHostMovesBetweenAgentsAndBack(t *testing.T) {
	b, w, op := newBroker(t), newWorld(), operator(t)
	b.agent("web1", w.registry(), op)
	var c *controller
	c = b.controller(op, "r1", func(ctx context.Context, a wire.Ask) wire.Answer {
		raw, err := c.Exec(ctx, wire.Exec{Run: "r1", ID: "x-" + string(a.Step), Host: a.Name, Origin: a.Host, Call: *a.Call})
		if err != nil {
			return wire.Answer{Err: err.Error()}
		}
		return wire.Answer{Result: raw}
	})
	c.cfg.Agent = agent.Local{Modules: w.registry(), Logger: testLog()}.Run
	var got []string
	for i, remote := range []bool{false, true, false, true} {
		s := start(t, "r1", "web1", steps(fmt.Sprintf("%d.0", i), false, "test.t.echo", fmt.Sprint("p", i), "more"))
		s.Remote = remote
		if err := c.Start(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		got = append(got, results(t, c.until(wire.Ended, 1))["web1"]...)
	}
	want := []string{"p0", "more", "p1", "more", "p2", "more", "p3", "more"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
