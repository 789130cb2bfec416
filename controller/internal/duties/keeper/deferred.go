package keeper

import (
	"fmt"
	"slices"
	"time"

	"hark/controller/internal/duties/duty"
	"hark/controller/internal/duties/dutystate"
)

// A play that was put off is a duty that is not of the project: each of its hosts has one turn, as soon as it is
// there, until a time. A turn that was begun is not repeated, whatever its result.

// DeferredPlay is what an Ask says of a play that is to be put off.
type DeferredPlay struct {
	// From are the states of projects that it may be of, as whoever asks knows them: one of them must be what the
	// keeper has in force.
	From  []Origin  `json:"from"`
	Check bool      `json:"check,omitempty"`
	Flags []string  `json:"flags,omitempty"`
	Until time.Time `json:"until"`
}

// Origin is a playbook in a state of a project.
type Origin struct {
	Commit string `json:"commit"`
	Play   string `json:"play"` // relative to the project
}

// keepEnded is how long a play that was put off is listed after its end.
const keepEnded = 7 * 24 * time.Hour

// NewDeferredPlay returns a play that was put off, as an operator asks for it.
func NewDeferredPlay(name, play, by string, a *DeferredPlay) Planned {
	d := duty.Duty{Name: name, Play: play, Mode: duty.Enforce, AtOnce: duty.DefaultAtOnce, TogetherSaid: true}
	if a.Check {
		d.Mode = duty.Check
	}
	return Planned{Duty: d, At: nowhere, Later: &dutystate.Later{Until: a.Until, By: by, Flags: a.Flags}}
}

// nowhere is for plays that are played from one commit only.
func nowhere(string) (duty.Duty, bool) { return duty.Duty{}, false }

// putOff returns what a definition on record says of a duty, which is all of a play that was put off.
func putOff(d dutystate.Definition) Planned {
	p := Planned{Duty: duty.Duty{Name: d.Name, Play: d.Play, Hosts: d.Hosts, Mode: d.Mode, AtOnce: duty.DefaultAtOnce},
		At: nowhere, Later: d.Later}
	if d.Later != nil {
		p.Hosts = d.Later.Hosts
	}
	return p
}

// PutOff takes a play for hosts that are away, and gives what there is to write.
func (b *Duties) PutOff(now time.Time, commit string, p Planned) (states []dutystate.State, d dutystate.Definition) {
	p.Later.Hosts = p.Hosts
	w := &dutyWatch{Planned: p, rows: map[string]*row{}, failed: map[string]cause{}, topics: map[topic]topicState{}}
	b.duties[p.Name] = w
	states = w.load(now, commit, p)
	return states, w.say(now)
}

// Commits returns those of the plays that were put off and have not ended.
func (b *Duties) Commits() []string {
	var all []string
	for _, duties := range []map[string]*dutyWatch{b.before, b.duties} {
		for _, w := range duties {
			if w.Later != nil && w.Later.Ended.IsZero() {
				all = append(all, w.def.Commit)
			}
		}
	}
	return all
}

// slotAt returns the slot that a turn at a time is of.
func (w *dutyWatch) slotAt(now time.Time) duty.Slot {
	if w.Later != nil {
		return duty.Slot{Start: w.Later.Until, End: w.Later.Until}
	}
	return w.Schedule.Slot(now)
}

// aimLater sets the turn of a row of a play that was put off.
func (w *dutyWatch) aimLater(now time.Time, r *row) {
	r.turn, r.next = w.slotAt(now), now
	switch {
	case r.Slot >= r.turn.ID(), r.Kind == dutystate.Absent: // it had its turn, or has it when it says hello
		r.next = never
	case r.Kind == dutystate.Held:
		r.next = r.Until
	}
}

// staysDue reports whether a turn of a play that was put off is still to come, since nothing was done.
func (w *dutyWatch) staysDue(o Outcome) bool {
	return w.Later != nil && (o.Status == Away || o.Status == OnHold)
}

// flags returns those of the call of a play that was put off, or of the duty as it is in the commit that is played.
func (w *dutyWatch) flags(d duty.Duty) []string {
	if w.Later == nil {
		return d.Flags()
	}
	return w.Later.Flags
}

// fits explains why something cannot be asked of a duty.
func (w *dutyWatch) fits(what string) error {
	switch {
	case what == AskCancel && w.Later == nil:
		return fmt.Errorf("%s is a duty of the project: it goes when duties.yml no longer has it; hark duties pause stops it",
			w.Name)
	case what == RequestBaseline && w.Later != nil:
		return fmt.Errorf("%s is a play that was put off: it has no baseline", w.Name)
	case w.Later != nil && !w.Later.Ended.IsZero() && what != AskCancel:
		return fmt.Errorf("%s has ended: hark duties show %s", w.Name, w.Name)
	}
	return nil
}

// expire ends a play that was put off when all hosts had it, or its time is over: then it says of the others that
// they do not get it. It is false as long as nothing is to be said. After a while the play is gone.
func (w *dutyWatch) expire(now time.Time) (states []dutystate.State, d dutystate.Definition, over bool) {
	l := w.Later
	switch {
	case l == nil:
		return nil, d, false
	case !l.Ended.IsZero():
		w.def.Gone = now.Sub(l.Ended) >= keepEnded
		return nil, w.def, w.def.Gone
	}
	id := w.slotAt(now).ID()
	waits := 0
	for _, r := range w.rows {
		switch {
		case r.running:
			return nil, d, false
		case r.Slot >= id:
		case now.Before(l.Until):
			waits++
		default:
			r.conclude(now, r.Kind, "expired: it did not get it until "+l.Until.Format(time.RFC3339), nil)
			r.Slot, r.next = id, never
			l.Expired = append(l.Expired, r.Host)
			states = append(states, r.State)
		}
	}
	if waits > 0 {
		return states, d, false
	}
	slices.Sort(l.Expired)
	l.Ended = now
	d = w.say(now)
	return states, d, true
}
