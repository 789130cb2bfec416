package play

import (
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/play/handover"
	"hark/controller/internal/play/strategy"
	"hark/playbook/plan"
)

// handed is a batch whose hosts have agents with handouts. The first is let go for step 1.
func handed(t *testing.T, p *plan.Plan, hosts ...string) *stage {
	t.Helper()
	s := newStage(p, hosts...)
	s.ends = t.Context()
	s.tasks = handover.New(nil, s.r.mirror, s.r.render)
	s.equip(nil)
	for _, h := range hosts {
		s.tasks.Give(h, map[string]bool{"r": true})
		s.machine.Enter(h)
		s.machine.Stand(h, "1")
	}
	s.letGo()
	return s
}

// letGo lets the first host go for the step at which all stand.
func (s *stage) letGo() {
	for _, d := range s.machine.Proceed() {
		if d.Kind == strategy.Turn {
			s.machine.Answer(strategy.Rule{Limit: 1})
		}
	}
}

// An agent says at which step its host stands. Where it may stand, the controller knows.
func TestAStepIsDoneOnceAndInItsTurn(t *testing.T) {
	s := handed(t, linear("1!", "2!", "3"), "a", "b")
	try := func(host string, id plan.ID, want bool) {
		t.Helper()
		if err := s.turn(host, s.tasks.Of(host), id); (err == nil) != want {
			t.Errorf("%s at %s: %v", host, id, err)
		} else if err == nil {
			s.tracker.Note(wire.Event{Host: host, Kind: wire.Done, Step: id, Outcome: &wire.Outcome{Status: wire.OK}})
		}
	}
	try("a", "2", false)     // its gate is shut
	try("b", "1", false)     // it was not let go
	try("a", "7", false)     // there is none
	try("a", "1.0.1", false) // nor such a fragment
	try("a", "1", true)
	try("a", "1", false) // it was done
	s.machine.Did(strategy.Done{Host: "a", Step: "1", Next: "2"})
	s.machine.Proceed()
	s.machine.Did(strategy.Done{Host: "b", Step: "1", Next: "2"})
	s.letGo()
	try("a", "2", true)
	try("a", "3", true)  // no gate stands before it
	try("a", "1", false) // it is past that
	s.machine.Leave("a", strategy.Ended)
	s.tasks.Give("a", nil)
	try("a", "3", false) // it takes no part any more
}

// That the run cannot go on is no agent's to say but where a handler is missing: it is given up, and nobody else.
func TestAnAgentDoesNotEndTheRunOfOthers(t *testing.T) {
	s := handed(t, linear("1", "2"), "a", "b")
	s.handle(wire.Event{Play: "0.0", Host: "a", Kind: wire.Broken, Step: "1"})
	if s.machine.Live("a") || !s.machine.Live("b") || s.fatal != nil {
		t.Errorf("a lives %v, b lives %v, %v", s.machine.Live("a"), s.machine.Live("b"), s.fatal)
	}
}
