package runner

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/modules/foreign"
	"hark/playbook/plan"
)

// TestAStepAsksForItsModuleOnce: items of a loop have the pack from the first, other steps and other files are asked
// for each time.
func TestAStepAsksForItsModuleOnce(t *testing.T) {
	var asked []string
	cfg := Config{Own: true, Now: time.Now, Emit: func(wire.Event) {},
		Ask: func(_ context.Context, a wire.Ask) (wire.Answer, error) {
			asked = append(asked, fmt.Sprint(a.Step, " ", a.Dir, " ", a.Name))
			return wire.Answer{File: &wire.Source{File: plan.File{Digest: "of " + a.Name, Size: 3}}}, nil
		}}
	g := newPlayState(cfg, &plan.Plan{}, wire.Start{Host: "h1"})
	for _, ask := range []struct {
		step      plan.ID
		dir, name string
	}{{"1", foreign.SourceDir, "m"}, {"1", foreign.SourceDir, "m"}, {"2", foreign.SourceDir, "n"}, {"1", "files", "f"},
		{"1", "files", "f"}, {"1", foreign.SourceDir, "m"}} {
		src, err := files{g, &plan.Step{}, ask.step}.source(t.Context(), ask.dir, ask.name, false)
		if err != nil || src.Digest != "of "+ask.name || src.Size != 3 {
			t.Errorf("%v: %v, %v", ask, src, err)
		}
	}
	if want := []string{"1 module m", "2 module n", "1 files f", "1 files f"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}
