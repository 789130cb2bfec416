package roster

import (
	"time"

	"hark/agent/wire"
)

// Restart is how long an agent takes until it is there again that was started again, with a margin.
const Restart = 5 * time.Second

// What is lately: an agent that said that it ends may be started again at once, one that was cut off may come back,
// and agents that all said hello within a minute and a half have had a broker that was started again.
const (
	lateBye   = 30 * time.Second
	lateWord  = 10 * time.Minute
	lateHello = 90 * time.Second
)

// summary is what the roster says of the fleet as a whole.
type summary struct {
	agents int
	// returning: nobody is there yet, or most of those who are have only just come.
	returning bool
}

// look finds how the fleet stands. It assumes mu held.
func (r *Roster) look() *summary {
	present, fresh := 0, 0
	for _, a := range r.byName {
		if !a.Present {
			continue
		}
		present++
		if r.now().Sub(a.Since) < lateHello {
			fresh++
		}
	}
	return &summary{len(r.byName), 2*fresh >= present}
}

// Size returns how many agents the roster has, as it was last read. It waits for nobody who reads.
func (r *Roster) Size() int {
	if s := r.fleet.Load(); s != nil {
		return s.agents
	}
	return 0
}

// Patience returns how long an agent that is not connected may be on its way: it was there lately, or the whole fleet
// is just coming back. For one that is gone it is nothing. It waits for nobody who reads.
func (r *Roster) Patience(a Agent) time.Duration {
	ago := r.now().Sub(a.Seen)
	if a.Left {
		if ago < lateBye {
			return Restart
		}
		return 0
	}
	if s := r.fleet.Load(); s != nil && s.returning {
		return max(Restart, wire.Comeback(s.agents)+time.Second)
	}
	if ago < lateWord {
		return Restart
	}
	return 0
}
