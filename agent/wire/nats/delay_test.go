package nats

import (
	"testing"
	"time"

	"hark/agent/wire"
)

// TestPausesFollowTheNumberOfAgents and not how often an agent has tried: it would be away the longer for it.
func TestPausesFollowTheNumberOfAgents(t *testing.T) {
	for _, c := range []struct {
		cfg     Config
		crowd   int
		longest time.Duration
	}{
		{Config{Patient: true}, 0, wire.Spread(0)},
		{Config{Patient: true}, 10_000, wire.Spread(10_000)},
		{Config{}, 10_000, soon},
		{Config{Patient: true, MaxDelay: time.Millisecond}, 10_000, time.Millisecond},
	} {
		tr := &Transport{cfg: c.cfg}
		tr.SetFleetSize(c.crowd)
		late := false
		for attempt := range 2000 {
			pause := tr.delay(attempt) // the attempt is not to matter
			if pause > c.longest+time.Millisecond {
				t.Errorf("%d agents: a pause of %s", c.crowd, pause)
			}
			late = late || pause > c.longest/2
		}
		if !late {
			t.Errorf("%d agents: all pauses are short", c.crowd)
		}
	}
}
