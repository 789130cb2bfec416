package roster

import (
	"fmt"
	"testing"
	"time"

	"hark/agent/wire"
)

// TestWhoIsWaitedFor: those who may be on their way, and nobody for whom nobody would wait by hand.
func TestWhoIsWaitedFor(t *testing.T) {
	now := time.Now()
	at := func(ago time.Duration) time.Time { return now.Add(-ago) }
	calm := map[string]Agent{}
	for i := range 10 {
		calm[fmt.Sprint(i)] = Agent{Present: true, Since: at(time.Hour), Seen: at(10 * time.Second)}
	}
	restarted := map[string]Agent{"back": {Present: true, Since: at(2 * time.Second), Seen: at(2 * time.Second)}}
	for i := range 9999 {
		restarted[fmt.Sprint(i)] = Agent{Since: at(24 * time.Hour), Seen: at(3 * time.Hour)}
	}
	for _, c := range []struct {
		name  string
		fleet map[string]Agent
		agent Agent
		want  time.Duration
	}{
		{"was started again", calm, Agent{Left: true, Seen: at(time.Second)}, Restart},
		{"was stopped", calm, Agent{Left: true, Seen: at(time.Minute)}, 0},
		{"was cut off", calm, Agent{Seen: at(time.Minute)}, Restart},
		{"is away", calm, Agent{Seen: at(time.Hour)}, 0},
		{"comes back after the broker", restarted, Agent{Seen: at(3 * time.Hour)}, wire.Comeback(10_000) + time.Second},
		{"was stopped before the broker", restarted, Agent{Left: true, Seen: at(3 * time.Hour)}, 0},
	} {
		r := &Roster{byName: c.fleet, now: func() time.Time { return now }}
		r.fleet.Store(r.look())
		if got := r.Patience(c.agent); got != c.want || r.Size() != len(c.fleet) {
			t.Errorf("one that %s: %s, want %s", c.name, got, c.want)
		}
	}
}
