package runmodel

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// In how many ranges the hosts of a group are named; of the others only the number is shown. Groups that a person looks
// for get more.
const (
	named    = 8
	wellSaid = 4 // of hosts without problems
)

// Seen is a run at one moment.
type Seen struct {
	Plays   []PlaySeen
	Stages  []Stage // that have begun
	Notices []Notice
	Hosts   int
	Results int
	Line    int // the last line of the record that is in it
	Ended   bool
	Counts  Counts // hosts by their worst state
	Longest time.Duration
}

// PlaySeen is a play at one moment.
type PlaySeen struct {
	Play
	Tasks []TaskSeen
}

// TaskSeen is a task at one moment.
type TaskSeen struct {
	Task
	Groups []GroupSeen
	More   int // groups that are left out
}

// GroupSeen is a group at one moment.
type GroupSeen struct {
	N     int
	State State
	Text  string
	Whole int
	Count int
	Names string // of the hosts, numbered ones as ranges
	More  int    // hosts that are not named
	Line  int
}

// Short reports whether the text is one line that fits beside the hosts.
func (g GroupSeen) Short() bool { return len(g.Text) <= 120 && !strings.Contains(g.Text, "\n") }

// See returns the present state of the run, with at most groups groups of each task.
func (r *Run) See(groups int) Seen { return r.Since(-1, groups) }

// Since is See with only the tasks that changed after a line of the record.
func (r *Run) Since(line, groups int) Seen {
	r.mu.RLock()
	defer r.mu.RUnlock()
	s := Seen{Notices: slices.Clone(r.notices), Hosts: len(r.hosts), Results: r.results, Line: r.line,
		Ended: r.stats != nil}
	s.Stages = slices.Clone(r.stages)
	for _, h := range r.hosts {
		s.Counts[h.worst()]++
		if h.stage >= 0 {
			s.Stages[h.stage].Counts[h.worst()]++
		}
	}
	for _, p := range r.plays {
		x := PlaySeen{Play: *p}
		x.Play.Tasks = nil
		for _, t := range p.Tasks {
			s.Longest = max(s.Longest, t.Took())
			if t.Changed > line {
				x.Tasks = append(x.Tasks, r.see(t, groups))
			}
		}
		s.Plays = append(s.Plays, x)
	}
	return s
}

// worst returns the worst state of a host.
func (h Host) worst() State {
	for s := Failed; s < States; s++ {
		if h.Counts[s] > 0 && s != Ignored && s != Rescued {
			return s
		}
	}
	return OK
}

// see assumes mu held.
func (r *Run) see(t *Task, groups int) TaskSeen {
	x := TaskSeen{Task: *t}
	x.Task.Groups, x.index = nil, nil
	x.Included = slices.Clone(t.Included)
	sorted := slices.Clone(t.Groups)
	slices.SortStableFunc(sorted, func(a, b *Group) int {
		if a.State != b.State {
			return int(a.State) - int(b.State)
		}
		return b.hosts.n - a.hosts.n
	})
	for i, g := range sorted {
		if i == groups {
			x.More = len(sorted) - i
			break
		}
		x.Groups = append(x.Groups, r.group(g))
	}
	return x
}

// group assumes mu held.
func (r *Run) group(g *Group) GroupSeen {
	most := named
	if !g.State.Bad() && g.Text == "" {
		most = wellSaid
	}
	names, told := r.ranks().ranges(&g.hosts, most)
	return GroupSeen{
		N: g.N, State: g.State, Text: g.says(r), Whole: g.Whole, Count: g.hosts.n, Line: g.Line, Names: names,
		More: g.hosts.n - told,
	}
}

// says returns the text of a group. In the text of a group with one host the host has its name.
func (g *Group) says(r *Run) string {
	if g.hosts.n == 1 {
		return strings.ReplaceAll(g.Text, nameMark, r.hosts[g.hosts.first()].Name)
	}
	return strings.ReplaceAll(g.Text, nameMark, "‹host›")
}

// names returns the names of hosts in natural order: web2 before web10. It assumes mu held.
func (r *Run) names(hosts *hostSet) []string {
	o := r.ranks()
	names := make([]string, 0, hosts.n)
	o.each(hosts, func(rank int) bool {
		names = append(names, o.names[rank])
		return true
	})
	return names
}

// Task returns one task, with its groups from number from on; false if there is none of that number.
func (r *Run) Task(n, from, groups int) (TaskSeen, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if n < 1 || n > len(r.tasks) {
		return TaskSeen{}, false
	}
	x := r.see(r.tasks[n-1], from+groups)
	x.Groups = x.Groups[min(from, len(x.Groups)):]
	return x, true
}

// Group returns one group of a task with its hosts from number from on, at most most.
func (r *Run) Group(task, n, from, most int) (GroupSeen, []string, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if task < 1 || task > len(r.tasks) || n < 1 || n > len(r.tasks[task-1].Groups) {
		return GroupSeen{}, nil, false
	}
	g := r.tasks[task-1].Groups[n-1]
	names := r.names(&g.hosts)
	return r.group(g), names[min(from, len(names)):min(from+most, len(names))], true
}

// Hosts returns the hosts whose names contain a text, the worst states first.
func (r *Run) Hosts(with string) []Host {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var all []Host
	for _, h := range r.hosts {
		if strings.Contains(h.Name, with) {
			all = append(all, h)
		}
	}
	slices.SortStableFunc(all, func(a, b Host) int {
		if x, y := a.worst(), b.worst(); x != y && (x.Bad() || y.Bad()) {
			return int(x) - int(y)
		}
		return compare(a.Name, b.Name)
	})
	return all
}

// Worst returns the worst state of a host.
func (h Host) Worst() State { return h.worst() }

// Came is one host's result of a task.
type Came struct {
	Task  TaskSeen
	Group GroupSeen
}

// Host returns a host's results of all tasks, in order; false if the run has no such host.
func (r *Run) Host(name string) ([]Came, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	h, ok := r.number[name]
	if !ok {
		return nil, false
	}
	var all []Came
	for _, t := range r.tasks {
		for _, g := range t.Groups {
			if g.hosts.has(h) {
				all = append(all,
					Came{r.see(t, 0), GroupSeen{N: g.N, State: g.State, Text: strings.ReplaceAll(g.Text, nameMark, name),
						Whole: g.Whole, Count: g.hosts.n, Line: g.Line}})
			}
		}
	}
	return all, true
}

// Size counts the parts of a run.
type Size struct{ Tasks, Hosts, Notices, Results, Jobs int }

// Size returns the size of the run.
func (r *Run) Size() Size {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return Size{len(r.tasks), len(r.hosts), len(r.notices), r.results, len(r.jobs)}
}

// Notices returns the texts that belong to no host's result.
func (r *Run) Notices() []Notice {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clone(r.notices)
}

// Worst returns the first hosts with a worst state, in natural order, and how many there are.
func (r *Run) Worst(state State, most int) (names []string, total int) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, h := range r.hosts {
		if h.worst() == state {
			names = append(names, h.Name)
		}
	}
	slices.SortFunc(names, compare)
	return names[:min(most, len(names))], len(names)
}

// Found is a task or a host that a search found.
type Found struct{ Text, Path string }

// Find finds a text in the titles of tasks and the names of hosts, at most most of them. It ignores case.
func (r *Run) Find(text string, most int) []Found {
	r.mu.RLock()
	defer r.mu.RUnlock()
	text = strings.ToLower(text)
	var all []Found
	for _, t := range r.tasks {
		if len(all) < most && strings.Contains(strings.ToLower(t.Title), text) {
			all = append(all, Found{"task " + t.Title, "#t" + strconv.Itoa(t.N)})
		}
	}
	for _, h := range r.hosts {
		if len(all) < most && strings.Contains(strings.ToLower(h.Name), text) {
			all = append(all, Found{"host " + h.Name, "/hosts/" + url.PathEscape(h.Name)})
		}
	}
	return all
}

// Line returns the number of the last line of the record that is in it.
func (r *Run) Line() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.line
}
