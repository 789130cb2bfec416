package keeper

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"hark/controller/internal/duties/duty"
	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/notify"
)

// Problem is something outside of duties that is the matter, for as long as it is found: a project that is stale, a
// keeper that is silent, a certificate that ends soon, a run that was lost.
type Problem struct {
	Key  string
	What notify.What
	Text string
	// Once says that it has no end.
	Once bool
}

// silence is for how long a keeper must have said nothing until somebody is notified when one is at work again.
const silence = 5 * time.Minute

// looksAtAffairs is how many looks must find a problem until it is reported: a short loss of the connection is none.
const looksAtAffairs = 2

// problems reports the problems that have begun and ended since the last report. It reports whether the keeper's
// report has changed.
func (k *Keeper) problems(now time.Time, found []Problem) bool {
	rules := cmp.Or(k.board.notify, duty.NotifyAll(nil))
	if rules.IsQuiet(now) {
		return false
	}
	changed := false
	seen := map[string]int{}
	for _, a := range found {
		seen[a.Key] = k.seen[a.Key] + 1
		had := slices.ContainsFunc(k.report.Notified, func(t dutystate.NotifiedState) bool { return t.Key == a.Key })
		if had || seen[a.Key] < looksAtAffairs || !rules.Tells(a.What) {
			continue
		}
		changed = true
		k.report.Notified = append(slices.Clone(k.report.Notified), dutystate.NotifiedState{Key: a.Key, What: string(a.What),
			Text: a.Text, At: now, Once: a.Once})
		k.say(Notice{notify.Data{What: a.What, Text: a.Text, Key: a.Key, Project: k.cfg.Project, Commit: k.report.Commit},
			rules.To})
	}
	k.seen = seen
	var left []dutystate.NotifiedState
	for _, t := range k.report.Notified {
		switch {
		case seen[t.Key] > 0, t.Once && now.Sub(t.At) < keepEnded:
			left = append(left, t)
			continue
		case !t.Once && rules.Tells(notify.Fixed):
			k.say(Notice{notify.Data{What: notify.Fixed, Text: "resolved: " + t.Text, Key: t.Key, Project: k.cfg.Project,
				Commit: k.report.Commit}, rules.To})
		}
		changed = true
	}
	k.report.Notified = left
	return changed
}

// awake reports that there was no keeper for a while, which nobody could report meanwhile.
func (k *Keeper) awake(now, last time.Time) {
	rules := cmp.Or(k.board.notify, duty.NotifyAll(nil))
	if gone := now.Sub(last).Round(time.Second); !last.IsZero() && gone > reportAge+silence && rules.Tells(notify.Silent) {
		text := fmt.Sprintf("no keeper was at work for %v, since %s: there is one again", gone,
			last.UTC().Format(time.DateTime+" MST"))
		k.say(Notice{notify.Data{What: notify.Fixed, Text: text, Key: "keeper/silent", Project: k.cfg.Project}, rules.To})
	}
}

// say notifies somebody, and logs it.
func (k *Keeper) say(n Notice) {
	kind, subject := "keeper", k.cfg.Project
	if n.Duty != "" {
		kind, subject = "duty", n.Duty
	}
	line := k.cfg.Logger.Warn()
	if n.What == notify.Fixed || n.What == notify.Resumed {
		line = k.cfg.Logger.Info()
	}
	line.Str("what", string(n.What)).Str("duty", n.Duty).Strs("told", n.To).Msg(n.Text)
	if k.cfg.Tell == nil || len(n.To) == 0 {
		return
	}
	if n.Project == "" {
		n.Project = k.cfg.Project
	}
	k.work.Go(func() { k.cfg.Tell(k.told, kind, subject, n) })
}

// tellDuties returns what has changed with duties.
func (k *Keeper) tellDuties(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	all, states, definitions := k.board.Tell(k.cfg.Now())
	k.write(states, definitions)
	for _, n := range all {
		k.say(n)
	}
}
