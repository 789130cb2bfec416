package play

import (
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/play/stall"
	"hark/controller/internal/ui/view"
	"hark/playbook/plan"
)

func TestTheBatchGoesOnWithoutAStraggler(t *testing.T) {
	s := newStage(linear("1!", "2!"), "a", "b")
	s.slow = stall.NewSlowHosts(20*time.Millisecond, time.Now)
	on := make(chan struct{})
	s.theatre.hold = func(host string, step plan.ID) {
		switch {
		case host == "b": // it is at step 1 until the others are past it
			<-on
		case step == "2":
			close(on)
		}
	}
	s.play(t)
	s.expect(t, "TASK t1", "  a: ok", "  b: unreachable", "TASK t2", "  a: ok")
	if !s.r.states.Unreachable("b") || s.r.states.Unreachable("a") || s.r.recap.Of("b").Unreachable != 1 {
		t.Errorf("unreachable: %v, recap of b: %+v", s.r.states.Hosts(), s.r.recap.Of("b"))
	}
}

func TestNobodyIsLeftBehindWhenNobodyWaits(t *testing.T) {
	p := linear("1!")
	p.Play.Strategy = "free"
	s := newStage(p, "a", "b")
	s.slow = stall.NewSlowHosts(time.Nanosecond, time.Now)
	s.play(t)
	if s.r.states.AnyUnreachable() {
		t.Errorf("unreachable: %v", s.r.states.Hosts())
	}
}

func TestLiveOutputIsShownByHost(t *testing.T) {
	s := newStage(linear("1!"), "a")
	said := &printed{}
	s.r.messages = said
	s.theatre.hold = func(host string, step plan.ID) {
		for _, e := range []wire.Event{{Text: "one\ntwo\n"}, {Text: "three", Stderr: true}} {
			e.Own, e.Play, e.Host, e.Kind, e.Step = true, "0.0", host, wire.Output, step
			s.theatre.events <- e
		}
	}
	s.play(t)
	if got := strings.Join(said.lines, "\n"); got != "a | one\na | two\na ! three" {
		t.Errorf("shown:\n%s", got)
	}
}

// printed are messages of which only the printed lines count.
type printed struct {
	notes
	lines []string
}

func (p *printed) Print(_ view.Color, text string) { p.lines = append(p.lines, text) }
