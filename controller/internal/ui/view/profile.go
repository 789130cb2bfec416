package view

import (
	"fmt"
	"sort"
	"strings"
	"time"
	"unicode/utf8"
)

// timer describes how long the run took.
type timer struct {
	Silent
	o     Options
	start time.Time
}

func newTimer(o Options) (View, error) { return &timer{o: o, start: o.Now()}, nil }

func (v *timer) Stats(Stats) {
	s := int(v.o.Now().Sub(v.start).Seconds())
	v.o.Display.Print(NoColor, fmt.Sprintf("Playbook run took %d days, %d hours, %d minutes, %d seconds",
		s/86400, s%86400/3600, s/60%60, s%60))
}

// clock prints the time at which each task starts, and what the one before took.
type clock struct {
	o           Options
	start, last time.Time
}

func newClock(o Options) clock {
	now := o.Now()
	return clock{o: o, start: now, last: now}
}

func (c *clock) print() {
	now := c.o.Now()
	c.o.Display.Print(NoColor, filled(now.Format("Monday 02 January 2006  15:04:05 -0700")+
		" ("+lapse(now.Sub(c.last))+")"+strings.Repeat(" ", 7)+lapse(now.Sub(c.start)), "*"))
	c.last = now
}

// lapse returns a duration as hours, minutes, seconds and milliseconds.
func lapse(d time.Duration) string {
	ms := d.Milliseconds()
	return fmt.Sprintf("%d:%02d:%02d.%03d", ms/3600000, ms/60000%60, ms/1000%60, ms%1000)
}

// filled fills a line up to 79 columns.
func filled(text, fill string) string {
	if text != "" {
		text += " "
	}
	return text + strings.Repeat(fill, max(3, 79-utf8.RuneCountInString(text))) + " "
}

// dashed fills the space between a name and a time with dashes.
func dashed(name, right string, width, rightWidth int) string {
	left := name + " "
	left += strings.Repeat("-", max(0, width-utf8.RuneCountInString(left)))
	return left + strings.Repeat("-", max(0, rightWidth-len(right))) + right
}

// profileTasks lists the tasks that took longest.
type profileTasks struct {
	Silent
	clock
	order   []string
	tasks   map[string]*profiled
	current *profiled
	play    string
}

type profiled struct {
	name, path string
	started    time.Time
	elapsed    time.Duration
}

func newProfileTasks(o Options) (View, error) {
	return &profileTasks{clock: newClock(o), tasks: map[string]*profiled{}}, nil
}

// PlayStart keeps steps of different plays apart: batches of one play are the same steps.
func (v *profileTasks) PlayStart(p Play) { v.play, _, _ = strings.Cut(p.ID, ".") }

func (v *profileTasks) TaskStart(t Task) {
	v.print()
	v.stop()
	key := v.play + " " + string(t.ID)
	p := v.tasks[key]
	if p == nil {
		p = &profiled{name: t.Title()}
		v.tasks[key] = p
		v.order = append(v.order, key)
	}
	if v.o.Display.Verbosity() >= 2 {
		p.path = t.Place
	}
	p.started, v.current = v.o.Now(), p
}

// stop ends the measure of the task that runs.
func (v *profileTasks) stop() {
	if v.current != nil {
		v.current.elapsed += v.o.Now().Sub(v.current.started)
		v.current = nil
	}
}

func (v *profileTasks) Stats(Stats) {
	v.print()
	d := v.o.Display
	d.Print(NoColor, filled("", "="))
	v.stop()
	var list []*profiled
	for _, key := range v.order {
		list = append(list, v.tasks[key])
	}
	if v.o.ProfileSort != "none" {
		ascending := v.o.ProfileSort == "ascending"
		sort.SliceStable(list, func(i, j int) bool {
			if ascending {
				return list[i].elapsed < list[j].elapsed
			}
			return list[i].elapsed > list[j].elapsed
		})
	}
	if n := v.o.ProfileLimit; n > 0 && len(list) > n {
		list = list[:n]
	}
	for _, p := range list {
		text := dashed(p.name, fmt.Sprintf(" %.2fs", p.elapsed.Seconds()), d.Columns()-9, 9)
		if p.path != "" {
			text += "\n" + dashed(p.path, "", d.Columns(), 0)
		}
		d.Print(NoColor, text)
	}
}

// profileRoles sums the times of tasks by role, or by action outside of roles.
type profileRoles struct {
	Silent
	clock
	order   []string
	totals  map[string]time.Duration
	current string
	started time.Time
}

func newProfileRoles(o Options) (View, error) {
	return &profileRoles{clock: newClock(o), totals: map[string]time.Duration{}}, nil
}

func (v *profileRoles) TaskStart(t Task) {
	v.print()
	v.stop()
	v.current = t.Action
	if t.Role != "" {
		v.current = t.Role
	}
	if _, ok := v.totals[v.current]; !ok {
		v.order = append(v.order, v.current)
	}
	v.totals[v.current] += 0
	v.started = v.o.Now()
}

func (v *profileRoles) stop() {
	if v.current != "" {
		v.totals[v.current] += v.o.Now().Sub(v.started)
		v.current = ""
	}
}

func (v *profileRoles) Stats(Stats) {
	v.print()
	d := v.o.Display
	d.Print(NoColor, filled("", "="))
	v.stop()
	sort.SliceStable(v.order, func(i, j int) bool { return v.totals[v.order[i]] > v.totals[v.order[j]] })
	var total time.Duration
	for _, name := range v.order {
		total += v.totals[name]
		d.Print(NoColor, dashed(name, fmt.Sprintf(" %.2fs", v.totals[name].Seconds()), 70, 9))
	}
	d.Print(NoColor, filled("", "~"))
	d.Print(NoColor, dashed("total", fmt.Sprintf(" %.2fs", total.Seconds()), 70, 9))
}
