package play

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/play/link"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

func TestAHostThatIsLostWhereThatIsIgnoredGoesOnBehind(t *testing.T) {
	for _, strategy := range []string{"linear", "free"} {
		p := linear("1!", "2!", "3!")
		p.Play.Strategy = strategy
		lost := p.Blocks[0].Body[0].Step
		lost.IgnoreUnreachable, lost.Register = plan.Lit(value.Bool(true)), "x"
		s := newStage(p, "a", "b")
		s.theatre.hold = func(host string, step plan.ID) {
			if host == "b" && step == "1" {
				s.theatre.lost <- link.LostHost{Host: "b", Reason: "the agent went away"}
				<-s.r.stopped
			}
		}
		s.theatre.outcome = func(host string, step plan.ID) wire.Outcome {
			if host == "b" && step == "1" { // when nobody listens any more
				return wire.Outcome{Status: wire.StatusUnreachable}
			}
			return wire.Outcome{Status: wire.OK}
		}
		s.play(t)
		did := s.theatre.did()
		if !slices.Contains(did, "b 2") || !slices.Contains(did, "b 3") || s.r.states.Unreachable("b") {
			t.Errorf("%s: done: %v, unreachable: %v", strategy, did, s.r.states.Hosts())
		}
		if c := s.r.recap.Of("b"); c.Unreachable != 0 || c.Ignored != 1 || c.OK != 3 {
			t.Errorf("%s: recap of b: %+v", strategy, c)
		}
		if x, ok := s.r.mirror.Start("b").Set.Get("x"); !ok || !strings.Contains(fmt.Sprint(x), "the agent went away") {
			t.Errorf("%s: x is %v", strategy, x)
		}
	}
}

func TestWhatIsNotKnownOfALostHostIsSaid(t *testing.T) {
	gated, alone := newStage(linear("1!"), "a"), newStage(&plan.Plan{}, "a")
	if said := gated.lost.unknown("a"); said != "" {
		t.Errorf("a host at the barrier: %q", said)
	}
	gated.where.begin("a", "")
	if said := gated.lost.unknown("a"); said != "; whether this task was done is not known" {
		t.Errorf("a host at a task: %q", said)
	}
	gated.polls.Heed(wire.Event{Host: "a", Kind: wire.Progress, Every: time.Second, Outcome: &wire.Outcome{Result: []byte(`{"ansible_job_id":"j1.2"}`)}})
	if said := gated.lost.unknown("a"); !strings.HasSuffix(said, "see hark jobs show j1.2") {
		t.Errorf("a host that waits for a job: %q", said)
	}
	if said := alone.lost.unknown("a"); !strings.Contains(said, "and those after it") {
		t.Errorf("a host that waits for nobody: %q", said)
	}
}
