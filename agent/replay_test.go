package agent

import (
	"errors"
	"testing"
	"time"

	"hark/agent/wire"
)

// Two guards keep a message from being obeyed twice: the journal has its nonce, and a run that is over has a
// tombstone. Where one would do, a test shows nothing of the other; so each is tried where it stands alone.

// letterOf is a message of a run as it comes out of the checks of its envelope.
func (g *target) letterOf(issuer *wire.Identity, run, nonce string) *letter {
	return &letter{Frame: &wire.Frame{Header: wire.Header{Kind: wire.KindPlan, Run: run, Issuer: issuer.Key, Nonce: nonce,
		Expires: time.Now().Add(time.Minute).UnixMilli()}}}
}

func isReplay(err error) bool {
	var r *wire.RefusedError
	return errors.As(err, &r) && r.Reason == wire.Replayed
}

func TestANonceIsTakenOnce(t *testing.T) {
	g := newTarget(t)
	if err := g.agent.inbox.admit(g.letterOf(g.operator, "r", "n"), nothing, noPlans); err != nil {
		t.Fatal(err)
	}
	if err := g.agent.inbox.admit(g.letterOf(g.operator, "r", "n"), nothing, noPlans); !isReplay(err) {
		t.Errorf("the second time: %v", err)
	}
	if err := g.agent.inbox.admit(g.letterOf(g.operator, "r", "m"), nothing, noPlans); err != nil {
		t.Errorf("another one: %v", err)
	}
}

// TestATombstoneRefusesWhatIsNew: each message here has a nonce of its own.
func TestATombstoneRefusesWhatIsNew(t *testing.T) {
	g := newTarget(t)
	second := newIdentity(t)
	ended := func(n string) *letter { return g.letterOf(g.operator, "ended", n) }
	cancelled := func(n string) *letter { return g.letterOf(g.operator, "cancelled", n) }
	g.agent.inbox.bury(ended("e"), nothing)
	g.agent.inbox.bury(cancelled("c"), noPlans)
	for name, err := range map[string]error{
		"a plan of a run that ended":         g.agent.inbox.admit(ended("1"), nothing, noPlans),
		"a call of a run that ended":         g.agent.inbox.admit(ended("2"), nothing),
		"a plan of a run that was cancelled": g.agent.inbox.admit(cancelled("3"), nothing, noPlans),
	} {
		if !isReplay(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"a call of a run that was cancelled": g.agent.inbox.admit(cancelled("4"), nothing),
		"another run":                        g.agent.inbox.admit(g.letterOf(g.operator, "r", "5"), nothing, noPlans),
		"another operator's run":             g.agent.inbox.admit(g.letterOf(second, "ended", "6"), nothing, noPlans),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestKindsThatCommandAreGuarded sends each message that commands an agent twice, with what the agent remembers
// beside its journal taken away.
func TestKindsThatCommandAreGuarded(t *testing.T) {
	g := newTarget(t)
	box := wire.Packing{Sign: g.operator, To: g.identity.XKey, Box: g.operator}
	order := wire.Order{Exec: wire.Exec{Run: "x", ID: "1", Host: "web1", Call: wire.Call{Module: "test.t.touch", Args: []byte("{}")}}, HostKey: wire.NewKey(), Lease: time.Minute}
	for kind, body := range map[wire.Kind]any{wire.KindPlan: g.opening("p"), wire.KindExec: order, wire.KindTrust: wire.Trust{}, wire.KindHold: wire.HoldChange{}} {
		run := map[wire.Kind]string{wire.KindPlan: "p", wire.KindExec: "x"}[kind]
		frame := g.pack(g.header(kind, run), body, box)
		g.request(kind, frame)
		g.agent.mu.Lock()
		clear(g.agent.openings)
		clear(g.agent.calls.byID)
		g.agent.mu.Unlock()
		before := g.agent.Refused()[wire.Replayed]
		if ack := g.request(kind, frame); ack.Err == "" || g.agent.Refused()[wire.Replayed] != before+1 {
			t.Errorf("%s: sent again it is acknowledged with %q", kind, ack.Err)
		}
	}
}

// TestARunThatEndedTakesNoPlan, however new the message is.
func TestARunThatEndedTakesNoPlan(t *testing.T) {
	g := newTarget(t)
	box := wire.Packing{Sign: g.operator, To: g.identity.XKey, Box: g.operator}
	for kind, end := range map[wire.Kind]any{wire.KindEnd: wire.End{Run: "r-end"}, wire.KindCancel: wire.Cancel{Run: "r-cancel"}} {
		run := "r-" + string(kind)
		if ack := g.request(kind, g.pack(g.header(kind, run), end, wire.Packing{Sign: g.operator})); ack.Err != "" {
			t.Fatalf("%s: %s", kind, ack.Err)
		}
		before := g.agent.Refused()[wire.Replayed]
		if ack := g.request(wire.KindPlan, g.pack(g.header(wire.KindPlan, run), g.opening(run), box)); ack.Err == "" || g.agent.Refused()[wire.Replayed] != before+1 {
			t.Errorf("after %s a plan is acknowledged with %q", kind, ack.Err)
		}
	}
	if n := g.runs(); n != 0 {
		t.Errorf("the module ran %d times", n)
	}
}

// TestAPlanWhoseAcknowledgementWasLostIsAcknowledgedAgain, and played once.
func TestAPlanWhoseAcknowledgementWasLostIsAcknowledgedAgain(t *testing.T) {
	g := newTarget(t)
	in := g.opening("r")
	frame := g.pack(g.header(wire.KindPlan, "r"), in, wire.Packing{Sign: g.operator, To: g.identity.XKey, Box: g.operator})
	for n := range 2 {
		if ack := g.request(wire.KindPlan, frame); ack.Err != "" || ack.Run != "r" || ack.Host != "web1" {
			t.Errorf("time %d: %+v", n+1, ack)
		}
	}
	if n := len(g.agent.runs.sessions()); n != 1 {
		t.Errorf("%d sessions", n)
	}
}
