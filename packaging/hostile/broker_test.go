//go:build hostile

package hostile

import (
	"os"
	"strings"
	"testing"

	"hark/agent/wire"
)

// The broker has everything that passes through it, and can send it again as often as it likes, to whom it likes:
// nothing runs twice.
func TestRecordedMessagesDoNothingAgain(t *testing.T) {
	s := newSite(t)
	file := s.dir + "/runs"
	tap := s.tap()
	r := s.play(project{
		"site.yml": "- hosts: db1\n  gather_facts: false\n  tasks:\n  - shell: echo one >> " + file + "\n  - debug: msg=" + canary + "\n",
	})
	if r.code != 0 {
		t.Fatal(r)
	}
	commands := tap.recorded(wire.Prefix + ".t.")
	if len(commands) == 0 {
		t.Fatal("nothing was recorded")
	}
	for _, m := range commands {
		tap.say(m, "")
		for _, k := range []wire.Kind{wire.KindPlan, wire.KindExec} {
			tap.say(m, wire.HostSubject(s.evil.identity.ID(), k))
		}
	}
	tap.flush()
	for _, m := range tap.recorded("") {
		if strings.Contains(string(m.Data), canary) {
			t.Errorf("the broker reads what is in a session: %s", m.Subject)
		}
	}
	// A run of the same agent comes after all of those.
	if r := s.play(project{"site.yml": "- hosts: db1\n  gather_facts: false\n  tasks:\n  - ping:\n"}); r.code != 0 {
		t.Error(r)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "one\n" {
		t.Errorf("the task ran again: %q, %v", text, err)
	}
}
