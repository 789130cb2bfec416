package agent

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"hark/agent/internal/runner"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
)

func (g *target) open(in wire.Opening) wire.Ack {
	g.t.Helper()
	run := in.Start.Run
	return g.request(wire.KindPlan, g.pack(g.header(wire.KindPlan, run), in, wire.Packing{Sign: g.operator, To: g.identity.XKey, Box: g.operator}))
}

// An agent that counted a play that never began as one in hand could not be upgraded any more.
func TestAnOpeningThatFailsLeavesNoRun(t *testing.T) {
	g := newTarget(t)
	g.away.Store(true)
	if ack := g.open(g.opening("r")); ack.Err == "" {
		t.Fatal("a play began though the agent cannot listen to its run")
	}
	if g.agent.Busy() {
		t.Error("the run is still in hand")
	}
	g.away.Store(false)
	if ack := g.open(g.opening("r")); ack.Err != "" {
		t.Errorf("the next opening is refused: %s", ack.Err)
	}
}

// An agent that hands over ends when it is not busy. It once ended in the middle of an opening, and the play lost the
// host.
func TestAnAgentIsBusyWhileItOpensASession(t *testing.T) {
	g := newTarget(t)
	var busy []bool
	g.mu.Lock()
	g.listens = func() { busy = append(busy, g.agent.Busy()) }
	g.mu.Unlock()
	if ack := g.open(g.opening("r")); ack.Err != "" {
		t.Fatal(ack.Err)
	}
	if len(busy) == 0 || slices.Contains(busy, false) {
		t.Errorf("busy while it opens a session: %v", busy)
	}
}

// The last session of a run ends while the next of the same run begins: what is sent to all of the run must still be
// heard.
func TestARunGoesOnWhenItsOnlySessionIsReplaced(t *testing.T) {
	g := newTarget(t)
	first := g.opening("r")
	again := g.opening("r")
	again.RunKey = first.RunKey // the controller made a new key for this host only
	for _, in := range []wire.Opening{first, again} {
		if ack := g.open(in); ack.Err != "" {
			t.Fatal(ack.Err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	all := wire.Header{Kind: wire.KindEnd, Fleet: "prod", Run: "r", Targets: []string{wire.TargetRun}}
	end := g.pack(all, wire.End{Run: "r"}, wire.Packing{Sign: g.operator})
	if _, err := g.attacker.Request(ctx, wire.RunSubject("r", wire.KindEnd), end); err != nil {
		t.Errorf("the agent does not listen to the run: %v", err)
	}
}

// A job may outlive the session that started it. What it asks then has no answer, and must not wait for one until the
// job's limit.
func TestWhatAJobAsksAfterItsRunFails(t *testing.T) {
	g := newTarget(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	l := newControllerLink(g.agent, "operator", "r", "h1", wire.Key{}, terms{lease: time.Minute})
	l.close()
	if _, err := l.ask(ctx, wire.Ask{Kind: wire.AskUpload}); !errors.Is(err, errLease) {
		t.Errorf("the question ended with %v", err)
	}
}

// What the controller no longer wants begins neither here nor in the background.
func TestNothingBeginsThatNobodyWants(t *testing.T) {
	g := newTarget(t)
	s := newSession(&run{agent: g.agent, id: "r"}, &wire.Opening{Start: wire.Start{Run: "r", Host: "web1"}}, nil)
	s.line.close()
	begun := 0
	cfg := s.guard(runner.Config{
		Call: func(context.Context, runner.Invocation) modules.Result { begun++; return modules.Result{} },
		Jobs: runner.Jobs{Start: func(context.Context, runner.Invocation) (*value.Dict, error) { begun++; return nil, nil }},
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	inv := runner.Invocation{Call: wire.Call{Module: "test.t.touch"}, Module: &modules.Module{}}
	if r := cfg.Call(ctx, inv); !r.Failed || r.Msg != errLease.Error() {
		t.Errorf("a call: %+v", r)
	}
	if _, err := cfg.Jobs.Start(ctx, inv); !errors.Is(err, errLease) {
		t.Errorf("a job: %v", err)
	}
	inv.Module.Facts = true
	if r := cfg.Call(ctx, inv); r.Failed {
		t.Errorf("what gathers facts: %+v", r)
	}
	inv.Module = &modules.Module{Traits: modules.OnlyLooks}
	if r := cfg.Call(ctx, inv); r.Failed {
		t.Errorf("what only looks: %+v", r)
	}
	if begun != 2 {
		t.Errorf("%d began", begun)
	}
}
