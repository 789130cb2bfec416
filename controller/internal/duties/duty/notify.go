package duty

import (
	"slices"
	"strings"
	"time"

	"hark/controller/internal/notify"
	"hark/controller/internal/runs/rollout"
	"hark/modules/py/value"
	"hark/playbook/syntax"
)

// Notify is who is told when how things stand changes, and of what.
type Notify struct {
	// To are targets, as notify.Parse reads them; none is nobody.
	To []string
	// Tell are the changes that are told.
	Tell []notify.What
	// After is how many turns in a row must come out so before it is told, and Hosts how many hosts must stand so;
	// zero is one.
	After int
	Hosts rollout.Share
	// AbsentFor is for how long a host must be away.
	AbsentFor time.Duration
	// Quiet is when nobody is told: what still is so when it is over is told then.
	Quiet *Window
	// Gather is how long hosts are waited for that the same message can tell of. Later ones wait ten times as long.
	Gather time.Duration
}

// What is not said.
const (
	defaultAbsentFor = 24 * time.Hour
	defaultGather    = 30 * time.Second
)

// NotifyAll sends everything to the targets.
func NotifyAll(to []string) *Notify {
	return &Notify{To: to, Tell: notify.All(), After: 1, AbsentFor: defaultAbsentFor, Gather: defaultGather}
}

// notify reads who is told: a target, a list of them, `nobody`, or a mapping.
func (r *reader) notify(n *syntax.Node) *Notify {
	out := NotifyAll(nil)
	if n.Keys == nil {
		if text, _ := value.Text(n.Value); text != "nobody" {
			out.To = r.targets(n)
		}
		return out
	}
	r.known(n, "notify", []string{"to", "tell", "after", "hosts", "absent_for", "quiet", "gather"})
	if v := n.Get("to"); v == nil {
		r.fail(n, "notify does not say to whom: to is a URL, a command, nats: or @FILE")
	} else {
		out.To = r.targets(v)
	}
	if v := n.Get("tell"); v != nil {
		out.Tell = r.changes(v)
	}
	if v := n.Get("after"); v != nil {
		count, ok := v.Value.(value.Int)
		if out.After = int(count); !ok || out.After < 1 || out.After > 1000 {
			r.fail(v, "after is a number of turns from 1 to 1000")
		}
	}
	if v := n.Get("hosts"); v != nil {
		if text, ok := r.text(v, "hosts"); ok {
			share, err := rollout.ParseShare(text)
			if err != nil {
				r.fail(v, "hosts: %v", err)
			}
			out.Hosts = share
		}
	}
	if v := n.Get("absent_for"); v != nil {
		out.AbsentFor = r.span(v, "absent_for")
	}
	if v := n.Get("gather"); v != nil {
		out.Gather = r.span(v, "gather")
	}
	if v := n.Get("quiet"); v != nil {
		text, _ := r.text(v, "quiet")
		w, err := parseWindow(text)
		if text != "" && err != nil {
			r.fail(v, "quiet is days, times and zone such as \"Mon-Fri 22:00-07:00 Europe/Berlin\": %v", err)
		}
		out.Quiet = w
	}
	return out
}

// targets returns a target or a list of them.
func (r *reader) targets(n *syntax.Node) []string {
	items := n.Items
	if items == nil {
		items = []*syntax.Node{n}
	}
	var all []string
	for _, item := range items {
		text, ok := r.text(item, "a target of notify")
		if !ok {
			continue
		}
		if _, err := notify.Parse(text); err != nil {
			r.fail(item, "notify: %v", err)
		}
		all = append(all, text)
	}
	return all
}

// changes returns the names of what is told.
func (r *reader) changes(n *syntax.Node) []notify.What {
	if n.Items == nil {
		r.fail(n, "tell is a list of what is told: %s", names(notify.All()))
	}
	var all []notify.What
	for _, item := range n.Items {
		text, ok := r.text(item, "an entry of tell")
		if ok && !slices.Contains(notify.All(), notify.What(text)) {
			r.fail(item, "nobody can be told of %q: there are %s", text, names(notify.All()))
		}
		all = append(all, notify.What(text))
	}
	return all
}

func names(all []notify.What) string {
	out := make([]string, len(all))
	for i, w := range all {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}

// Tells reports whether a change is told.
func (n *Notify) Tells(w notify.What) bool { return slices.Contains(n.Tell, w) }

// IsQuiet reports whether nobody is told at a time.
func (n *Notify) IsQuiet(t time.Time) bool {
	return n.Quiet != nil && len(n.Quiet.within(Slot{t, t.Add(time.Nanosecond)})) > 0
}
