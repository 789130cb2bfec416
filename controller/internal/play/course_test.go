package play

import (
	"strings"
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/play/strategy"
	"hark/controller/internal/ui/view"
	"hark/playbook/plan"
)

// sections is a plan of 1, a block of body 2 3, rescue 4 5 and always 6, and 7.
func sections() *plan.Plan {
	step := func(id plan.ID) plan.Node {
		return plan.Node{Step: &plan.Step{ID: id, Kind: plan.Task, Name: string(id)}}
	}
	block := plan.Block{ID: "b", Body: []plan.Node{step("2"), step("3")}, Rescue: []plan.Node{step("4"), step("5")}, Always: []plan.Node{step("6")}}
	return &plan.Plan{Blocks: []plan.Block{{ID: "a", Body: []plan.Node{step("1"), {Block: &block}, step("7")}}}}
}

// said keeps what is shown of results.
type said struct {
	view.Silent
	text string
}

func (s *said) Done(r view.Result) { s.text += string(r.Outcome.Result) }

// What an agent tells, in words: a step, with - if it failed, ~ skipped, ! unreachable, + include of fragment 0, and
// how it ends.
func TestAnAgentLeavesNothingOut(t *testing.T) {
	fates := map[string]wire.Event{
		"finished": {State: wire.Finished}, "early": {State: wire.EndedEarly}, "failed": {State: wire.Failed}, "unreachable": {State: wire.Unreachable},
		"broken": {State: wire.Failed, Text: "the plan cannot be read"},
	}
	for tells, want := range map[string]string{
		"1 2 3 6 7 finished":               "",
		"1 2~ 3~ 6~ 7~ finished":           "",
		"1 2- 4 5 6 7 finished":            "",
		"1 2 3- 4 5- 6 failed":             "",
		"1- failed":                        "",
		"1! unreachable":                   "",
		"1 broken":                         "",
		"finished":                         "out task [1]",
		"1 2 finished":                     "out task [3]",
		"1 2 early":                        "out task [3]",
		"1 3 6 7 finished":                 "out task [2]",
		"1 2 3 7 finished":                 "out task [6]",
		"1 2- 6 7 finished":                "out task [4]",
		"1 2- 4 6 7 finished":              "out task [5]",
		"1 2- 4 5 finished":                "out task [6]",
		"1 2 3 6 finished":                 "out task [7]",
		"1 failed":                         "not at what",
		"1 2- failed":                      "not at what",
		"1 unreachable":                    "has left the play",
		"1 2 3 6 7+ 7.0.1 7.0.2~ finished": "", // what another host has included there is not its own
		"1 2 3 6 7+ 7.0.1 7.0.2+ 7.0.2.0.1 finished": "",
		"1 2 3 6 7+ 7.0.1 7.0.2+ finished":           "out task [7.0.2.0.1]",
		"1 2 3 6 7+ 7.0.1 finished":                  "out task [7.0.2]",
		"1 2 3 6 7+ finished":                        "out task [7.0.1]",
		"1 2 3 6 7+ 7.0.1- finished":                 "", // it is told as failed
		"1 2 3 4 5 6 7 finished":                     "", // it may say more than it owes
	} {
		s := handed(t, sections(), "a", "b")
		shown := &said{}
		s.order.View = shown
		s.steps.Step("7").Kind = plan.Include
		s.steps.Add(&plan.Fragment{Blocks: []plan.Block{{ID: "7.0.0", Body: []plan.Node{
			{Step: &plan.Step{ID: "7.0.1", Name: "7.0.1", Kind: plan.Task}}, {Step: &plan.Step{ID: "7.0.2", Name: "7.0.2", Kind: plan.Include}},
		}}}})
		s.steps.Add(&plan.Fragment{Blocks: []plan.Block{{ID: "7.0.2.0.0", Body: []plan.Node{{Step: &plan.Step{ID: "7.0.2.0.1", Name: "7.0.2.0.1", Kind: plan.Task}}}}}})
		for _, word := range strings.Fields(tells) {
			e, ok := fates[word]
			e.Play, e.Host, e.Kind = "0.0", "a", wire.Ended
			if !ok {
				e.Kind, e.Step, e.Outcome = wire.Done, plan.ID(strings.TrimRight(word, "-~!+")), &wire.Outcome{Status: wire.OK, Result: []byte("{}")}
				switch word[len(word)-1] {
				case '-':
					e.Outcome.Status = wire.StatusFailed
				case '~':
					e.Outcome.Status = wire.Skipped
				case '!':
					e.Outcome.Status = wire.StatusUnreachable
				case '+':
					e.Own, e.Outcome.Included = true, []wire.Included{{Index: 0}}
				}
			}
			s.handle(e)
		}
		s.order.Drain()
		if strings.Contains(shown.text, "agent") != (want != "") || !strings.Contains(shown.text, want) || s.machine.Live("a") {
			t.Errorf("%s: %s, want %q", tells, shown.text, want)
		}
	}
}

// A host that the controller has told to leave, or to fail where it stands, owes no more than that says.
func TestWhoIsToldToLeaveOwesNothing(t *testing.T) {
	for name, tell := range map[string]func(*stage){
		"drop": func(s *stage) { s.publish(wire.Advance{Drop: []string{"a"}}) },
		"end":  func(s *stage) { s.publish(wire.Advance{EndPlay: true}) },
		"fail": func(s *stage) {
			s.pace.carryOut(t.Context(), []strategy.Decision{{Kind: strategy.Fail, Hosts: []string{"a"}, At: []plan.ID{"7"}}})
		},
	} {
		s := handed(t, sections(), "a", "b")
		tell(s)
		if s.tracker.Missed("a", "") != nil {
			t.Errorf("%s: more is owed", name)
		}
		if name != "end" && s.tracker.Missed("b", "") == nil {
			t.Errorf("%s: another host owes nothing either", name)
		}
	}
}

// A session that has broken the run ends for that: its end is no failed task beside.
func TestWhoHasBrokenTheRunIsNotToldAsFailed(t *testing.T) {
	for _, broken := range []bool{true, false} {
		s := handed(t, sections(), "a", "b")
		shown := &said{}
		s.order.View = shown
		if broken {
			s.handle(wire.Event{Play: "0.0", Host: "a", Kind: wire.Broken, Own: true, Text: "a file is not there"})
		}
		s.handle(wire.Event{Play: "0.0", Host: "a", Kind: wire.Ended, Own: true, State: wire.Failed, Text: "a file is not there"})
		s.order.Drain()
		if strings.Contains(shown.text, "a file is not there") == broken || (s.fatal != nil) != broken {
			t.Errorf("broken: %t, shown: %q, the end: %v", broken, shown.text, s.fatal)
		}
	}
}
