package wire

import (
	"encoding/json"
	"time"
)

// Crowd is the body of a KindCrowd message: how many agents the fleet has. It commands nothing and is in clear,
// unsigned: what an agent makes of it (Spread) has bounds, and who could forge it could as well not let the agent
// connect at all.
type Crowd struct {
	Agents int `json:"agents"`
}

// ParseCrowd reads a KindCrowd message, 0 if it makes no sense.
func ParseCrowd(data []byte) int {
	var c Crowd
	if json.Unmarshal(data, &c) != nil {
		return 0
	}
	return max(c.Agents, 0)
}

// Comeback is after how long all of so many agents should be back: a broker that is busy takes in fewer than it could.
func Comeback(agents int) time.Duration { return Spread(agents) * 3 / 2 }

// The bounds of Spread, and how many agents a broker takes in a second with ease: TLS and credentials cost it a
// millisecond each.
const (
	leastSpread = 4 * time.Second
	mostSpread  = 50 * time.Second
	takenIn     = 200
)

// Spread is the time over which so many agents come back to a broker that was away: each tries again and again, after
// a pause of up to that. It does not grow while the broker is away, so it also is how long after the broker the last
// of them tries.
func Spread(agents int) time.Duration {
	agents = min(max(agents, 0), 1<<20) // no product below overflows
	return min(max(time.Duration(agents)*time.Second/takenIn, leastSpread), mostSpread)
}
