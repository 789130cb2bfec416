package view

import (
	"testing"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// TestTheGatheringOfFactsStandsNowhere: of a host that cannot be reached ansible-core 2.19.11 names the place of a
// task that somebody wrote only.
func TestTheGatheringOfFactsStandsNowhere(t *testing.T) {
	for implicit, want := range map[bool]string{
		true:  "[ERROR]: Task failed: Failed to connect\n",
		false: "[ERROR]: Task failed: Failed to connect\nOrigin: site.yml:1:3\n\n",
	} {
		d, _, stderr := newTestDisplay(t, DisplayOptions{Tagged: true})
		d.failure(shown{
			Result: Result{Task: Task{Step: &plan.Step{Implicit: implicit, Place: "site.yml:1:3"}}, Outcome: &wire.Outcome{}},
			res:    value.NewDict(),
			events: []event{{msg: "Task failed."}, {msg: "Failed to connect"}},
		}, Options{Origin: func(task string, _ Spot) string { return "Origin: " + task }, FailedToStderr: true})
		if got := stderr.String(); got != want {
			t.Errorf("implicit %v: %q", implicit, got)
		}
	}
}
