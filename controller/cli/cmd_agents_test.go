package cli

import (
	"testing"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/fleet"
	"hark/controller/internal/fleet/enrol"
	"hark/controller/internal/fleet/roster"
)

// TestListsOfAgentsNameWhatIsWithThem: a hold is shown until it ends, and only while the agent is there.
func TestListsOfAgentsNameWhatIsWithThem(t *testing.T) {
	hold := func(d time.Duration) *wire.Hold {
		return &wire.Hold{Until: time.Now().Add(d), Why: "disk swap"}
	}
	for want, a := range map[string]fleet.Agent{
		"present": {Agent: roster.Agent{Present: true, Hello: wire.Hello{Hold: hold(-time.Minute)}}},
		"held":    {Agent: roster.Agent{Present: true, Hello: wire.Hello{Hold: hold(time.Hour)}}},
		"absent":  {Agent: roster.Agent{Hello: wire.Hello{Hold: hold(time.Hour)}}},
		"pending": {Agent: roster.Agent{Present: true}, State: enrol.Pending},
	} {
		if got := presence(a); got != want {
			t.Errorf("it is %q, should be %q", got, want)
		}
	}
}
