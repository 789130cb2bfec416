package keeper

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hark/controller/internal/duties/dutystate"
)

// Hello says that an agent has come back. Hosts that were away get what they missed, once, if their duty's catch_up
// and window allow it.
func (b *Duties) Hello(now time.Time, agent string) {
	for _, w := range b.duties {
		r := w.rows[agent]
		switch {
		case r == nil:
		case r.running:
			r.back = true
		case r.Kind == dutystate.Absent:
			w.catchUp(now, r)
		}
	}
}

// catchUp gives a host that has come back its turn.
func (w *dutyWatch) catchUp(now time.Time, r *row) {
	switch {
	case w.Later != nil:
		r.next = now
	case now.Sub(r.Since) <= w.CatchUp && w.Schedule.Allowed(now) && !w.stopped():
		r.next, r.turn = now, w.Schedule.Slot(now)
	}
}

// Request is what somebody wants of a keeper.
type Request struct {
	// What is one of the asks below.
	What string `json:"what"`
	Duty string `json:"duty"`
	// Hosts are names; none is all of the duty.
	Hosts []string `json:"hosts,omitempty"`
	Why   string   `json:"why,omitempty"`
	// DeferredPlay is a play that is to be put off for these hosts; without hosts it is only told whether it could be.
	Later *DeferredPlay `json:"later,omitempty"`
}

// The asks.
const (
	AskRun          = "run"
	AskPause        = "pause"
	AskResume       = "resume"
	RequestBaseline = "baseline"
	AskLater        = "later"
	AskCancel       = "cancel"
)

// Apply does what somebody asks of a duty. It gives how many hosts it is about.
func (b *Duties) Apply(now time.Time, by string, a Request) (n int, d dutystate.Definition, err error) {
	w := b.duties[a.Duty]
	if b.before[a.Duty] != nil {
		return 0, d, fmt.Errorf("the keeper has not read the project yet: try again")
	}
	if w == nil {
		return 0, d, fmt.Errorf("there is no duty %q", a.Duty)
	}
	rows, err := w.named(a.Hosts)
	if err != nil {
		return 0, d, err
	}
	if err := w.fits(a.What); err != nil {
		return 0, d, err
	}
	switch a.What {
	case AskCancel:
		delete(b.duties, a.Duty)
		w.def.Gone, w.def.At = true, now
		return len(rows), w.def, nil
	case AskRun, RequestBaseline:
		for _, r := range rows {
			switch {
			case r.running:
			case w.Later == nil:
				r.wanted, r.looks, r.next, r.turn = true, a.What == RequestBaseline, now, w.Schedule.Slot(now)
			case r.Slot < r.turn.ID(): // its only turn
				r.next = now
			}
		}
	case AskPause:
		w.def.Paused = &dutystate.Pause{At: now, Why: fmt.Sprintf("%s (%s)", a.Why, by)}
	case AskResume:
		w.def.Paused = nil
		clear(w.failed)
		for _, r := range w.rows {
			w.aim(now, r)
		}
	default:
		return 0, d, fmt.Errorf("a keeper does not know %q", a.What)
	}
	return len(rows), w.say(now), nil
}

// named returns the rows of hosts by their names.
func (w *dutyWatch) named(hosts []string) ([]*row, error) {
	var rows []*row
	for _, r := range w.rows {
		if len(hosts) == 0 || slices.Contains(hosts, r.Host) {
			rows = append(rows, r)
		}
	}
	missing := slices.DeleteFunc(slices.Clone(hosts), func(name string) bool {
		return slices.ContainsFunc(rows, func(r *row) bool { return r.Host == name })
	})
	switch {
	case len(missing) > 0:
		return nil, fmt.Errorf("the duty %s has no host %s", w.Name, strings.Join(missing, ", "))
	case len(rows) == 0:
		return nil, fmt.Errorf("the duty %s has no hosts", w.Name)
	}
	return rows, nil
}

// Stale says why a newer commit is not in force, "" if all is well. It gives what there is to write.
func (b *Duties) Stale(now time.Time, why string) []dutystate.Definition {
	var out []dutystate.Definition
	for _, w := range b.duties {
		if w.def.Stale != why && w.Later == nil {
			w.def.Stale = why
			out = append(out, w.say(now))
		}
	}
	for _, w := range b.before {
		if w.def.Stale != why && w.Later == nil {
			w.def.Stale, w.def.At = why, now
			out = append(out, w.def)
		}
	}
	return out
}
