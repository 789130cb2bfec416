package runner

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hark/modules/dialect"
	"hark/playbook/jinja/templar"
)

// Whatever the method of the host is, a task becomes the user that the method's own variables name: on the task's own
// host, and on the host that a task is delegated to.
func TestEveryBecomeMethodReachesItsUser(t *testing.T) {
	engine := templar.NewEngine()
	for _, m := range dialect.Methods() {
		for _, method := range []string{m.Name, m.FullName()} {
			method = strings.TrimPrefix(method, "ansible.builtin.")
			given := map[string]string{"ansible_become_method": method}
			want := map[string]string{"method": method, "user": "root"}
			for o, word := range map[dialect.BecomeOption]string{
				dialect.BecomeUser: "user", dialect.BecomeExe: "exe", dialect.BecomeFlags: "flags", dialect.BecomePass: "password",
			} {
				if m.Has(o) {
					given[m.Variable(o)], want[word] = "own-"+word, "own-"+word
				}
			}
			t.Run(method, func(t *testing.T) {
				vars, _ := json.Marshal(given)
				answers := []string{fmt.Sprintf(`{"vars": {"h2": %s}}`, vars), `{"result": {"changed": false}}`}
				here := testCase{play: fmt.Sprintf("vars: %s\ntasks:\n  - probe: {}\n    become: true\n", vars), remote: "yes",
					answer: answers[1:]}
				there := testCase{play: "tasks:\n  - probe: {}\n    become: true\n    delegate_to: h2\n", answer: answers}
				for _, c := range []testCase{here, there} {
					if got := userOf(t, c.run(t, engine)); fmt.Sprint(got) != fmt.Sprint(want) {
						t.Errorf("%s\nruns as %v, not %v", c.play, got, want)
					}
				}
			})
		}
	}
}

// What variables of the task's own host say of becoming another user does not count on the host that the task is
// delegated to.
func TestADelegatedTaskBecomesWhomThePlaybookNames(t *testing.T) {
	engine := templar.NewEngine()
	for _, m := range dialect.Methods() {
		own := map[string]string{"ansible_become": "yes", "ansible_become_method": m.FullName()}
		for _, o := range dialect.BecomeOptions() {
			own[m.Variable(o)] = "own"
		}
		vars, _ := json.Marshal(own)
		for keywords, want := range map[string]map[string]string{
			"":                       {},
			"    become: true\n":     {"user": "root", "method": "sudo"},
			"    become_user: bob\n": {},
			"    become_method: su\n    become: true\n    become_user: '{{ \"bob\" }}'\n": {"user": "bob", "method": "su"},
		} {
			c := testCase{
				play:   fmt.Sprintf("vars: %s\ntasks:\n  - probe: {}\n    delegate_to: h2\n%s", vars, keywords),
				answer: []string{`{"vars": {"h2": {}}}`, `{"result": {"changed": false}}`},
			}
			if got := userOf(t, c.run(t, engine)); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s\nruns as %v, not %v", c.play, got, want)
			}
		}
	}
}

// userOf returns the user of the only call of a transcript.
func userOf(t *testing.T, transcript string) map[string]string {
	t.Helper()
	for line := range strings.Lines(transcript) {
		_, raw, ok := strings.Cut(line, "{")
		if !ok || !strings.HasPrefix(line, "ask delegate") {
			continue
		}
		var call struct{ User map[string]string }
		if err := json.Unmarshal([]byte("{"+raw), &call); err != nil {
			t.Fatal(err)
		}
		return call.User
	}
	t.Fatalf("no call was made:\n%s", transcript)
	return nil
}
