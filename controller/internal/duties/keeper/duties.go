package keeper

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/duties/duty"
	"hark/controller/internal/duties/dutystate"
)

// Duties is who stands how and whose turn it is. It belongs to one goroutine, and does nothing itself.
//
// A row goes round like this; what is in brackets is written to the store:
//
//	waiting --its moment--> due --admitted--> [begun] --> [kept, drifted, mended, failed, absent, held] --> waiting
//	                         |  \--busy, at_once--> due
//	                         \--the next slot begins--> waiting (a missed turn)
type Duties struct {
	duties map[string]*dutyWatch
	// before are the duties on record, until a plan is in force.
	before map[string]*dutyWatch
	// busy are the agents at a turn, by id.
	busy map[string]bool
	// notify is who is notified of duties that do not say it; nil is nobody.
	notify *duty.Notify
}

// NewDuties makes an empty one.
func NewDuties() *Duties { return &Duties{duties: map[string]*dutyWatch{}, busy: map[string]bool{}} }

// dutyWatch is a duty that is in force.
type dutyWatch struct {
	Planned
	def  dutystate.Definition
	rows map[string]*row // by agent
	// running is how many hosts are at it; failed are the turns that the hosts failed in, by agent.
	running int
	failed  map[string]cause
	order   []string // agents by their places: the order of stages
	// topics is what is to be reported, and was reported.
	topics map[topic]topicState
	// left are hosts of which something was told that is not over, and that are hosts of the duty no longer.
	left []*row
	// was is the duty in the commit before, nil while there is none that can be played.
	was *duty.Duty
}

// row is a host under a duty.
type row struct {
	dutystate.State
	key   string // of the agent
	place float64
	next  time.Time // of its turn; due if that is past
	turn  duty.Slot // of next
	// running says that its turn goes on. wanted is a turn that somebody asked for: it regards neither clock nor
	// pause. looks is one that finds noise. back says that the host came back while its turn went on.
	running, wanted, looks, back bool
	waits                        time.Time // since when somebody else's run keeps it
}

// The waits for a host at which somebody else's run is.
const (
	busyPause = 30 * time.Second
	busyLimit = 2 * time.Hour
)

// Restore takes up what a keeper before this one has written. It comes before Load; nothing is due in between.
func (b *Duties) Restore(states []dutystate.State, definitions []dutystate.Definition) {
	b.before = map[string]*dutyWatch{}
	for _, d := range definitions {
		if !d.Gone {
			b.before[d.Name] = &dutyWatch{Planned: putOff(d), def: d, rows: map[string]*row{}, failed: map[string]cause{},
				topics: map[topic]topicState{}}
		}
	}
	for _, s := range states {
		if w := b.before[s.Duty]; w != nil {
			w.rows[s.Agent] = &row{State: s}
		}
	}
}

// Commit returns the one that was in force for the duties on record, "" for none.
func (b *Duties) Commit() string {
	for _, name := range slices.Sorted(maps.Keys(b.before)) {
		if w := b.before[name]; w.Later == nil && w.def.Commit != "" {
			return w.def.Commit
		}
	}
	return ""
}

// Said returns what is to be said of some places, of those that are in force.
func (b *Duties) Said(places []dutystate.Place) (states []dutystate.State, definitions []dutystate.Definition) {
	for _, p := range places {
		w := b.duties[p.Duty]
		switch {
		case w == nil:
		case p.Agent == wire.DutyToken:
			definitions = append(definitions, w.def)
		case w.rows[p.Agent] != nil:
			states = append(states, w.rows[p.Agent].State)
		}
	}
	return states, definitions
}

// Load puts a plan into force and gives what there is to write. Duties that it does not have are gone.
func (b *Duties) Load(now time.Time, p Plan) (states []dutystate.State, definitions []dutystate.Definition) {
	b.notify = p.Notify
	had := b.duties
	if b.before != nil {
		had, b.before = b.before, nil
	}
	b.duties = map[string]*dutyWatch{}
	for _, planned := range p.Duties {
		w := had[planned.Name]
		if w == nil {
			w = &dutyWatch{rows: map[string]*row{}, failed: map[string]cause{}, topics: map[topic]topicState{}}
		}
		delete(had, planned.Name)
		b.duties[planned.Name] = w
		states = append(states, w.load(now, p.Commit, planned)...)
		definitions = append(definitions, w.say(now))
	}
	for name, w := range had {
		if w.Later != nil { // it is not of the project
			b.duties[name] = w
			states = append(states, w.load(now, w.def.Commit, w.Planned)...)
			continue
		}
		w.def.Gone, w.def.At = true, now
		definitions = append(definitions, w.def)
	}
	return states, definitions
}

// load takes a duty as it is from now on.
func (w *dutyWatch) load(now time.Time, commit string, p Planned) []dutystate.State {
	changed := w.def.Commit != "" && w.def.Commit != commit
	w.Planned = p
	if changed || w.def.Commit == "" {
		w.stageOne(now, commit, changed)
	}
	w.was = nil
	if w.def.Before != "" {
		if d, ok := p.At(w.def.Before); ok {
			w.was = &d
		}
	}
	w.def.Stale = ""
	ids := make([]string, len(p.Hosts))
	for i, h := range p.Hosts {
		ids[i] = h.Agent
	}
	places := duty.Places(p.Name, ids)
	w.order = slices.SortedFunc(maps.Keys(places), func(a, c string) int { return cmp.Compare(places[a], places[c]) })
	var states []dutystate.State
	rows := w.rows
	w.rows = map[string]*row{}
	for _, h := range p.Hosts {
		r := rows[h.Agent]
		if r == nil {
			r = &row{State: dutystate.State{V: dutystate.Version, Duty: p.Name, Host: h.Name, Agent: h.Agent,
				Kind: dutystate.Never, Since: now}}
			states = append(states, r.State)
		}
		r.Host, r.key, r.place = h.Name, h.Key, places[h.Agent]
		if p.Together {
			r.place = 0
		}
		w.rows[h.Agent] = r
		delete(rows, h.Agent)
		if !r.Begun.IsZero() && !r.running {
			states = append(states, r.lost(now))
		}
		if r.next.IsZero() || r.next.After(now) && !r.wanted {
			w.aim(now, r)
		}
	}
	for _, r := range rows { // which are no longer hosts of the duty
		r.Gone, r.At = true, now
		if r.Notified != "" {
			w.left = append(w.left, r)
		}
		states = append(states, r.State)
	}
	return states
}

// lost ends a turn whose end a keeper that is gone did not report. It is not done again: what was done of it is
// not known.
func (r *row) lost(now time.Time) dutystate.State {
	r.Slot = max(r.Slot, r.BegunSlot)
	r.conclude(now, dutystate.Failed, "the keeper ended while the host was at this turn: what came of it is not known",
		nil)
	return r.State
}

// aim sets the next turn of a row: that of this slot, if it has not been and its moment is past, else the next one by
// the clock.
func (w *dutyWatch) aim(now time.Time, r *row) {
	if w.Later != nil {
		w.aimLater(now, r)
		return
	}
	s := w.Schedule
	slot := s.Slot(now)
	if at, ok := s.Moment(slot, r.place); ok && slot.ID() > r.Slot && !at.After(now) {
		r.next, r.turn = at, slot
		return
	}
	r.next, r.turn = s.After(now, r.place)
	if r.turn.ID() <= r.Slot { // done ahead of its time, as after a hello
		r.next, r.turn = s.After(r.turn.End.Add(-time.Nanosecond), r.place)
	}
}

// never is a time that does not come.
var never = duty.Never()

// Due admits the turns whose time has come, and gives what there is to write before they begin.
func (b *Duties) Due(now time.Time) (turns []Turn, states []dutystate.State, definitions []dutystate.Definition) {
	for _, name := range slices.Sorted(maps.Keys(b.duties)) {
		w := b.duties[name]
		if w.advance(now) {
			definitions = append(definitions, w.say(now))
		}
		if s, d, over := w.expire(now); over {
			states, definitions = append(states, s...), append(definitions, d)
			if d.Gone {
				delete(b.duties, name)
				continue
			}
		}
		rows := slices.DeleteFunc(slices.Collect(maps.Values(w.rows)),
			func(r *row) bool { return r.running || r.next.After(now) })
		slices.SortFunc(rows, func(a, c *row) int { return cmp.Or(a.next.Compare(c.next), cmp.Compare(a.Agent, c.Agent)) })
		rows = slices.DeleteFunc(rows, func(r *row) bool { return !w.ready(now, r) })
		if w.Together {
			rows = b.gather(w, rows)
		}
		var together *Turn
		for _, r := range rows {
			if b.busy[r.Agent] || !w.Together && w.running >= w.AtOnce {
				continue
			}
			t := b.begin(now, w, r)
			states = append(states, r.State)
			switch {
			case !w.Together:
				turns = append(turns, t)
			case together == nil:
				together = &t
			default:
				together.Hosts = append(together.Hosts, t.Hosts...)
				maps.Copy(together.Noise, t.Noise)
			}
		}
		if together != nil {
			turns = append(turns, *together)
		}
	}
	return turns, states, definitions
}

// gather lets the hosts of a duty that is done together begin when none of them is at something else. Those of
// another stage come after the others.
func (b *Duties) gather(w *dutyWatch, rows []*row) []*row {
	if w.running > 0 || slices.ContainsFunc(rows, func(r *row) bool { return b.busy[r.Agent] }) {
		return nil
	}
	return slices.DeleteFunc(rows, func(r *row) bool { return w.commitOf(r) != w.commitOf(rows[0]) })
}

// ready reports whether a row whose time has come may begin. One whose slot is over, or whose window is, waits for
// its next.
func (w *dutyWatch) ready(now time.Time, r *row) bool {
	switch {
	case r.wanted:
		return true
	case w.stopped():
		return false
	case w.Later != nil:
		return now.Before(w.Later.Until)
	case !now.Before(r.turn.End) || !w.Schedule.Allowed(now):
		w.aim(now, r)
		if r.next.After(now) {
			return false
		}
	}
	return w.commitOf(r) != ""
}

// begin admits a row.
func (b *Duties) begin(now time.Time, w *dutyWatch, r *row) Turn {
	d, commit := w.Duty, cmp.Or(w.commitOf(r), w.def.Commit)
	if commit != w.def.Commit {
		d = *w.was
	}
	t := Turn{Duty: d, Commit: commit, Hosts: []Host{{Name: r.Host, Agent: r.Agent, Key: r.key}}, Slot: r.turn,
		Mode: d.Mode, Looks: r.looks, Flags: w.flags(d)}
	t.Noise = map[string][]string{r.Agent: r.noise(d, commit)}
	if r.looks {
		t.Mode = duty.Check
	}
	t.Push = !r.waits.IsZero() && now.Sub(r.waits) > busyLimit
	r.Begun, r.BegunSlot = now, r.turn.ID()
	t.Nonce = nonce(w.Name, t.Commit, fmt.Sprint(t.Slot.ID()))
	if r.wanted { // by somebody, and not by the clock: the turn of the slot stays
		r.BegunSlot = r.Slot
		t.Nonce = nonce(w.Name, t.Commit, now.Format(time.RFC3339Nano))
	}
	r.running, b.busy[r.Agent] = true, true
	w.running++
	return t
}

// nonce returns the same for whoever makes it of the same.
func nonce(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Wake returns when the next turn is due, the zero time if there is none. Turns that wait for others to end are not
// counted.
func (b *Duties) Wake(now time.Time) time.Time {
	var first time.Time
	for _, w := range b.duties {
		if w.Later != nil && w.Later.Until.After(now) && (first.IsZero() || w.Later.Until.Before(first)) {
			first = w.Later.Until
		}
		for _, r := range w.rows {
			if !r.running && r.next.After(now) && r.next != never && (first.IsZero() || r.next.Before(first)) {
				first = r.next
			}
		}
	}
	return first
}
