package dutystate

import (
	"slices"
	"strings"
	"time"
)

// Late reports whether a duty was silent for too long: a state is as fresh as its duty's interval and splay, and a
// tenth more.
func (d *Definition) Late(now time.Time) bool {
	return !d.Gone && d.Paused == nil && d.Later == nil && d.Once.IsZero() && now.Sub(d.At) > d.Period+d.Period/10
}

// Count returns how many hosts of a duty stand how.
func Count(states []State, duty string) map[Kind]int {
	n := map[Kind]int{}
	for _, s := range states {
		if s.Duty == duty {
			n[s.Kind]++
		}
	}
	return n
}

// Blindness is at how many tasks checks could not look, of how many: of the host where it is most. Names are those of
// all hosts.
func Blindness(states []State, duty string) (blind, of int, names []string) {
	for _, s := range states {
		if s.Duty != duty {
			continue
		}
		if len(s.Blind) > blind || of == 0 {
			blind, of = len(s.Blind), s.Tasks
		}
		for _, name := range s.Blind {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return blind, of, names
}

// Group are hosts with the same drift at a task.
type Group struct {
	Duty  string    `json:"duty"`
	Task  string    `json:"task"`
	Diff  string    `json:"diff,omitempty"`
	Hosts []string  `json:"hosts"`
	Since time.Time `json:"since"` // of the first
	// Merged is how many groups with differences of their own this one stands for, 0 for itself only.
	Merged int `json:"-"`
}

// ByTask has the groups of one task stand together, the tasks of most hosts first. Those after the first few of a task
// become one without a difference: a difference that names its host is another on each.
func ByTask(groups []Group, few int) []Group {
	type task struct{ duty, name string }
	var order []task
	of, hosts := map[task][]Group{}, map[task]int{}
	for _, g := range groups {
		key := task{g.Duty, g.Task}
		if of[key] == nil {
			order = append(order, key)
		}
		of[key] = append(of[key], g)
		hosts[key] += len(g.Hosts)
	}
	slices.SortStableFunc(order, func(a, b task) int { return hosts[b] - hosts[a] })
	var all []Group
	for _, key := range order {
		same := of[key]
		if len(same) <= few+1 {
			all = append(all, same...)
			continue
		}
		all = append(all, same[:few]...)
		rest := Group{Duty: key.duty, Task: key.name, Since: same[few].Since, Merged: len(same) - few}
		for _, g := range same[few:] {
			rest.Hosts = append(rest.Hosts, g.Hosts...)
			if g.Since.Before(rest.Since) {
				rest.Since = g.Since
			}
		}
		slices.Sort(rest.Hosts)
		all = append(all, rest)
	}
	return all
}

// Drifts returns the tasks that drift, equal ones of several hosts in one group; the largest come first.
func Drifts(states []State, which func(*State) bool) []Group {
	by := map[[3]string]*Group{}
	for i := range states {
		s := &states[i]
		if s.Kind != Drifted || !which(s) {
			continue
		}
		for _, c := range s.Drift {
			key := [3]string{s.Duty, c.Task, c.Diff}
			g := by[key]
			if g == nil {
				g = &Group{Duty: s.Duty, Task: c.Task, Diff: c.Diff, Since: c.Since}
				by[key] = g
			}
			g.Hosts = append(g.Hosts, s.Host)
			if c.Since.Before(g.Since) {
				g.Since = c.Since
			}
		}
	}
	var all []Group
	for _, g := range by {
		slices.Sort(g.Hosts)
		all = append(all, *g)
	}
	slices.SortFunc(all, func(a, b Group) int {
		if d := len(b.Hosts) - len(a.Hosts); d != 0 {
			return d
		}
		return strings.Compare(a.Duty+"\x00"+a.Task+"\x00"+a.Diff, b.Duty+"\x00"+b.Task+"\x00"+b.Diff)
	})
	return all
}
