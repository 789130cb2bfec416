package keeper

import (
	"slices"
	"time"

	"hark/controller/internal/duties/duty"
	"hark/controller/internal/duties/dutystate"
)

// stageOne begins a commit: with its first stage if it follows another, else everywhere.
func (w *dutyWatch) stageOne(now time.Time, commit string, changed bool) {
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

// stage returns how many hosts have the new commit by their places.
func (w *dutyWatch) stage() int {
	if w.def.Before == "" {
		return len(w.order)
	}
	return w.AfterChanges.UpTo(w.def.Stage, len(w.order))
}

// commitOf returns what a host is played from, "" if it waits for its stage:
//
//   - by its place the new commit has come to it: the new one;
//   - it has had the new one: that, also where hosts joined and its place is another;
//   - it has failed with another commit, which may be the one that the new one mends: the new one. What is broken is
//     not played again, and a host
//     that is broken is the least that a new commit can break;
//   - it is as an earlier commit wants it, and that is still there: that one.
func (w *dutyWatch) commitOf(r *row) string {
	switch {
	case w.def.Before == "", slices.Contains(w.order[:w.stage()], r.Agent), r.Commit == w.def.Commit:
		return w.def.Commit
	case r.Kind == dutystate.Failed && r.Commit != "":
		return w.def.Commit
	case w.was == nil, w.def.Broken == w.def.Before && r.Commit != w.def.Before:
		return ""
	}
	return w.def.Before
}

// reached returns the hosts that the new commit has come to, and how many of them have failed with it.
func (w *dutyWatch) reached() (hosts, failed int) {
	for _, r := range w.rows {
		if w.commitOf(r) != w.def.Commit {
			continue
		}
		hosts++
		if r.Commit == w.def.Commit && r.Kind == dutystate.Failed {
			failed++
		}
	}
	return hosts, failed
}

// advance goes to the next stage when an interval is over and some host has been through. It reports whether it did.
func (w *dutyWatch) advance(now time.Time) bool {
	if w.def.Before == "" || w.stopped() || now.Before(w.def.StageAt.Add(w.interval())) {
		return false
	}
	through := false
	for _, r := range w.rows {
		well := r.Kind != dutystate.Failed && r.Kind != dutystate.Absent && r.Kind != dutystate.Held
		through = through || r.Commit == w.def.Commit && well
	}
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

// interval returns the time from turn to turn.
func (w *dutyWatch) interval() time.Duration {
	if w.Schedule.Every > 0 {
		return w.Schedule.Every
	}
	return 24 * time.Hour
}

func (w *dutyWatch) stopped() bool { return w.def.Paused != nil }

// say brings the definition up to date.
func (w *dutyWatch) say(now time.Time) dutystate.Definition {
	d := &w.def
	d.V, d.Name, d.Mode, d.Play, d.Hosts, d.Count, d.At, d.Later = dutystate.Version, w.Name, w.Mode, w.Play, w.Duty.Hosts,
		len(w.rows), now, w.Later
	d.Every, d.Period, d.Gone, d.Once = "", w.interval()+w.Schedule.Splay, false, w.Schedule.Once
	d.Level = w.Level
	switch {
	case w.Schedule.Every > 0:
		d.Every = duty.SpanText(w.Schedule.Every)
	case !w.Schedule.Once.IsZero():
		d.Every = "once " + w.Schedule.Once.Format("2006-01-02 15:04 MST")
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
