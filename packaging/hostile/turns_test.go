//go:build hostile

package hostile

import (
	"slices"
	"strings"
	"testing"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// A step of the controller's is done for a host when that stands there, once. What was not included for it, and
// handlers that it was never given, are no steps of its.
func TestStepsAreHandedOverInTurn(t *testing.T) {
	s := newSite(t)
	file := s.dir + "/lines"
	s.write(file, "")
	p := project{
		"inventory": "db1\nweb2\n" + taken + "\n",
		"site.yml": `- hosts: all
  gather_facts: false
  tasks:
  - shell: echo one {{ inventory_hostname }} >> ` + file + `
    delegate_to: localhost
  - ping:
  - include_tasks: sub.yml
    when: inventory_hostname != groups['all'][2]
  - shell: echo two {{ inventory_hostname }} >> ` + file + `
    delegate_to: localhost
  - ping:
  handlers:
  - name: never
    shell: echo never {{ inventory_hostname }} >> ` + file + `
    delegate_to: localhost
`, "sub.yml": "- shell: echo sub {{ inventory_hostname }} >> " + file + "\n  delegate_to: localhost\n",
	}
	put := 0
	again := func(x *session, at plan.ID) {
		for _, one := range x.steps() {
			for _, id := range []plan.ID{at, one.ID, one.ID + ".0", one.ID + ".0.1", one.ID + ".0.2", one.ID + ".1.1", "h", "h.1", "", "99"} {
				if id == one.ID && plan.Compare(id, at) > 0 {
					continue // its turn comes; who asks early has left something out
				}
				got, err := x.ask(wire.Ask{Kind: wire.AskStep, Step: id})
				if err != nil && (at == "" || strings.Contains(err.Error(), "nobody answers")) {
					return // the controller may be through with the session, or gone: nothing waits for the agent's last words
				}
				if err != nil || got.Err == "" && one.Evaluator == plan.Controller || strings.Contains(got.Err, "internal error") {
					t.Errorf("step %s after %s: %v, %s", id, at, err, plain(got))
				}
				put++
			}
		}
	}
	control, attacked := s.attack(p, func(h *hostile) {
		s.write(file, "")
		h.onEvent = func(x *session, e wire.Event) []wire.Event {
			if e.Kind == wire.Done || e.Kind == wire.Ended {
				again(x, e.Step)
			}
			return []wire.Event{e}
		}
	})
	if control.code != 0 || put == 0 {
		t.Errorf("%d questions: %s", put, control)
	}
	lines := strings.Split(strings.TrimSpace(s.read(file)), "\n")
	slices.Sort(lines)
	if once := slices.Compact(slices.Clone(lines)); len(once) != len(lines) {
		t.Errorf("a step was done twice: %v", lines)
	}
	for _, line := range lines {
		if strings.HasSuffix(line, taken) && (strings.HasPrefix(line, "sub") || strings.HasPrefix(line, "never")) {
			t.Errorf("it was done for the host: %s, %s", line, attacked)
		}
	}
}

// A later step of the controller's is not done early: what comes before it would be left out.
func TestStepsAreNotHandedOverEarly(t *testing.T) {
	s := newSite(t)
	file := s.dir + "/lines"
	p := project{"inventory": "db1\nweb2\n" + taken + "\n", "site.yml": `- hosts: all
  gather_facts: false
  tasks:
  - command: "false"
    delegate_to: localhost
    when: inventory_hostname == groups['all'][2]
  - shell: echo two {{ inventory_hostname }} >> ` + file + `
    delegate_to: localhost
`}
	s.attack(p, func(h *hostile) {
		s.write(file, "")
		h.onPlan = func(x *session) {
			var last plan.ID
			for _, one := range x.steps() {
				if one.Evaluator == plan.Controller && one.Action == x.steps()[len(x.steps())-1].Action || one.Kind == plan.Task {
					last = one.ID
				}
			}
			if got, err := x.ask(wire.Ask{Kind: wire.AskStep, Step: last}); err == nil && got.Err == "" {
				t.Errorf("step %s: %s", last, plain(got))
			}
		}
	})
}
