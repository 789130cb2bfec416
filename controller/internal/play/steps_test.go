package play

import (
	"slices"
	"strings"
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/play/lockstep"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// handed is a batch whose hosts have agents with handouts. The first is let go for step 1.
func handed(t *testing.T, p *plan.Plan, hosts ...string) *stage {
	t.Helper()
	s := newStage(p, hosts...)
	s.ends = t.Context()
	s.handouts = &handouts{r: s.r, by: map[string]*handout{}}
	for _, h := range hosts {
		s.handouts.by[h] = &handout{host: h, asked: map[plan.ID]bool{}, told: map[string]int{}, readable: map[string]bool{"r": true}}
		s.machine.Enter(h)
		s.machine.Stand(h, "1")
	}
	s.letGo()
	return s
}

// letGo lets the first host go for the step at which all stand.
func (s *stage) letGo() {
	for _, d := range s.machine.Proceed() {
		if d.Kind == lockstep.Turn {
			s.machine.Answer(lockstep.Rule{Limit: 1})
		}
	}
}

// An agent says at which step its host stands. Where it may stand, the controller knows.
func TestAStepIsDoneOnceAndInItsTurn(t *testing.T) {
	s := handed(t, linear("1!", "2!", "3"), "a", "b")
	a, b := s.handouts.by["a"], s.handouts.by["b"]
	try := func(h *handout, id plan.ID, want bool) {
		t.Helper()
		if _, err := s.turn(h, id); (err == nil) != want {
			t.Errorf("%s at %s: %v", h.host, id, err)
		} else if err == nil {
			s.course.note(wire.Event{Host: h.host, Kind: wire.Done, Step: id, Outcome: &wire.Outcome{Status: wire.OK}})
		}
	}
	try(a, "2", false)     // its gate is shut
	try(b, "1", false)     // it was not let go
	try(a, "7", false)     // there is none
	try(a, "1.0.1", false) // nor such a fragment
	try(a, "1", true)
	try(a, "1", false) // it was done
	s.machine.Did(lockstep.Done{Host: "a", Step: "1", Next: "2"})
	s.machine.Proceed()
	s.machine.Did(lockstep.Done{Host: "b", Step: "1", Next: "2"})
	s.letGo()
	try(a, "2", true)
	try(a, "3", true)  // no gate stands before it
	try(a, "1", false) // it is past that
	s.machine.Leave("a", lockstep.Ended)
	delete(a.asked, "3")
	a.last = ""
	try(a, "3", false) // it takes no part any more
}

func TestAFragmentIsForThoseWhoIncludedIt(t *testing.T) {
	p := linear("1", "2")
	p.Blocks[0].Body[0].Step.Kind = plan.Include
	s := handed(t, p, "a", "b")
	f := &plan.Fragment{Index: 0, Blocks: []plan.Block{{Body: []plan.Node{{Step: &plan.Step{ID: "1.0.1", Kind: plan.Task}}}}}}
	s.steps.Add(f)
	a, b := s.handouts.by["a"], s.handouts.by["b"]
	a.under, a.fragments = []plan.ID{"1.0"}, []*plan.Fragment{f}
	if !s.given(a, "1.0.1") || s.given(b, "1.0.1") {
		t.Error("a fragment is given to who did not include it, or not to who did")
	}
}

// What an agent tells is how its own host fared at its own steps.
func TestWhatAgentsMayTell(t *testing.T) {
	p := linear("1", "2", "3")
	steps := map[plan.ID]*plan.Step{}
	plan.Walk(p.Blocks, func(s *plan.Step) { steps[s.ID] = s })
	steps["2"].Evaluator, steps["2"].Guard = plan.Controller, true
	steps["3"].Evaluator = plan.Controller
	event := func(k wire.EventKind, step plan.ID, o *wire.Outcome) wire.Event {
		return wire.Event{Play: "0.0", Host: "a", Kind: k, Step: step, Outcome: o}
	}
	lies := func() *wire.Outcome {
		return &wire.Outcome{Status: wire.StatusFailed, Meta: "end_play", FailAll: true, Shown: true, Delegated: "b", Included: []wire.Included{{Path: "x"}}}
	}
	for name, c := range map[string]struct {
		event wire.Event
		want  bool
	}{
		"its own step":                {event(wire.Done, "1", lies()), true},
		"a step of the controller's":  {event(wire.Done, "3", lies()), false},
		"that it began one":           {event(wire.Started, "3", nil), false},
		"an item of one":              {event(wire.Item, "3", lies()), false},
		"that it skipped a guarded":   {event(wire.Done, "2", &wire.Outcome{Status: wire.Skipped}), true},
		"that it did a guarded":       {event(wire.Done, "2", lies()), false},
		"that it skipped another":     {event(wire.Done, "3", &wire.Outcome{Status: wire.Skipped}), false},
		"a step of no plan":           {event(wire.Done, "9", lies()), false},
		"an end without an outcome":   {event(wire.Done, "1", nil), false},
		"that the run cannot go on":   {event(wire.Broken, "1", nil), false},
		"where it stands":             {event(wire.AtGate, "", nil), true},
		"a warning":                   {event(wire.Warning, "1", nil), true},
		"that it was restarted there": {event(wire.Done, "3", &wire.Outcome{Status: wire.StatusUnreachable}), true},
	} {
		s := handed(t, p, "a", "b")
		e := c.event
		if got := s.admit(&e); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if o := e.Outcome; c.want && o != nil && (o.Meta != "" || o.FailAll || o.Shown || o.Delegated != "" || o.Included != nil) {
			t.Errorf("%s: what is the controller's to say is believed: %+v", name, o)
		}
		if !s.machine.Live("b") || s.fatal != nil {
			t.Errorf("%s: it concerns other hosts", name)
		}
	}
}

// A result with as much output as is kept is within the bound, however many lines that has.
func TestMuchOutputIsWithinTheBound(t *testing.T) {
	s := handed(t, linear("1"), "a")
	text := value.UnsafeStr(strings.Repeat("hello\n", 20<<20/6))
	r, vars := value.NewDict(), value.NewDict()
	r.Set("stdout", text)
	r.Set("stdout_lines", value.NewLines(text))
	vars.Set("r", r)
	if !s.fits("a", []wire.Effect{{Layer: "set", Vars: plan.Dict{Dict: vars}}}) {
		t.Error("the host is given up")
	}
}

func TestAHostsVariablesHaveABound(t *testing.T) {
	s := handed(t, linear("1"), "a", "b")
	large := value.NewList()
	for range 100_000 {
		large.Items = append(large.Items, value.NewList())
	}
	tell := func(name string) bool {
		d := value.NewDict()
		d.Set(name, large)
		return s.fits("a", []wire.Effect{{Layer: "facts", Vars: plan.Dict{Dict: d}}})
	}
	for range 1000 {
		if !tell("same") {
			t.Fatal("one fact that is told again and again is too much")
		}
	}
	fits := 0
	for i := range 1000 {
		if !tell(string(rune('a' + i))) {
			break
		}
		fits++
	}
	if fits < 5 || fits > 100 {
		t.Errorf("%d facts of 3 MB each fit", fits)
	}
}

// What was sent to all is cut to what some host can read; who has everything asks for the rest.
func TestSharedEffectsAreCutForAgents(t *testing.T) {
	s := handed(t, linear("1"), "a", "b")
	delete(s.handouts.by, "b") // its session is in this process
	d := value.NewDict()
	d.Set("r", value.Str("read"))
	d.Set("secret", value.Str("kept"))
	other := wire.Effect{Layer: "set", Host: "c", Vars: plan.Dict{Dict: d}}
	shared, ask := s.forAll([]wire.Effect{{Layer: "set", Vars: plan.Dict{Dict: d}}, other}, []string{"a", "b"})
	if !slices.Equal(ask, []string{"b"}) || len(shared) != 1 || shared[0].Vars.Len() != 1 {
		t.Errorf("%+v, asked by %v", shared, ask)
	}
}
