package record

import (
	"path"
	"slices"
	"strings"
)

// Entry checks all conditions except those on hosts and tasks.
func (f *Filter) Entry(e *Entry) bool {
	switch {
	case len(f.States) > 0 && !slices.Contains(f.States, e.State),
		f.Failed && !e.Failed(),
		!f.Since.IsZero() && e.Head.At.Before(f.Since),
		!f.Until.IsZero() && e.Head.At.After(f.Until),
		f.Duty != "" && e.Head.Duty != f.Duty, f.Persons && e.Head.Duty != "":
		return false
	}
	return f.By == "" || e.Head.by(f.By)
}

// by reports whether a person began the run.
func (h *Head) by(who string) bool {
	return h.Name == who || h.From == who || h.Who != "" && strings.HasPrefix(h.Who, who)
}

// Hosts checks the condition on hosts.
func (f *Filter) Hosts(foot *Foot) bool {
	if f.Host == "" {
		return true
	}
	for _, names := range foot.Hosts {
		if slices.ContainsFunc(Unfold(names), func(name string) bool { return Matches(f.Host, name) }) {
			return true
		}
	}
	return false
}

// Tasks checks the condition on tasks.
func (f *Filter) Tasks(foot *Foot) bool {
	return f.Task == "" || slices.ContainsFunc(foot.Tasks, func(t TaskSum) bool { return Matches(f.Task, t.Name) })
}

// Matches reports whether a name fits a pattern with * and ?. A name also matches by its last part only, such as
// "install" for "nginx : install".
func Matches(pattern, name string) bool {
	short := name[strings.LastIndex(name, " : ")+1:]
	for _, n := range []string{name, strings.TrimPrefix(short, ": ")} {
		// A * must match a slash too, which path.Match does not.
		if ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(n, "/", "\x00")); err == nil &&
			ok {
			return true
		}
	}
	return pattern == name
}

// CheckPattern returns the error of an invalid pattern.
func CheckPattern(pattern string) error {
	_, err := path.Match(pattern, "")
	return err
}

// StateOf returns the state of a run that has a foot.
func StateOf(f *Foot) State {
	if f.Status == Cancelled || f.Status == Detached {
		return Stopped
	}
	return Ended
}

// Foot returns as much of a foot as names define: the hosts, in an unknown state, and the tasks.
func (n *Names) Foot() *Foot {
	f := &Foot{Hosts: map[HostState][]string{}}
	for _, name := range n.hosts {
		f.Hosts[""] = append(f.Hosts[""], name)
	}
	for number, t := range n.tasks {
		f.Tasks = append(f.Tasks, TaskSum{Task: number, Name: t.Title()})
	}
	return f
}
