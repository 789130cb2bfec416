// Package compare compares two runs, step by step and host by host: which results differ, which steps only one of them
// had, and what took longer.
package compare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"hark/agent/wire"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
)

// Result is the difference of two runs.
type Result struct {
	Old  string `json:"old"`
	New  string `json:"new"`
	Rows []Row  `json:"rows,omitempty"`
	// Only are steps that one of the runs had.
	Only []Only `json:"only,omitempty"`
	// Slower are steps that took considerably longer in the new run.
	Slower []Slower `json:"slower,omitempty"`
	// Hosts is how many hosts either run had, Same how many of them had the same status at every step that both runs had.
	Hosts int `json:"hosts"`
	Same  int `json:"same"`
}

// Row is a change that some hosts have in common.
type Row struct {
	Task  string      `json:"task"`
	Hosts []string    `json:"hosts"` // folded
	Old   wire.Status `json:"old"`   // "" for hosts that were not there
	New   wire.Status `json:"new"`
	// Msg is the message of those that failed in the new run.
	Msg string `json:"msg,omitempty"`
}

// Only is a step of one of the runs.
type Only struct {
	Task  string `json:"task"`
	New   bool   `json:"new"` // it is the new one's
	Hosts int    `json:"hosts"`
}

// Slower is a step with the medians of its hosts, in microseconds.
type Slower struct {
	Task  string `json:"task"`
	Old   int64  `json:"old"`
	New   int64  `json:"new"`
	Hosts int    `json:"hosts"`
}

// A step counts as slower when its median grew by slowerBy and by the factor slowerTimes.
const (
	slowerBy    = 500_000 // microseconds
	slowerTimes = 1.5
)

// Runs compares two runs.
func Runs(ctx context.Context, s record.Store, older, newer string) (*Result, error) {
	type read struct {
		run *run
		err error
	}
	first := make(chan read, 1)
	go func() {
		r, err := load(ctx, s, older)
		first <- read{r, err}
	}()
	b, err := load(ctx, s, newer)
	a := <-first
	if err = errors.Join(a.err, err); err != nil {
		return nil, err
	}
	return merge(a.run, b), nil
}

// run is a run with the results of its steps.
type run struct {
	id    string
	hosts map[int]string
	steps []*step
	by    map[string]*step // by key
	// numbers maps the record's numbers to steps.
	numbers map[int]*step
}

// step is one step with its results on the hosts, by their numbers in the record.
type step struct {
	key, name string
	results   map[int]result
}

type result struct {
	status wire.Status
	took   int64
	msg    string // of those that failed
}

// load reads a run. One that was lost is read as far as it goes.
func load(ctx context.Context, s record.Store, id string) (*run, error) {
	lines, err := s.Open(ctx, id, record.Opening{})
	if err != nil {
		return nil, err
	}
	defer lines.Close()
	r := &run{id: id, hosts: map[int]string{}, by: map[string]*step{}, numbers: map[int]*step{}}
	times := map[string]int{}
	play := ""
	for {
		l, err := lines.Next(ctx)
		var lost *record.LostError
		if errors.Is(err, io.EOF) || errors.As(err, &lost) {
			return r, nil
		}
		if err != nil {
			return nil, err
		}
		switch {
		case l.Kind == record.KindHost:
			r.hosts[l.Host] = l.Name
		case l.Play != nil:
			play = l.Play.Name
		case l.Step != nil:
			name := view.Task{Name: l.Step.Name, Action: l.Step.Action, Role: l.Step.Role}.Title()
			times[play+"\x00"+name]++
			key := fmt.Sprintf("%s\x00%s\x00%d", play, name, times[play+"\x00"+name])
			st := &step{key: key, name: name, results: map[int]result{}}
			r.steps, r.by[key], r.numbers[l.Task] = append(r.steps, st), st, st
		case l.Kind == record.KindDone:
			if st := r.numbers[l.Task]; st != nil {
				st.results[l.Host] = resultOf(&l)
			}
		}
	}
}

// resultOf returns the result of a line.
func resultOf(l *record.Line) result {
	res := result{status: l.Status, took: l.Took}
	if l.Status == wire.StatusFailed || l.Status == wire.StatusUnreachable {
		res.msg = l.Message()
	}
	return res
}

// merge compares two runs.
func merge(a, b *run) *Result {
	out := &Result{Old: a.id, New: b.id}
	before, after := a.byName(), b.byName()
	all, differ := map[string]bool{}, map[string]bool{}
	for _, name := range a.hosts {
		all[name] = true
	}
	for _, name := range b.hosts {
		all[name] = true
	}
	for _, st := range b.steps {
		was := a.by[st.key]
		if was == nil {
			out.Only = append(out.Only, Only{Task: st.name, New: true, Hosts: len(st.results)})
			continue
		}
		out.Rows = append(out.Rows, rows(pair{a, b, before, after}, was, st, differ)...)
		old, now := median(was), median(st)
		if now-old > slowerBy && float64(now) > slowerTimes*float64(old) {
			out.Slower = append(out.Slower, Slower{Task: st.name, Old: old, New: now, Hosts: len(st.results)})
		}
	}
	for _, st := range a.steps {
		if b.by[st.key] == nil {
			out.Only = append(out.Only, Only{Task: st.name, Hosts: len(st.results)})
		}
	}
	out.Hosts, out.Same = len(all), len(all)-len(differ)
	return out
}

// pair are two runs with the numbers of their hosts in each.
type pair struct {
	old, new      *run
	before, after map[string]int
}

// byName returns the numbers of the hosts by name.
func (r *run) byName() map[string]int {
	out := make(map[string]int, len(r.hosts))
	for n, name := range r.hosts {
		out[name] = n
	}
	return out
}

// change is how a result changed, and its new message.
type change struct {
	old, new wire.Status
	msg      string
}

// rows returns the changes of one step, those of most hosts first. It adds the hosts to differ.
func rows(p pair, was, is *step, differ map[string]bool) []Row {
	hosts := map[change][]string{}
	note := func(host string, c change) {
		differ[host] = true
		hosts[c] = append(hosts[c], host)
	}
	for n, now := range is.results {
		host := p.new.hosts[n]
		old := was.results[p.before[host]] // no host has the number 0
		if old.status != now.status {
			note(host, change{old.status, now.status, now.msg})
		}
	}
	for n, old := range was.results {
		if _, still := is.results[p.after[p.old.hosts[n]]]; !still {
			note(p.old.hosts[n], change{old: old.status})
		}
	}
	var out []Row
	for c, names := range hosts {
		view.SortHosts(names)
		out = append(out, Row{Task: is.name, Hosts: record.Fold(names), Old: c.old, New: c.new, Msg: c.msg})
	}
	slices.SortFunc(out, func(x, y Row) int {
		if d := len(hosts[change{y.Old, y.New, y.Msg}]) - len(hosts[change{x.Old, x.New, x.Msg}]); d != 0 {
			return d
		}
		return slices.Compare(x.Hosts, y.Hosts)
	})
	return out
}

// median returns the median of a step's times.
func median(st *step) int64 {
	var all []int64
	for _, r := range st.results {
		if r.took > 0 {
			all = append(all, r.took)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}
