package link

import (
	"slices"
	"time"

	"hark/agent/wire"
)

// letGo notes whom an Advance moves: of a host that waits nothing is to come, and of one that goes there is. Hub.mu is held.
func letGo(hosts map[string]*host, a *wire.Advance) {
	now := time.Now()
	for name, t := range hosts {
		if t.gate != "" && moves(a, t, name) {
			t.gate = ""
			t.peer.release(now)
		}
	}
}

// moves tells whether an Advance moves a host that stands at a gate.
func moves(a *wire.Advance, t *host, name string) bool {
	here := a.Step == t.gate && (len(a.Only) == 0 || slices.Contains(a.Only, name))
	return here || a.EndPlay || slices.Contains(a.Drop, name) || slices.Contains(a.Fail, name)
}
