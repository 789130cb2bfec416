package play

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/play/link"
	"hark/controller/internal/play/playtest"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

func (s *stage) expect(t *testing.T, want ...string) {
	t.Helper()
	got := strings.Join(s.screen.Lines, "\n")
	if w := strings.Join(want, "\n"); got != w {
		t.Errorf("screen is\n%s\nwant\n%s", got, w)
	}
}

func TestNoHostStartsAStepBeforeAllHaveDoneTheOneBefore(t *testing.T) {
	s := newStage(linear("1!", "2!", "3!"), "a", "b", "c")
	s.play(t)
	var steps []string
	for _, d := range s.theatre.did() {
		steps = append(steps, strings.Fields(d)[1])
	}
	if !slices.IsSorted(steps) || len(steps) != 9 {
		t.Errorf("steps were done in the order %v", s.theatre.did())
	}
}

func TestHostsInRescueWaitForEarlierSteps(t *testing.T) {
	p := &plan.Plan{Play: plan.Play{Gated: true}, Blocks: []plan.Block{{Body: []plan.Node{
		{Block: &plan.Block{Body: playtest.Steps([]string{"1!", "2!"}), Rescue: playtest.Steps([]string{"3!"}), Always: playtest.Steps([]string{"4!"})}},
		playtest.Steps([]string{"5!"})[0],
	}}}}
	s := newStage(p, "a", "b")
	s.theatre.outcome = func(host string, step plan.ID) wire.Outcome {
		if host == "a" && step == "1" {
			return wire.Outcome{Status: wire.StatusFailed, Rescued: true}
		}
		return wire.Outcome{Status: wire.OK}
	}
	s.play(t)
	s.expect(t, "TASK t1", "  "+first(s, "t1"), "  "+second(s, "t1"), "TASK t2", "  b: ok", "TASK t3", "  a: ok",
		"TASK t4", "  "+first(s, "t4"), "  "+second(s, "t4"), "TASK t5", "  "+first(s, "t5"), "  "+second(s, "t5"))
	if s.r.states.AnyFailed() {
		t.Errorf("out: %v", s.r.states.Hosts())
	}
}

// first and second are the results of a task with two hosts, which arrive in any order.
func first(s *stage, task string) string  { return answerIn(s, task, 1) }
func second(s *stage, task string) string { return answerIn(s, task, 2) }

func answerIn(s *stage, task string, n int) string {
	i := slices.Index(s.screen.Lines, "TASK "+task)
	if i < 0 || i+n >= len(s.screen.Lines) {
		return "missing"
	}
	return strings.TrimSpace(s.screen.Lines[i+n])
}

func TestOneHostDoesARunOnceStepForAll(t *testing.T) {
	p := linear("1!", "2!")
	p.Blocks[0].Body[0].Step.RunOnce = plan.Lit(value.Bool(true))
	for _, n := range p.Blocks[0].Body {
		n.Step.Register = "who"
	}
	s := newStage(p, "a", "b", "c")
	s.theatre.outcome = func(host string, step plan.ID) wire.Outcome {
		d := value.NewDict()
		d.Set("who", value.UnsafeStr(host))
		return wire.Outcome{Status: wire.OK, Effects: []wire.Effect{{Layer: "set", Vars: plan.Dict{Dict: d}}}}
	}
	s.play(t)
	if got := s.theatre.did()[:2]; got[0] != "a 1" || got[1] == "b 1" {
		t.Errorf("done: %v", s.theatre.did())
	}
	if s.screen.Lines[1] != "  a: ok" || s.screen.Lines[2] != "TASK t2" {
		t.Errorf("screen: %v", s.screen.Lines)
	}
	if v, _ := s.r.mirror.Start("c").Set.Get("who"); v != value.UnsafeStr("c") {
		t.Errorf("c has %v after step 2", v)
	}
}

func TestAFailedRunOnceStepFailsEveryHost(t *testing.T) {
	p := linear("1!", "2!")
	p.Blocks[0].Body[0].Step.RunOnce = plan.Lit(value.Bool(true))
	s := newStage(p, "a", "b")
	s.theatre.outcome = failing("a 1")
	s.play(t)
	s.expect(t, "TASK t1", "  a: failed", "NO MORE HOSTS LEFT")
	if !s.r.states.Failed("a") || !s.r.states.Failed("b") {
		t.Errorf("out: %v", s.r.states.Hosts())
	}
}

func TestForksAndThrottleLimitHowManyGo(t *testing.T) {
	for name, set := range map[string]func(*stage){
		"forks":    func(s *stage) { s.r.in.Forks = 2 },
		"throttle": func(s *stage) { s.plan.Blocks[0].Body[0].Step.Throttle = plan.Lit(value.Int(2)) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(linear("1!"), "a", "b", "c", "d", "e")
			set(s)
			most := s.mostAtOnce("1")
			s.play(t)
			if *most > 2 || len(s.theatre.did()) != 5 {
				t.Errorf("%d went at once; done: %v", *most, s.theatre.did())
			}
		})
	}
}

func TestAnyErrorsFatalStopsTheHostsThatAreWell(t *testing.T) {
	p := linear("1", "2")
	p.Play.AllGated = true
	s := newStage(p, "a", "b")
	s.theatre.outcome = func(host string, step plan.ID) wire.Outcome {
		if host == "a" {
			return wire.Outcome{Status: wire.StatusFailed, FailAll: true}
		}
		return wire.Outcome{Status: wire.Skipped}
	}
	s.play(t)
	s.expect(t, "TASK t1", "  "+first(s, "t1"), "  "+second(s, "t1"), "NO MORE HOSTS LEFT")
	if s.machine.Over(); !s.machine.Balance().Broken || !s.r.states.Failed("b") {
		t.Errorf("balance %+v, out: %v", s.machine.Balance(), s.r.states.Hosts())
	}
}

func TestAbsentHostIsUnreachableAtTheFirstStepAndTheOthersGoOn(t *testing.T) {
	s := newStage(linear("1!", "2!"), "a", "b")
	s.theatre.absent = map[string]string{"b": "no agent is enrolled under the name b"}
	s.play(t)
	s.expect(t, "TASK t1", "  "+first(s, "t1"), "  "+second(s, "t1"), "TASK t2", "  a: ok")
	if !s.r.states.Unreachable("b") || s.r.recap.Of("b").Unreachable != 1 {
		t.Errorf("out: %v", s.r.states.Hosts())
	}
}

func TestLostHostDoesNotHoldUpTheOthers(t *testing.T) {
	s := newStage(linear("1!", "2!"), "a", "b")
	gone := make(chan struct{})
	s.theatre.hold = func(host string, step plan.ID) {
		if host == "b" && step == "1" {
			s.theatre.lost <- link.LostHost{Host: "b", Reason: "the agent went away"}
			<-gone
		}
		if host == "a" && step == "2" {
			close(gone)
		}
	}
	s.play(t)
	if got := s.theatre.did(); !slices.Contains(got, "a 2") || slices.Contains(got, "b 2") {
		t.Errorf("done: %v", got)
	}
	if !s.r.states.Unreachable("b") {
		t.Error("the lost host does not count as unreachable")
	}
}

func TestAHostThatIsLostInARunOnceStepEndsThePlay(t *testing.T) {
	p := linear("1!", "2!")
	p.Blocks[0].Body[0].Step.RunOnce = plan.Lit(value.Bool(true))
	s := newStage(p, "a", "b")
	ended := make(chan struct{})
	s.theatre.hold = func(host string, step plan.ID) {
		s.theatre.lost <- link.LostHost{Host: host, Reason: "the agent went away"}
		<-ended
	}
	go func() { // the puppet may go on when the batch is over
		<-s.r.stopped
		close(ended)
	}()
	s.play(t)
	s.expect(t, "TASK t1", "  a: unreachable", "NO MORE HOSTS LEFT")
}

func TestCancelLetsHostsEndAndShowsWhatTheyDid(t *testing.T) {
	s := newStage(linear("1!", "2!"), "a", "b")
	ctx, cancel := context.WithCancel(context.Background())
	s.theatre.hold = func(string, plan.ID) {
		cancel()
		<-s.theatre.cancels
		s.theatre.cancels <- struct{}{}
	}
	s.theatre.outcome = func(string, plan.ID) wire.Outcome { return wire.Outcome{Status: wire.StatusFailed} }
	s.playWith(t, ctx)
	s.expect(t, "TASK t1", "  "+first(s, "t1"), "  "+second(s, "t1"))
}

func TestEndPlayTakesAllHostsOut(t *testing.T) {
	p := linear("1!:meta", "2!")
	args := value.NewDict()
	args.Set("_raw_params", value.SourceText("end_play"))
	p.Blocks[0].Body[0].Step.Args = plan.Dict{Dict: args}
	s := newStage(p, "a", "b")
	s.theatre.outcome = func(host string, step plan.ID) wire.Outcome { return wire.Outcome{Status: wire.OK, Meta: "end_play"} }
	s.play(t)
	if got := s.theatre.did(); len(got) != 1 || !s.machine.Balance().EndPlay {
		t.Errorf("done: %v", got)
	}
}

func TestThrottleHoldsInFreePlaysToo(t *testing.T) {
	p := linear("1!", "2")
	p.Play.Strategy = "free"
	p.Blocks[0].Body[0].Step.Throttle = plan.Lit(value.Int(2))
	s := newStage(p, "a", "b", "c", "d")
	most := s.mostAtOnce("1")
	s.play(t)
	if *most > 2 || len(s.theatre.did()) != 8 {
		t.Errorf("%d went at once; done: %v", *most, s.theatre.did())
	}
}

// mostAtOnce counts how many hosts do a step at the same time.
func (s *stage) mostAtOnce(step plan.ID) *int {
	var mu sync.Mutex
	now, most := 0, 0
	count := func(at plan.ID, by int) {
		mu.Lock()
		defer mu.Unlock()
		if at == step {
			now += by
			most = max(most, now)
		}
	}
	s.theatre.hold = func(_ string, at plan.ID) { count(at, 1) }
	s.theatre.outcome = func(_ string, at plan.ID) wire.Outcome {
		count(at, -1)
		return wire.Outcome{Status: wire.OK}
	}
	return &most
}

func TestFreeHostsDoNotWait(t *testing.T) {
	p := linear("1!", "2!")
	p.Play.Gated, p.Play.Strategy = false, "free"
	s := newStage(p, "a", "slow")
	fast := make(chan struct{})
	s.theatre.hold = func(host string, step plan.ID) {
		if host == "slow" && step == "1" {
			<-fast
		}
		if host == "a" && step == "2" {
			close(fast)
		}
	}
	s.play(t)
	if len(s.theatre.did()) != 4 {
		t.Errorf("done: %v", s.theatre.did())
	}
}

func TestHostsWhoseFactsAreKnownPassTheGathering(t *testing.T) {
	p := linear("1!", "2!")
	p.Blocks[0].Body[0].Step.Implicit = true
	s := newStage(p, "a", "b", "c")
	s.pace.needFacts = map[string]bool{"b": true}
	s.play(t)
	if got := s.theatre.did(); got[0] != "b 1" || len(got) != 4 {
		t.Errorf("done: %v", got)
	}
	if s.screen.Lines[1] != "  b: ok" || s.screen.Lines[2] != "TASK t2" {
		t.Errorf("screen: %v", s.screen.Lines)
	}
}
