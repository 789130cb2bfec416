//go:build hostile

package hostile

import (
	"testing"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// What the other cases stand on: the agent takes part, its questions are answered, its words can be altered, and the
// frame sees it.
func TestFrameSeesWhatHappens(t *testing.T) {
	s := newSite(t)
	s.secret("id_rsa")
	s.guard(s.dir + "/private")
	witness := s.witness()
	control, attacked := s.attack(project{
		"site.yml": "- hosts: all\n  gather_facts: false\n  tasks:\n  - ping:\n  - debug: msg=end\n",
	}, func(h *hostile) {
		h.onPlan = func(s *session) {
			args := plan.Expr{V: value.NewList(value.Str("touch " + witness))}
			if _, err := s.ask(wire.Ask{Kind: wire.AskLookup, Step: s.step("ping"), Name: "pipe", Args: args}); err != nil {
				t.Error(err)
			}
		}
		h.onEvent = func(s *session, e wire.Event) []wire.Event {
			if e.Kind == wire.Done && e.Step == s.step("ping") {
				e.Outcome.Result = []byte(`{"ping": "altered", "changed": true}`)
				e.Outcome.Status = wire.Changed
				return []wire.Event{{Run: e.Run, Play: e.Play, Host: e.Host, Kind: wire.Warning, Step: e.Step, Text: "one more event"}, e}
			}
			return []wire.Event{e}
		}
	})
	if control.code != 0 || control.recap(taken)["ok"] != 2 || control.recap("web2")["ok"] != 2 {
		t.Errorf("without an attack: %s", control)
	}
	if attacked.recap(taken)["changed"] != 1 || control.of(taken) == attacked.of(taken) {
		t.Errorf("what the agent altered is not seen: %s", attacked)
	}
	refused(t, s.evil, "refused")
}
