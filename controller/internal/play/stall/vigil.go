package stall

import (
	"fmt"
	"strings"
	"time"
)

// Vigil notices that a run stands: nothing comes of any host. It says once for a place whom the run waits for, so
// that nobody has to guess. It belongs to the goroutine of the batch.
type Vigil struct {
	limit time.Duration
	now   func() time.Time
	moved time.Time // when something came last
	// looked: since then it was looked whom the run waits for.
	looked bool
	told   map[string]bool
}

// Stillness is for how long nothing may come before it is said whom the run waits for.
const Stillness = 30 * time.Second

// NewVigil begins a vigil; now is the clock.
func NewVigil(limit time.Duration, now func() time.Time) *Vigil {
	return &Vigil{limit: limit, now: now, moved: now(), told: map[string]bool{}}
}

// Stir says that something has come.
func (v *Vigil) Stir() { v.moved, v.looked = v.now(), false }

// Wake is how long until it is to be looked whom the run waits for; false if it was looked since something came.
func (v *Vigil) Wake() (time.Duration, bool) {
	return max(0, v.limit-v.now().Sub(v.moved)), !v.looked
}

// namedHosts is how many hosts a message names.
const namedHosts = 3

// Text says whom the run waits for, if it is time and was not said: hosts are those under way, and at tells where the
// first of them is.
func (v *Vigil) Text(hosts func() []string, at func(host string) string) string {
	if left, yes := v.Wake(); !yes || left > 0 {
		return ""
	}
	v.looked = true
	awaited := hosts()
	if len(awaited) == 0 {
		return ""
	}
	where := at(awaited[0])
	if v.told[where] {
		return ""
	}
	v.told[where] = true
	named := strings.Join(awaited[:min(len(awaited), namedHosts)], ", ")
	if more := len(awaited) - namedHosts; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("nothing has come for %s: the run waits for %s at %s", v.limit, named, where)
}
