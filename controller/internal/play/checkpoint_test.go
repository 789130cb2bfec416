package play

import (
	"fmt"
	"strings"
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/play/answer"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// TestCheckpointsAreBounded: a fleet whose variables are too large has no checkpoint, and says so; none of it is cut.
func TestCheckpointsAreBounded(t *testing.T) {
	r := &runner{points: newCheckpoints(&Input{}), mirror: answer.NewMirror(nobody{}, false), hidden: newHider(nil)}
	for i := range 16 {
		if p := checkpointOf(r); p.Why != "" || len(p.Vars) != i {
			t.Fatalf("%d hosts: the variables of %d are kept, %q", i, len(p.Vars), p.Why)
		}
		set := value.DictOf("text", strings.Repeat("x", 1<<20))
		r.mirror.Restore(fmt.Sprint("h", i), wire.HostVars{Set: plan.Dict{Dict: set}})
	}
	if p := checkpointOf(r); !strings.Contains(p.Why, "more than 16 MB") || p.Vars != nil {
		t.Errorf("16 MB and more: the variables of %d are kept, %q", len(p.Vars), p.Why)
	}
}
