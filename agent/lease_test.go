package agent

import (
	"testing"
	"time"

	"hark/agent/wire"
)

// TestLeaseStandsWhileTheBrokerIsAway, and not for ever.
func TestLeaseStandsWhileTheBrokerIsAway(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	for name, c := range map[string]struct {
		looks []struct {
			at        int
			reachable bool
		}
		lost bool
	}{
		"the controller is gone": {[]struct {
			at        int
			reachable bool
		}{{20, true}, {40, true}, {61, true}}, true},
		"the broker is away for 60 s": {[]struct {
			at        int
			reachable bool
		}{{20, false}, {60, false}, {75, true}, {119, true}}, false},
		"and the controller does not come": {[]struct {
			at        int
			reachable bool
		}{{20, false}, {60, false}, {75, true}, {121, true}}, true},
		"the broker is away for 10 min": {[]struct {
			at        int
			reachable bool
		}{{60, false}, {300, false}, {599, false}}, false},
		"the broker does not come": {[]struct {
			at        int
			reachable bool
		}{{60, false}, {300, false}, {601, false}}, true},
	} {
		now := start
		l := newControllerLink(&Agent{cfg: &Config{Now: func() time.Time { return now }}}, "", "r1", "h1", wire.Key{}, terms{lease: time.Minute})
		for _, look := range c.looks {
			now = start.Add(time.Duration(look.at) * time.Second)
			l.expire(look.reachable)
		}
		select {
		case <-l.isGone():
			if !c.lost {
				t.Errorf("%s: the lease ran out", name)
			}
		default:
			if c.lost {
				t.Errorf("%s: the lease did not run out", name)
			}
		}
	}
}
