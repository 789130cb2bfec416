package dutystate

import (
	"slices"
	"strings"
	"time"
)

// Late tells a duty of which too little was heard: a state is as fresh as its duty's interval and splay, and a tenth
// more.
func (d *Definition) Late(now time.Time) bool {
	return !d.Gone && d.Paused == nil && d.Later == nil && d.Once.IsZero() && now.Sub(d.At) > d.Period+d.Period/10
}

// Count is how many hosts of a duty stand how.
func Count(states []State, duty string) map[Kind]int {
	n := map[Kind]int{}
	for _, s := range states {
		if s.Duty == duty {
			n[s.Standing]++
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
}

// Drifts are the tasks that drift, equal ones of several hosts in one group; the largest come first.
func Drifts(states []State, which func(*State) bool) []Group {
	by := map[[3]string]*Group{}
	for i := range states {
		s := &states[i]
		if s.Standing != Drifted || !which(s) {
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
