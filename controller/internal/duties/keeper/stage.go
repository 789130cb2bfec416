package keeper

import (
	"slices"
	"time"

	"hark/controller/internal/duties/duty"
	"hark/controller/internal/duties/dutystate"
)

// stageOne begins a commit: with its first stage if it follows another, else everywhere.
func (w *watch) stageOne(now time.Time, commit string, changed bool) {
	before := w.def.Commit
	if w.def.Before != "" { // a commit that was not through yet is passed over
		before = w.def.Before
	}
	w.def.Commit, w.def.Stage, w.def.StageAt, w.def.Before = commit, 0, now, ""
	if changed && len(w.AfterChanges) > 0 && before != commit {
		w.def.Before = before
	}
	if p := w.def.Paused; p != nil && p.Commit != "" && p.Commit != commit {
		w.def.Paused = nil
	}
}

// stage is how many hosts have the new commit.
func (w *watch) stage() int {
	if w.def.Before == "" {
		return len(w.order)
	}
	return w.AfterChanges.UpTo(w.def.Stage, len(w.order))
}

// commitOf is what a host is played from, "" if it waits for its stage.
func (w *watch) commitOf(agent string) string {
	if w.def.Before == "" || slices.Contains(w.order[:w.stage()], agent) {
		return w.def.Commit
	}
	if w.Lacks(w.def.Before) {
		return ""
	}
	return w.def.Before
}

// advance goes to the next stage when an interval is over and some host of this one has been through. It tells whether it did.
func (w *watch) advance(now time.Time) bool {
	if w.def.Before == "" || w.stopped() || now.Before(w.def.StageAt.Add(w.interval())) {
		return false
	}
	through := slices.ContainsFunc(w.order[:w.stage()], func(agent string) bool {
		r := w.rows[agent]
		return r.Commit == w.def.Commit && r.Standing != dutystate.Failed && r.Standing != dutystate.Absent && r.Standing != dutystate.Held
	})
	if !through {
		return false
	}
	w.def.Stage++
	w.def.StageAt = now
	if w.def.Stage >= len(w.AfterChanges) || w.stage() >= len(w.order) {
		w.def.Before, w.def.Stage = "", 0
	}
	return true
}

// interval is the time from turn to turn.
func (w *watch) interval() time.Duration {
	if w.Schedule.Every > 0 {
		return w.Schedule.Every
	}
	return 24 * time.Hour
}

func (w *watch) stopped() bool { return w.def.Paused != nil }

// say brings the definition up to date.
func (w *watch) say(now time.Time) dutystate.Definition {
	d := &w.def
	d.V, d.Name, d.Mode, d.Play, d.Hosts, d.Count, d.At, d.Later = dutystate.Version, w.Name, w.Mode, w.Play, w.Duty.Hosts, len(w.rows), now, w.Later
	d.Every, d.Period, d.Gone = "", w.interval()+w.Schedule.Splay, false
	switch {
	case w.Schedule.Every > 0:
		d.Every = duty.SpanText(w.Schedule.Every)
	case w.Schedule.At.Zone != nil:
		d.Every = "daily " + w.Schedule.At.String()
	}
	d.Next = time.Time{}
	for _, r := range w.rows {
		if !r.running && r.next != never && (d.Next.IsZero() || r.next.Before(d.Next)) {
			d.Next = r.next
		}
	}
	return *d
}
