//go:build hostile

package hostile

import (
	"encoding/json"
	"strings"
	"testing"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// What an agent says of the course of the play is about its own host. Others go on, what they did counts, and the
// exit code is that of the run.
func TestAgentsDoNotSteerThePlay(t *testing.T) {
	s := newSite(t)
	s.secret("id_rsa")
	s.guard(s.dir + "/private")
	// The first host is one that stays: what is done once is its.
	p := project{"inventory": "db1\nweb2\n" + taken + "\n", "site.yml": `- hosts: all
  gather_facts: false
  tasks:
  - command: echo a
  - fail: {msg: for the recap}
    when: inventory_hostname == 'web2'
  - command: echo b
    delegate_to: localhost
  - add_host: {name: newvm, groups: fresh}
  - debug: msg=end
- hosts: all:!newvm
  gather_facts: false
  tasks:
  - ping:
`}
	done := func(alter func(*wire.Event)) func(*session, wire.Event) []wire.Event {
		return func(x *session, e wire.Event) []wire.Event {
			if e.Kind == wire.Done && e.Outcome != nil && e.Step == x.steps()[0].ID && e.Name != "ping" {
				alter(&e)
			}
			return []wire.Event{e}
		}
	}
	beside := func(more func(wire.Event) []wire.Event) func(*session, wire.Event) []wire.Event {
		return func(x *session, e wire.Event) []wire.Event {
			if e.Kind != wire.Done {
				return []wire.Event{e}
			}
			return append(more(e), e)
		}
	}
	of := func(e wire.Event, alter func(*wire.Event)) []wire.Event {
		o := *e.Outcome
		e.Outcome = &o
		alter(&e)
		return []wire.Event{e}
	}
	ways := map[string]func(*session, wire.Event) []wire.Event{
		"fail all": done(func(e *wire.Event) {
			e.Outcome.Status, e.Outcome.FailAll, e.Outcome.Result = wire.StatusFailed, true, json.RawMessage(`{"failed":true,"msg":"x"}`)
		}),
		"unreachable for all": done(func(e *wire.Event) {
			e.Outcome.Status, e.Outcome.FailAll, e.Outcome.Result = wire.StatusUnreachable, true, json.RawMessage(`{"unreachable":true,"msg":"x"}`)
		}),
		"for another": done(func(e *wire.Event) {
			e.Outcome.Delegated, e.Outcome.Shown = "db1", true
			e.Outcome.Included = []wire.Included{{Path: s.dir + "/private/id_rsa", Index: 7}}
			e.Outcome.Effects = []wire.Effect{
				{Layer: "facts", Host: "db1", Vars: dict(t, `{"ansible_connection":"local","hark_agent":"web1","x":1}`)},
				{Layer: "set", Host: "localhost", Vars: dict(t, `{"inventory_hostname":"db1"}`)}, {Layer: "facts", Host: "db1", Clear: true},
				{Layer: "inventory", Vars: dict(t, `{"hark_agent":"db1"}`)}, {Layer: "include", Vars: dict(t, `{"hark_agent":"db1"}`)},
				{Layer: "facts", Vars: dict(t, `{"ansible_connection":"local","hark_agent":"db1","ansible_host":"127.0.0.1","groups":{},"hostvars":{},"ansible_become_exe":"x"}`)},
			}
		}),
		"broken": beside(func(e wire.Event) []wire.Event {
			return of(e, func(e *wire.Event) { e.Kind, e.Text = wire.Broken, "no more" })
		}),
		"broken without outcome": beside(func(e wire.Event) []wire.Event {
			return []wire.Event{{Run: e.Run, Play: e.Play, Host: e.Host, Kind: wire.Broken, Step: e.Step, Text: "no more"}}
		}),
		"nowhere": beside(func(e wire.Event) []wire.Event { return of(e, func(e *wire.Event) { e.Step = "99.9.9" }) }),
		"nothing": beside(func(e wire.Event) []wire.Event {
			return []wire.Event{{Run: e.Run, Play: e.Play, Host: e.Host, Kind: wire.Done, Step: e.Step}}
		}),
		"adopted": beside(func(e wire.Event) []wire.Event { return of(e, func(e *wire.Event) { e.Adopted = true }) }),
		"the end": beside(func(e wire.Event) []wire.Event {
			return []wire.Event{{Run: e.Run, Play: e.Play, Host: e.Host, Kind: wire.Ended, State: wire.Finished}}
		}),
		"a gate": beside(func(e wire.Event) []wire.Event {
			return []wire.Event{{Run: e.Run, Play: e.Play, Host: e.Host, Kind: wire.AtGate, Next: "99"}}
		}),
		"another's steps": func(x *session, e wire.Event) []wire.Event {
			out := []wire.Event{e}
			for _, step := range x.steps() {
				if e.Kind == wire.Done && step.ID != e.Step && step.Evaluator == plan.Controller {
					out = append(out, of(e, func(e *wire.Event) { e.Step = step.ID })...)
				}
			}
			return out
		},
	}
	for _, meta := range []string{"end_play", "end_batch", "end_host", "clear_host_errors", "clear_facts", "refresh_inventory", "flush_handlers", "reset_connection", "end_role", "zzz"} {
		ways["meta "+meta] = done(func(e *wire.Event) { e.Outcome.Meta = meta })
	}
	for name, way := range ways {
		t.Log(name)
		control, attacked := s.attack(p, func(h *hostile) { h.onEvent = way })
		want := 2 // web2 has failed
		if attacked.recap(taken)["unreachable"] > 0 {
			want = 4
		}
		if control.code != 2 || attacked.code != want {
			t.Errorf("%s: exit code %d, without the attack %d", name, attacked.code, control.code)
		}
		if t.Failed() {
			return
		}
	}
}

// An agent that leaves tasks out, by passing over them or by leaving the play early, does not go unnoticed: the host
// is unreachable, and the task is named.
func TestNothingIsLeftOutInSilence(t *testing.T) {
	s := newSite(t)
	p := project{"site.yml": `- hosts: all
  gather_facts: false
  tasks:
  - {name: first, command: echo a}
  - {name: second, command: echo b}
  - block:
    - {name: third, command: echo c}
    always:
    - {name: fourth, command: echo d}
- hosts: all
  gather_facts: false
  tasks:
  - {name: fifth, command: echo e}
`}
	ended := func(e wire.Event, fate wire.HostState) []wire.Event {
		return []wire.Event{e, {Run: e.Run, Play: e.Play, Host: e.Host, Kind: wire.Ended, State: fate}}
	}
	after := func(name string, fate wire.HostState) func(*session, wire.Event) []wire.Event {
		return func(_ *session, e wire.Event) []wire.Event {
			if e.Kind == wire.Done && e.Name == name {
				e.Next = ""
				return ended(e, fate)
			}
			return []wire.Event{e}
		}
	}
	without := func(name string) func(*session, wire.Event) []wire.Event {
		return func(_ *session, e wire.Event) []wire.Event {
			if e.Name == name && e.Kind != wire.Done {
				return nil
			}
			if e.Name == name { // where it goes is told all the same, for a while
				return []wire.Event{{Run: e.Run, Play: e.Play, Host: e.Host, Kind: wire.AtGate, Next: e.Next}}
			}
			return []wire.Event{e}
		}
	}
	for name, c := range map[string]struct {
		way  func(*session, wire.Event) []wire.Event
		says string
	}{
		"finished after the first":  {after("first", wire.Finished), "leaves out task [second]"},
		"ended after the second":    {after("second", wire.EndedEarly), "leaves out task [third]"},
		"finished before always":    {after("third", wire.Finished), "leaves out task [fourth]"},
		"failed after the first":    {after("first", wire.Failed), "not at what"},
		"away after the first":      {after("first", wire.Unreachable), "has left the play"},
		"without the second":        {without("second"), "leaves out task [second]"},
		"without the last":          {without("fourth"), "leaves out task [fourth]"},
		"without the only one":      {without("fifth"), "leaves out task [fifth]"},
		"finished before the first": {func(_ *session, e wire.Event) []wire.Event { return ended(e, wire.Finished)[1:] }, "leaves out task [first]"},
	} {
		control, attacked := s.attack(p, func(h *hostile) { h.onEvent = c.way })
		if control.code != 0 || attacked.code != 4 || attacked.recap(taken)["unreachable"] != 1 || !strings.Contains(attacked.out, c.says) {
			t.Errorf("%s: %s", name, attacked)
		}
	}
}

// Results of another host's call are taken from who was called, and batches are about the host of the agent.
func TestAgentsSpeakForNoOther(t *testing.T) {
	s := newSite(t)
	p := project{"site.yml": "- hosts: all\n  gather_facts: false\n  tasks:\n  - command: echo a\n  - command: echo b\n    delegate_to: db1\n    register: r\n  - debug: msg={{ r.stdout }}\n"}
	first := true
	control, attacked := s.attack(p, func(h *hostile) {
		h.onEvent = func(x *session, e wire.Event) []wire.Event {
			if e.Kind == wire.Done && first {
				first = false
				for _, host := range []string{"db1", "web2", "localhost"} {
					forged := e
					forged.Host, forged.Seq = host, 1
					go func() { _ = x.batch(wire.Batch{Run: x.run, Host: host, Events: []wire.Event{forged}}) }()
					go func() { _ = x.batch(wire.Batch{Run: x.run, Host: taken, Events: []wire.Event{forged}}) }()
				}
				for _, id := range []string{"", "1", "2", "3", x.run} {
					go func() {
						_ = x.done(wire.ExecDone{ID: id, Result: json.RawMessage(`{"stdout":"forged","changed":false}`)})
					}()
				}
			}
			return []wire.Event{e}
		}
	})
	if control.code != 0 || attacked.code != 0 || control.of(taken) != attacked.of(taken) {
		t.Error(attacked)
	}
}
