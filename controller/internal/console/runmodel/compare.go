package runmodel

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"hark/controller/internal/ui/view"
)

// Difference is a different result of a task in another run, with the hosts that share it.
type Difference struct {
	Title    string
	Then     *State // nil if the task, or the host, did not exist
	Now      *State
	ThenText string // its beginning
	NowText  string
	Count    int
	Names    string
	ThenTask int // numbers of the tasks, 0 where it was not there
	NowTask  int
}

// Slower is a task whose time differs.
type Slower struct {
	Title     string
	Then, Now time.Duration
	Task      int // of the run now
}

// Comparison is the difference of two runs.
type Comparison struct {
	Rows   []Difference
	Times  []Slower
	Same   int // hosts of both with equal states in every task
	Others int // hosts of both with a difference
}

// step identifies a task across runs: by its name in its play, and by how often that name came before.
type step struct {
	play, title string
	nth         int
}

// Compare returns the differences of this run from an earlier one.
func (r *Run) Compare(before *Run) Comparison {
	then, now := before.byHost(), r.byHost()
	var c Comparison
	d := differ{differs: map[string]bool{}, outThen: map[string]bool{}, outNow: map[string]bool{}}
	for _, at := range merged(then, now) {
		a, b := then.tasks[at], now.tasks[at]
		c.Rows = append(c.Rows, d.task(at.title, a, b)...)
		if a != nil && b != nil && notable(a.took, b.took) {
			c.Times = append(c.Times, Slower{at.title, a.took, b.took, b.n})
		}
	}
	for h := range now.hosts {
		switch {
		case !then.hosts[h]:
		case d.differs[h]:
			c.Others++
		default:
			c.Same++
		}
	}
	slices.SortStableFunc(c.Times,
		func(x, y Slower) int { return cmp.Compare((y.Now - y.Then).Abs(), (x.Now - x.Then).Abs()) })
	slices.SortStableFunc(c.Rows, func(x, y Difference) int { return cmp.Compare(weight(x), weight(y)) })
	return c
}

// weight orders differences, those that got worse first.
func weight(d Difference) int {
	switch {
	case d.Now != nil && d.Now.Bad():
		return 0
	case d.Then != nil && d.Then.Bad():
		return 1
	case d.Now != nil && d.Then != nil:
		return 2
	}
	return 3
}

// notable reports whether two times differ considerably: by half, and by half a second.
func notable(a, b time.Duration) bool {
	more, less := max(a, b), min(a, b)
	return more-less > 500*time.Millisecond && more > less+less/2
}

// results are those of a run by task and host.
type results struct {
	tasks map[step]*taskResults
	order []step
	hosts map[string]bool
}

type taskResults struct {
	n    int
	took time.Duration
	came map[string]*Group // by host
}

// byHost returns the run in a form that can be compared.
func (r *Run) byHost() results {
	r.mu.RLock()
	defer r.mu.RUnlock()
	x := results{tasks: map[step]*taskResults{}, hosts: map[string]bool{}}
	seen := map[step]int{}
	for _, t := range r.tasks {
		at := step{play: t.play.Name, title: t.Title}
		seen[at]++
		at.nth = seen[step{play: t.play.Name, title: t.Title}]
		y := &taskResults{n: t.N, took: t.Took(), came: map[string]*Group{}}
		for _, g := range t.Groups {
			copied := &Group{N: g.N, State: g.State, Text: g.Text, Whole: g.Whole}
			g.hosts.each(func(h int32) { y.came[r.hosts[h].Name] = copied })
		}
		x.tasks[at] = y
		x.order = append(x.order, at)
	}
	for _, h := range r.hosts {
		x.hosts[h.Name] = true
	}
	return x
}

// merged returns the tasks of both: those of now, and each of then that is gone after its predecessor.
func merged(then, now results) []step {
	all := slices.Clone(now.order)
	for i, at := range then.order {
		if now.tasks[at] != nil {
			continue
		}
		place := 0
		if i > 0 {
			place = slices.Index(all, then.order[i-1]) + 1
		}
		all = slices.Insert(all, place, at)
	}
	return all
}

// differ compares the tasks of two runs in order.
type differ struct {
	differs         map[string]bool // hosts that came out otherwise somewhere
	outThen, outNow map[string]bool // hosts that failed or were lost: their absence in later tasks is no news
}

// change is the result of a host then and now; nil if there was none.
type change struct{ then, now *Group }

// task returns the hosts of one task with different results, those with the same change in one row.
func (d *differ) task(title string, a, b *taskResults) []Difference {
	hosts := map[change][]string{}
	var changes []change
	for _, host := range both(a, b) {
		c := change{a.of(host), b.of(host)}
		if c.news() && !(c.now == nil && d.outNow[host]) && !(c.then == nil && d.outThen[host]) {
			d.differs[host] = true
			if hosts[c] == nil {
				changes = append(changes, c)
			}
			hosts[c] = append(hosts[c], host)
		}
		d.outThen[host] = d.outThen[host] || c.then != nil && c.then.State.Bad()
		d.outNow[host] = d.outNow[host] || c.now != nil && c.now.State.Bad()
	}
	var rows []Difference
	for _, c := range changes {
		rows = append(rows, c.row(title, hosts[c], a, b))
	}
	return rows
}

// news reports whether the results differ.
func (c change) news() bool {
	return c.then == nil || c.now == nil || c.then.State != c.now.State || c.now.State.Bad() && c.then.Text != c.now.Text
}

func (c change) row(title string, names []string, a, b *taskResults) Difference {
	slices.SortFunc(names, compare)
	const most = 100
	d := Difference{Title: title, Count: len(names), Names: strings.Join(view.Fold(names[:min(most, len(names))]), " ")}
	if len(names) > most {
		d.Names += " …"
	}
	if a != nil {
		d.ThenTask = a.n
	}
	if b != nil {
		d.NowTask = b.n
	}
	d.Then, d.ThenText = c.then.said()
	d.Now, d.NowText = c.now.said()
	return d
}

// of returns the group of a host, nil if there is none.
func (t *taskResults) of(host string) *Group {
	if t == nil {
		return nil
	}
	return t.came[host]
}

func (g *Group) said() (*State, string) {
	if g == nil {
		return nil, ""
	}
	text := ""
	if g.State.Bad() {
		const most = 160
		text = strings.ReplaceAll(strings.ReplaceAll(g.Text, nameMark, "‹host›"), "\n", " · ")
		if len(text) > most {
			text = strings.ToValidUTF8(text[:most], "") + " …"
		}
	}
	return &g.State, text
}

// both returns the hosts of either, sorted.
func both(a, b *taskResults) []string {
	all := map[string]bool{}
	for _, t := range []*taskResults{a, b} {
		if t != nil {
			for h := range t.came {
				all[h] = true
			}
		}
	}
	names := make([]string, 0, len(all))
	for h := range all {
		names = append(names, h)
	}
	slices.Sort(names)
	return names
}
