package agent

import (
	"context"
	"errors"
	"testing"
	"time"

	"hark/agent/wire"
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

// The last session of a run ends while the next of the same run begins: what is sent to all of the run must still be heard.
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
	if _, err := g.attacker.Request(ctx, wire.ToRun("r", wire.KindEnd), end); err != nil {
		t.Errorf("the agent does not listen to the run: %v", err)
	}
}

// A job may outlive the session that started it. What it asks then has no answer, and must not wait for one until the job's limit.
func TestWhatAJobAsksAfterItsRunFails(t *testing.T) {
	g := newTarget(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	l := newLine(g.agent, "operator", "r", "h1", wire.Key{}, terms{lease: time.Minute})
	l.close()
	if _, err := l.ask(ctx, wire.Ask{Kind: wire.AskUpload}); !errors.Is(err, errLease) {
		t.Errorf("the question ended with %v", err)
	}
}
