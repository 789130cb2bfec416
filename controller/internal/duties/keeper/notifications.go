package keeper

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hark/controller/internal/duties/duty"
	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/notify"
)

// Notice is something that somebody is told.
type Notice struct {
	notify.Data
	To []string // targets
}

// tellAgain is how many times as long hosts are gathered once something of their kind was told.
const tellAgain = 10

// topic is what messages of a duty are about. Those of the same topic are told together.
type topic struct {
	what notify.What
	over bool // it is no longer so
	left bool // since the hosts are hosts of the duty no longer
}

// topicState is since when there is something to tell of a topic, and when something was told last.
type topicState struct{ since, notified time.Time }

// Tell finds what has changed since it was told last, and is to be told now. What was told is kept in the states and
// definitions, which are to be written: a keeper that is started again reports nothing twice and forgets nothing. What
// has changed back before it was reported is not reported at all.
func (b *Duties) Tell(now time.Time) (all []Notice, states []dutystate.State, definitions []dutystate.Definition) {
	for _, name := range slices.Sorted(maps.Keys(b.duties)) {
		w := b.duties[name]
		rules := cmp.Or(w.Duty.Notify, b.notify, duty.NotifyAll(nil))
		if rules.IsQuiet(now) {
			continue
		}
		if n, ok := w.tellPause(rules); ok {
			all = append(all, n...)
			definitions = append(definitions, w.say(now))
		}
		topics := w.topicsNow(now, rules)
		for t, rows := range topics {
			if !w.ripe(now, rules, t, rows) {
				continue
			}
			n := w.notice(rules, t, rows, now)
			for _, r := range rows {
				if r.Notified = string(t.what); t.over {
					r.Notified = ""
				}
				states = append(states, r.State)
			}
			if t.left {
				w.left = slices.DeleteFunc(w.left, func(r *row) bool { return r.Notified == "" })
			}
			if !t.over || rules.Tells(notify.Fixed) {
				all = append(all, n)
			}
			w.topics[t] = topicState{notified: now}
		}
		for t, s := range w.topics { // what has changed back
			if len(topics[t]) == 0 && !s.since.IsZero() {
				w.topics[t] = topicState{notified: s.notified}
			}
		}
	}
	slices.SortStableFunc(all, func(a, c Notice) int { return strings.Compare(a.Text, c.Text) })
	return all, states, definitions
}

// tellPause reports whether a duty stopped, or goes on.
func (w *dutyWatch) tellPause(rules *duty.Notify) ([]Notice, bool) {
	p := w.def.Paused
	if w.def.PauseNotified == (p != nil) {
		return nil, false
	}
	w.def.PauseNotified = p != nil
	d := w.about(notify.Paused)
	d.Key = w.key(notify.Paused)
	if p == nil {
		d.What, d.Text = notify.Resumed, w.Name+": the duty goes on"
	} else {
		d.Text, d.Commit = w.Name+": the duty is paused: "+p.Why, cmp.Or(p.Commit, d.Commit)
	}
	if !rules.Tells(d.What) {
		return nil, true
	}
	return []Notice{{d, rules.To}}, true
}

// condition returns what there is to report about a host, "" if it is well. It is what was reported before where that
// can be known only later.
func (r *row) condition(now time.Time, rules *duty.Notify) notify.What {
	told, is := notify.What(r.Notified), notify.What("")
	switch r.Kind {
	case dutystate.Failed:
		is = notify.Failed
	case dutystate.Drifted:
		is = notify.Drifted
	case dutystate.Absent:
		if now.Sub(r.Since) < rules.AbsentFor {
			return told
		}
		return notify.Absent
	case dutystate.Held, dutystate.Never:
		return told
	default:
		return ""
	}
	turns := 0
	for _, p := range r.Past {
		if p.Kind != r.Kind {
			break
		}
		turns += p.Times
	}
	if turns < rules.After && told != is {
		return told
	}
	return is
}

// topicsNow returns the hosts to notify about, by topic.
func (w *dutyWatch) topicsNow(now time.Time, rules *duty.Notify) map[topic][]*row {
	all := map[topic][]*row{}
	for _, r := range w.rows {
		is, told := r.condition(now, rules), notify.What(r.Notified)
		if is == told {
			continue
		}
		if told != "" { // the end comes first: the new state is reported after it
			t := topic{what: told, over: true}
			all[t] = append(all[t], r)
			continue
		}
		if rules.Tells(is) {
			t := topic{what: is}
			all[t] = append(all[t], r)
		}
	}
	for _, r := range w.left {
		t := topic{what: notify.What(r.Notified), over: true, left: true}
		all[t] = append(all[t], r)
	}
	for _, rows := range all {
		slices.SortFunc(rows, func(a, b *row) int { return strings.Compare(a.Host, b.Host) })
	}
	return all
}

// ripe reports whether a topic is due now: enough hosts stand so, and those that may follow were waited for.
func (w *dutyWatch) ripe(now time.Time, rules *duty.Notify, t topic, rows []*row) bool {
	s := w.topics[t]
	if !t.over && !rules.Hosts.IsZero() && !rules.Hosts.Reached(len(rows)+w.notifiedHosts(t.what), len(w.rows)) {
		return false
	}
	if s.since.IsZero() {
		s.since = now
		w.topics[t] = s
	}
	ready := s.since.Add(rules.Gather)
	if again := s.notified.Add(tellAgain * rules.Gather); !s.notified.IsZero() && again.After(ready) {
		ready = again
	}
	return !now.Before(ready)
}

// notifiedHosts returns about how many hosts somebody was notified.
func (w *dutyWatch) notifiedHosts(what notify.What) int {
	n := 0
	for _, r := range w.rows {
		if r.Notified == string(what) {
			n++
		}
	}
	return n
}

func (w *dutyWatch) key(what notify.What) string { return "duty/" + w.Name + "/" + string(what) }

func (w *dutyWatch) about(what notify.What) notify.Data {
	return notify.Data{What: what, Duty: w.Name, Mode: string(w.Mode), Commit: w.def.Commit, Of: len(w.rows)}
}

// notice returns the notice of a topic.
func (w *dutyWatch) notice(rules *duty.Notify, t topic, rows []*row, now time.Time) Notice {
	d := w.about(t.what)
	d.Key = w.key(t.what)
	why := map[string]string{}
	for _, r := range rows {
		d.Hosts = append(d.Hosts, r.Host)
		d.Run = cmp.Or(d.Run, r.Run)
		if !t.over {
			why[r.Host] = cmp.Or(r.Why, strings.Join(tasks(r.Drift), ", "))
		}
	}
	d.Causes = notify.GroupCauses(why)
	says := map[notify.What][2]string{
		notify.Failed: {"failed", "no longer fail"}, notify.Drifted: {"drift", "no longer drift"},
		notify.Absent: {"have been away for " + duty.SpanText(rules.AbsentFor), "are back"},
	}[t.what]
	text := says[0]
	if t.over {
		text, d.What = says[1], notify.Fixed
		d.Left = w.notifiedHosts(t.what) - len(rows)
	}
	d.Text = fmt.Sprintf("%s: %d of %d hosts %s: %s", w.Name, len(rows), len(w.rows), text, notify.Hosts(d.Hosts))
	if t.left {
		d.Left = w.notifiedHosts(t.what)
		d.Text = fmt.Sprintf("%s: no longer hosts of the duty: %s", w.Name, notify.Hosts(d.Hosts))
	}
	if d.Left > 0 {
		d.Text += fmt.Sprintf("; %d are left", d.Left)
	}
	return Notice{d, rules.To}
}

// tellWake returns when something may be due next, the zero time if nothing waits.
func (b *Duties) tellWake(now time.Time) time.Time {
	var first time.Time
	for _, w := range b.duties {
		rules := cmp.Or(w.Duty.Notify, b.notify, duty.NotifyAll(nil))
		for _, s := range w.topics {
			if s.since.IsZero() {
				continue
			}
			ready := s.since.Add(rules.Gather)
			if again := s.notified.Add(tellAgain * rules.Gather); !s.notified.IsZero() && again.After(ready) {
				ready = again
			}
			if ready.After(now) && (first.IsZero() || ready.Before(first)) {
				first = ready
			}
		}
	}
	return first
}
