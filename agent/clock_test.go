package agent

import (
	"testing"
	"time"
)

// TestTheControllersTimeIsTold by its messages, however wrong this host's clock is, and however long a message took.
func TestTheControllersTimeIsTold(t *testing.T) {
	start := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		ahead    time.Duration   // the controller's clock minus this host's
		messages []time.Duration // how long each was on its way; they come a minute apart
		late     time.Duration   // what the host may take the time to be too early by
	}{
		"no message":                  {0, nil, 0},
		"clocks agree":                {0, []time.Duration{time.Second}, 0},
		"a slow message":              {0, []time.Duration{5 * time.Second}, 5 * time.Second},
		"a slow one, then a fast one": {time.Hour, []time.Duration{8 * time.Second, 20 * time.Millisecond}, 20 * time.Millisecond},
		"a fast one, then a slow one": {-time.Hour, []time.Duration{20 * time.Millisecond, 8 * time.Second}, 20 * time.Millisecond},
		"years":                       {-30000 * time.Hour, []time.Duration{time.Millisecond}, time.Millisecond},
	} {
		own, d := start, dates{}
		for _, way := range c.messages {
			own = own.Add(time.Minute)
			d.take(own.Add(c.ahead-way), own)
		}
		own = own.Add(10 * time.Minute)
		if got, want := d.at(own), own.Add(c.ahead-c.late); !got.Equal(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestAControllerWhoseClockIsSetBackIsBelieved, though his messages seem to be very late.
func TestAControllerWhoseClockIsSetBackIsBelieved(t *testing.T) {
	own, d := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC), dates{}
	d.take(own.Add(time.Hour), own)
	own = own.Add(time.Minute)
	d.take(own.Add(-time.Hour), own)
	if got := d.at(own); !got.Equal(own.Add(-time.Hour)) {
		t.Error(got)
	}
}
