package progress

import (
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/play/playtest"
	"hark/playbook/plan"
)

// What an agent tells is how its own host fared at its own steps.
func TestWhatAgentsMayTell(t *testing.T) {
	p := &plan.Plan{Blocks: []plan.Block{{Body: playtest.Steps([]string{"1", "2", "3"})}}}
	steps := map[plan.ID]*plan.Step{}
	plan.Walk(p.Blocks, func(s *plan.Step) { steps[s.ID] = s })
	steps["2"].Evaluator, steps["2"].Guard = plan.Controller, true
	steps["3"].Evaluator = plan.Controller
	event := func(k wire.EventKind, step plan.ID, o *wire.Outcome) wire.Event {
		return wire.Event{Play: "0.0", Host: "a", Kind: k, Step: step, Outcome: o}
	}
	lies := func() *wire.Outcome {
		return &wire.Outcome{Status: wire.StatusFailed, Meta: "end_play", FailAll: true, Shown: true, Delegated: "b",
			Included: []wire.Included{{Path: "x"}}}
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
		"where it stands":             {event(wire.AtGate, "", nil), true},
		"a warning":                   {event(wire.Warning, "1", nil), true},
		"that it was restarted there": {event(wire.Done, "3", &wire.Outcome{Status: wire.StatusUnreachable}), true},
	} {
		e := c.event
		if doubt := Admit(&e, steps[e.Step], false); (doubt == "") != c.want {
			t.Errorf("%s: %q", name, doubt)
		}
		if o := e.Outcome; c.want && o != nil && (o.Meta != "" || o.FailAll || o.Shown || o.Delegated != "" ||
			o.Included != nil) {
			t.Errorf("%s: what is the controller's to say is believed: %+v", name, o)
		}
	}
	e := event(wire.Done, "1", lies())
	if Admit(&e, steps["1"], true) == "" {
		t.Error("a host tells of a step that it has handed over")
	}
}
