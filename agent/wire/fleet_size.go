package wire

import (
	"encoding/json"
	"time"
)

// FleetSize is the body of a KindFleetSize message: how many agents the fleet has. It commands nothing, and travels in
// clear and unsigned: its only effect (Spread) has bounds, and whoever could forge it could as well keep the agent from
// connecting.
type FleetSize struct {
	Agents int `json:"agents"`
}

// ParseFleetSize reads a KindFleetSize message. It returns 0 for one that cannot be read.
func ParseFleetSize(data []byte) int {
	var c FleetSize
	if json.Unmarshal(data, &c) != nil {
		return 0
	}
	return max(c.Agents, 0)
}

// Comeback returns the time after which all agents should be back. It is longer than Spread, since a busy broker admits
// fewer than it could.
func Comeback(agents int) time.Duration { return Spread(agents) * 3 / 2 }

// The bounds of Spread, and how many agents a broker easily admits in a second: TLS and credentials cost it a
// millisecond each.
const (
	leastSpread = 4 * time.Second
	mostSpread  = 50 * time.Second
	takenIn     = 200
)

// Spread returns the time over which the agents come back to a broker that was away. Each tries after a random pause of
// up to that. The pause does not grow while the broker is away, so it also is how long after the broker the last agent
// tries.
func Spread(agents int) time.Duration {
	agents = min(max(agents, 0), 1<<20) // no product below overflows
	return min(max(time.Duration(agents)*time.Second/takenIn, leastSpread), mostSpread)
}
