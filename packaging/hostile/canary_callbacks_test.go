//go:build hostile

package hostile

import (
	"slices"
	"strings"
	"testing"
)

// meddles is a callback plug-in that puts other texts into the results that it hears of.
const meddles = `from ansible.plugins.callback import CallbackBase


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "changes"
    CALLBACK_NEEDS_ENABLED = False

    def v2_runner_on_ok(self, result):
        text = "{{ lookup('pipe', 'c0') }}"
        result._result.update(stdout=text, stdout_lines=[text], ansible_facts={"told": text}, msg=text)
        self._display.display("heard of " + str(result._task.get_name()))

    v2_runner_on_failed = v2_runner_on_ok
`

// What a callback makes of a result is not what the play goes on with, so no text of it is one of the play's: neither in
// what was registered nor as a fact. Real Ansible says the same.
func TestResultsThatCallbacksChangeStayWhatTheyWere(t *testing.T) {
	dir := perches(t, 1)
	p := project{
		"callback_plugins/changes.py": meddles,
		"inventory":                   "here ansible_connection=local ansible_python_interpreter=/usr/bin/python3\n",
		"site.yml": `- hosts: here
  gather_facts: false
  tasks:
  - {name: said, command: echo mine, register: r}
  - {name: told, set_fact: {kept: "{{ r.stdout }}"}}
  - {name: shown, debug: {msg: "<{{ r.stdout }} {{ r.stdout_lines }} {{ kept }} {{ told | default('none') }}>"}, when: r.stdout == 'mine'}
  - {name: fails, command: "sh -c 'echo mine; exit 1'", register: f, ignore_errors: true}
  - {name: shown again, debug: {msg: "<{{ f.stdout }} {{ f.stdout_lines }}>"}, failed_when: f.stdout != 'mine'}
  - {name: asked, assert: {that: r.stdout == 'mine'}}
`,
	}
	const shown, again = "<mine ['mine'] mine none>", "<mine ['mine']>"
	check := func(t *testing.T, what string, r outcome, marks []int) {
		t.Helper()
		if r.code != 0 || !strings.Contains(r.out, shown) || !strings.Contains(r.out, again) || !strings.Contains(r.out, "heard of said") {
			t.Errorf("%s: %s", what, r)
		}
		if len(marks) > 0 {
			t.Errorf("%s ran the text: %v", what, marks)
		}
	}
	eachLevel(t, func(t *testing.T, level string) {
		s := newCage(t, dir, level).loose(source{}, p)
		check(t, "hark", s.outcome, s.marks)
	})
	for _, program := range ansibles() {
		c := newCage(t, dir, oldest())
		marks := t.TempDir()
		c.env = append(slices.Clone(c.env), "CANARIES="+marks)
		r := c.real(program, c.lay(p), "-i", "inventory", "site.yml")
		check(t, program, r, marksIn(t, marks))
	}
}
