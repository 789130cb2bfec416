//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

// TestTheRecordOfALocalPlayIsAtTheBroker: a play that needs no agent is on record for colleagues when it ends, and a
// broker that is away does not fail it.
func TestTheRecordOfALocalPlayIsAtTheBroker(t *testing.T) {
	t.Parallel()
	tm := newTeam(t, map[string]string{"here.yml": "- hosts: all\n  gather_facts: false\n  tasks:\n  - command: 'true'\n"},
		"h1")
	tm.as(tm.home, "play", "-i", "here,", "-c", "local", "here.yml")
	if out := tm.as(tm.home, "runs", "push"); !strings.Contains(out, "0 records sent, 0 left") {
		t.Errorf("the record was not sent at the end of the run: %s", out)
	}
	if out := tm.as(tm.home, "runs", "audit"); !strings.Contains(out, "1 records, 0 with something wrong") {
		t.Errorf("the broker has no record: %s", out)
	}
	tm.as(tm.home, "play", "-i", "here,", "-c", "local", "--broker", "nats://127.0.0.1:1", "here.yml")
}
