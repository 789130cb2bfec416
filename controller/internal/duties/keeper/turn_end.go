package keeper

import (
	"fmt"
	"slices"
	"time"

	"hark/controller/internal/duties/duty"
	"hark/controller/internal/duties/dutystate"
)

// Done takes the result of a turn, and returns what there is to write.
func (b *Duties) Done(now time.Time, t Turn,
	outcomes map[string]Outcome) (states []dutystate.State, definitions []dutystate.Definition) {
	w := b.duties[t.Duty.Name]
	for _, h := range t.Hosts {
		delete(b.busy, h.Agent)
		if w == nil || w.rows[h.Agent] == nil { // it went while the turn went on
			continue
		}
		r := w.rows[h.Agent]
		w.running--
		r.running = false
		o, ok := outcomes[h.Agent]
		if !ok {
			o = Outcome{Status: Broke, Why: "the run told nothing of this host"}
		}
		if s, tell := w.end(now, r, t, o); tell {
			states = append(states, s)
		}
	}
	if w != nil && w.judge(now, t) {
		definitions = append(definitions, w.say(now))
	}
	return states, definitions
}

// end takes the result of a turn on one host. It is false where another keeper writes it.
func (w *dutyWatch) end(now time.Time, r *row, t Turn, o Outcome) (dutystate.State, bool) {
	if o.Status == Busy && !t.Push {
		r.next = now.Add(busyPause)
		if r.waits.IsZero() {
			r.waits = now
		}
		r.Begun, r.Why = time.Time{}, "waits: "+o.Why
		return r.State, true
	}
	looked, byClock, back := r.looks, !r.wanted, r.back
	r.wanted, r.looks, r.back, r.waits = false, false, false, time.Time{}
	if byClock && !w.staysDue(o) {
		r.Missed = w.between(r.Slot, t.Slot)
		if o.Status == Away {
			r.Missed++
		}
		r.Slot = max(r.Slot, t.Slot.ID())
	}
	if o.Status == Twice {
		r.Begun = time.Time{}
		w.aim(now, r)
		return r.State, false
	}
	if looked && o.Status == Done {
		r.learn(now, t, o)
	} else {
		r.Run, r.Commit, r.Mode = o.Run, t.Commit, t.Mode
		r.take(now, t, o)
	}
	if byClock {
		w.count(t.Slot, r.Kind)
	}
	w.aim(now, r)
	if back && r.Kind == dutystate.Absent {
		w.catchUp(now, r)
	}
	if w.Later == nil && t.Mode == duty.Enforce && r.Kind == dutystate.Mended && r.NoiseCommit != t.Commit {
		r.wanted, r.looks, r.next, r.turn = true, true, now, t.Slot
	}
	return r.State, true
}

// count adds a turn to the sweep of its slot. Turns of an earlier slot that end late are of the latest.
func (w *dutyWatch) count(slot duty.Slot, k dutystate.Kind) {
	if w.Later != nil {
		return
	}
	if s := w.def.Sweeps; len(s) == 0 || s[0].Slot.Before(slot.Start) {
		s = slices.Insert(slices.Clone(s), 0, dutystate.Sweep{Slot: slot.Start, Hosts: map[dutystate.Kind]int{}})
		w.def.Sweeps = s[:min(len(s), dutystate.MostPast)]
	}
	w.def.Sweeps[0].Hosts[k]++
}

// take concludes from a turn how the host stands.
func (r *row) take(now time.Time, t Turn, o Outcome) {
	r.Until = o.Until
	switch o.Status {
	case Away:
		r.conclude(now, dutystate.Absent, o.Why, nil)
		return
	case OnHold:
		r.conclude(now, dutystate.Held, o.Why, nil)
		return
	case Broke, Lost, Busy:
		r.conclude(now, dutystate.Failed, o.Why, o.Failed)
		return
	}
	r.Tasks = o.Tasks
	if t.Mode == duty.Check {
		r.Blind = o.Blind
	}
	if t.Mode == duty.Enforce {
		r.repeats(t, o)
	}
	r.Drift = r.changes(now, o.Changes, r.noise(t.Duty, t.Commit))
	is := dutystate.Kept
	switch {
	case len(r.Drift) > 0 && t.Mode == duty.Enforce:
		is = dutystate.Mended
	case len(r.Drift) > 0:
		is = dutystate.Drifted
	}
	r.conclude(now, is, "", tasks(r.Drift))
}

// noise returns the tasks whose changes mean nothing for a host under a duty at a commit.
func (r *row) noise(d duty.Duty, commit string) []string {
	if r.NoiseCommit != commit {
		return d.Ignore
	}
	return slices.Concat(d.Ignore, r.Noise)
}

// repeats learns of an enforcing turn what is changed each time and no check can see: what one turn after the other
// has changed.
func (r *row) repeats(t Turn, o Outcome) {
	all := tasks(o.Changes)
	if r.NoiseCommit == t.Commit {
		for _, name := range all {
			if slices.Contains(r.Changed, name) && slices.Contains(r.Blind, name) && !slices.Contains(r.Noise, name) {
				r.Noise = append(slices.Clone(r.Noise), name)
			}
		}
	}
	r.Changed = all
}

// changes returns those that are no noise. What was there before keeps its time.
func (r *row) changes(now time.Time, all []dutystate.Change, noise []string) []dutystate.Change {
	var out []dutystate.Change
	for _, c := range all {
		if slices.Contains(noise, c.Task) {
			continue
		}
		c.Since = now
		if i := slices.IndexFunc(r.Drift, func(had dutystate.Change) bool { return had.Task == c.Task }); i >= 0 {
			c.Since = r.Drift[i].Since
		}
		out = append(out, c)
	}
	return out
}

// learn takes what a check found on a host that is as it should be: that is noise. Of what an enforcing turn before
// it has changed only the rest was mended.
func (r *row) learn(now time.Time, t Turn, o Outcome) {
	r.Noise, r.NoiseCommit = tasks(o.Changes), t.Commit
	r.Blind, r.Tasks = o.Blind, o.Tasks
	enforced := r.Kind == dutystate.Mended
	r.Drift = slices.DeleteFunc(r.Drift, func(c dutystate.Change) bool {
		return !enforced || slices.Contains(r.Noise, c.Task)
	})
	r.Begun = time.Time{}
	if enforced && len(r.Drift) > 0 { // the state stays that of the turn before, which changed the host
		return
	}
	r.Run, r.Commit, r.Mode = o.Run, t.Commit, t.Mode
	r.conclude(now, dutystate.Kept, "", nil)
}

func tasks(all []dutystate.Change) []string {
	var out []string
	for _, c := range all {
		out = append(out, c.Task)
	}
	return out
}

// conclude notes how the host stands, and since when.
func (r *row) conclude(now time.Time, s dutystate.Kind, why string, tasks []string) {
	if r.Kind != s {
		r.Since = now
	}
	r.V, r.Kind, r.Why, r.At, r.Begun = dutystate.Version, s, why, now, time.Time{}
	if s != dutystate.Drifted && s != dutystate.Mended {
		r.Drift = nil
	}
	if len(r.Past) > 0 && r.Past[0].Kind == s && slices.Equal(r.Past[0].Tasks, tasks) {
		r.Past = slices.Clone(r.Past)
		r.Past[0].To, r.Past[0].Run = now, r.Run
		r.Past[0].Times++
		return
	}
	r.Past = append([]dutystate.Past{{From: now, To: now, Times: 1, Kind: s, Run: r.Run, Tasks: tasks}}, r.Past...)
	r.Past = r.Past[:min(len(r.Past), dutystate.MostPast)]
}

// between returns how many turns lie between a slot and another, of those that the window leaves.
func (w *dutyWatch) between(last int64, slot duty.Slot) int {
	if last == 0 || w.Later != nil {
		return 0
	}
	const most = 10_000
	n := 0
	for s := w.Schedule.Next(w.Schedule.Slot(time.Unix(last, 0))); s.ID() < slot.ID() && n < most; s = w.Schedule.Next(s) {
		if _, ok := w.Schedule.Moment(s, 0); ok {
			n++
		}
	}
	return n
}

// cause is what a host has failed with: a commit, in a slot.
type cause struct {
	commit string
	slot   int64
}

// judge stops a duty if too many of its hosts have failed with the commit that is in force: in a slot or, while the
// commit goes out, at all. What failed with another commit is no fault of this one, which may be what mends it. It
// reports whether it did.
func (w *dutyWatch) judge(now time.Time, t Turn) bool {
	is := cause{t.Commit, t.Slot.ID()}
	for _, h := range t.Hosts {
		if r := w.rows[h.Agent]; r != nil && r.Kind == dutystate.Failed {
			w.failed[h.Agent] = is
		} else {
			delete(w.failed, h.Agent)
		}
	}
	if t.Commit != w.def.Commit && w.Later == nil {
		return false
	}
	of, failed := len(w.rows), 0
	for _, c := range w.failed {
		if c == is {
			failed++
		}
	}
	if w.def.Before != "" {
		of, failed = w.reached()
	}
	if w.stopped() || w.StopAt.IsZero() || !w.StopAt.Reached(failed, of) {
		return false
	}
	w.def.Broken = t.Commit
	w.def.Paused = &dutystate.Pause{At: now, Commit: t.Commit,
		Why: fmt.Sprintf("%d of %d hosts failed (stop_at %s) with %s", failed, of, w.StopAt, t.Commit)}
	return true
}
