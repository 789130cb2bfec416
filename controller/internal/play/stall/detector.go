package stall

import (
	"fmt"
	"strings"
	"time"
)

// Detector notices that a run stalls: no host reports anything. It says once for a step which hosts the run waits
// for. It belongs to the goroutine of the batch.
type Detector struct {
	limit time.Duration
	now   func() time.Time
	moved time.Time // when something came last
	// looked says that the awaited hosts were examined since.
	looked   bool
	reported map[string]bool
}

// Stillness is how long no host may report anything until the user sees which hosts the run waits for.
const Stillness = 30 * time.Second

// NewDetector returns a Detector that starts now; now is the clock.
func NewDetector(limit time.Duration, now func() time.Time) *Detector {
	return &Detector{limit: limit, now: now, moved: now(), reported: map[string]bool{}}
}

// Stir records that a host has reported something.
func (v *Detector) Stir() { v.moved, v.looked = v.now(), false }

// Wake returns the time until Text is due; false if it was called since the last report.
func (v *Detector) Wake() (time.Duration, bool) {
	return max(0, v.limit-v.now().Sub(v.moved)), !v.looked
}

// namedHosts is how many hosts a message names.
const namedHosts = 3

// Text returns which hosts the run waits for, if it is due and was not said: hosts returns those under way, and at
// where one of them is.
func (v *Detector) Text(hosts func() []string, at func(host string) string) string {
	if left, yes := v.Wake(); !yes || left > 0 {
		return ""
	}
	v.looked = true
	awaited := hosts()
	if len(awaited) == 0 {
		return ""
	}
	where := at(awaited[0])
	if v.reported[where] {
		return ""
	}
	v.reported[where] = true
	named := strings.Join(awaited[:min(len(awaited), namedHosts)], ", ")
	if more := len(awaited) - namedHosts; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("nothing has come for %s: the run waits for %s at %s", v.limit, named, where)
}
