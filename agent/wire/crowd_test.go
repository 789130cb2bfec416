package wire_test

import (
	"math"
	"testing"
	"time"

	"hark/agent/wire"
)

func TestLargeFleetsComeBackOverALongerTime(t *testing.T) {
	for agents, want := range map[int]time.Duration{
		-1: 4 * time.Second, 0: 4 * time.Second, 10: 4 * time.Second, 1000: 5 * time.Second, 5000: 25 * time.Second,
		10_000: 50 * time.Second, math.MaxInt: 50 * time.Second,
	} {
		if got := wire.Spread(agents); got != want {
			t.Errorf("%d agents: %s, want %s", agents, got, want)
		}
	}
	for text, want := range map[string]int{`{"agents":7}`: 7, `{"agents":-7}`: 0, `{}`: 0, `x`: 0, `{"agents":1e99}`: 0} {
		if got := wire.ParseFleetSize([]byte(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
