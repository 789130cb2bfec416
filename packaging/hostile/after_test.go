//go:build hostile

package hostile

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// A host that was given up has no step done for it any more, however often it asks.
func TestNothingIsDoneForWhoWasGivenUp(t *testing.T) {
	s := newSite(t)
	file := s.dir + "/lines"
	p := project{"site.yml": `- hosts: all
  gather_facts: false
  tasks:
  - command: echo a
  - command: sleep 2
  - shell: echo {{ inventory_hostname }} >> ` + file + `
    delegate_to: localhost
  - command: echo b
  - shell: echo {{ inventory_hostname }} again >> ` + file + `
    delegate_to: localhost
`}
	var asking sync.WaitGroup
	refusals := 0
	_, attacked := s.attack(p, func(h *hostile) {
		s.write(file, "")
		h.onEvent = func(x *session, e wire.Event) []wire.Event {
			if e.Kind != wire.Done {
				return []wire.Event{e}
			}
			var ids []plan.ID
			for _, one := range x.steps() {
				if one.Evaluator == plan.Controller {
					ids = append(ids, one.ID)
				}
			}
			asking.Go(func() {
				for { // until the controller has gone
					for _, id := range ids {
						got, err := x.ask(wire.Ask{Kind: wire.AskStep, Step: id})
						if err != nil {
							return
						}
						if got.Err == "" {
							t.Errorf("step %s was done", id)
							return
						}
						refusals++
					}
				}
			})
			e.Next = ""
			return []wire.Event{e, {Run: e.Run, Play: e.Play, Host: e.Host, Kind: wire.Ended, State: wire.Finished}}
		}
	})
	asking.Wait()
	if attacked.code != 4 || strings.Contains(s.read(file), taken) {
		t.Errorf("after %d refusals the file has %q: %s", refusals, s.read(file), attacked)
	}
}

// Action plug-ins in Python are given what hosts return. Whatever that is, no template in it is rendered, no program
// is started for it, and it is about its own host alone.
func TestPluginsAreFedInVain(t *testing.T) {
	s := newSite(t)
	secret, witness := s.secret("vault"), s.witness()
	p := project{
		"action_plugins/probe.py": `from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        result['got'] = self._execute_module(module_name='ansible.builtin.command', module_args={'_raw_params': 'echo hi'}, task_vars=task_vars)
        result['low'] = self._low_level_execute_command('echo hi')
        return result
`,
		"site.yml": `- hosts: all
  gather_facts: false
  tasks:
  - probe:
    register: r
    ignore_errors: true
  - debug: {msg: "{{ r.got | default('none') | string | length > 0 }}"}
  - command: echo {{ (r.low.stdout | default('')) | quote }}
  - ping:
`}
	pipe := `{{ lookup('pipe', 'touch ` + witness + `') }}{{ lookup('file', '` + secret + `') }}`
	for name, result := range map[string]string{
		"a template":     `{"changed":false,"stdout":` + quoted(t, pipe) + `,"msg":` + quoted(t, pipe) + `}`,
		"facts":          `{"ansible_facts":{"ansible_connection":"local","ansible_python_interpreter":"` + witness + `","x":` + quoted(t, pipe) + `},"stdout":"x"}`,
		"python objects": `{"__ansible_unsafe":` + quoted(t, pipe) + `,"stdout":{"__ansible_unsafe":"x"},"__ansible_type":"x","__ansible_vault":"$ANSIBLE_VAULT;1.1;AES256\n00"}`,
		"tags of ours":   `{"stdout":{"!u":"x"},"!d":[[1,2]],"!l":"nothing","stdout_lines":{"!l":"gone"}}`,
		"delegation":     `{"_ansible_delegated_vars":{"ansible_host":"db1"},"_ansible_no_log":"x","_ansible_notify":["x"],"add_host":{"host_name":"evil"},"include":"/etc/passwd","results":[1],"skipped":true}`,
		"depth":          `{"stdout":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`,
		"no object":      `[1,2,3]`,
		"nothing":        `null`,
		"numbers":        `{"rc":1e400,"stdout":"x","x":-0,"n":123456789012345678901234567890}`,
	} {
		control, attacked := s.attack(p, func(h *hostile) {
			h.onResult = func(_ *session, d *wire.ExecDone) { d.Result = []byte(result) }
		})
		if control.code != 0 || strings.Contains(attacked.out+attacked.errs, "Traceback") || strings.Contains(attacked.errs, "internal error") {
			t.Errorf("%s: %s\nwithout it: %s", name, attacked, control)
		}
	}
}

func quoted(t *testing.T, text string) string {
	t.Helper()
	raw, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
