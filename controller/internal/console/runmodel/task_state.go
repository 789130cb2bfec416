// Package runmodel is what a page shows of a run: its plays and tasks, and for each task the hosts with equal results
// as one group, so that ten thousand hosts are a few rows. A Run is a view: whoever replays a record feeds it, and it
// can be read at any time.
package runmodel

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/ui/view"
	"hark/playbook/plan"
)

// State is the state of a host after a task.
type State int

// The states, those that need a person's attention first.
const (
	Failed State = iota
	Unreachable
	Rescued // failed in a block with a rescue
	Ignored
	Changed
	OK
	Skipped
	States // how many states there are
)

func (s State) String() string {
	return [...]string{"failed", "unreachable", "rescued", "ignored", "changed", "ok", "skipped"}[s]
}

// Bad reports whether a run fails by the state.
func (s State) Bad() bool { return s <= Unreachable }

// Counts are the numbers of hosts by state.
type Counts [States]int

// Total returns the number of hosts.
func (c Counts) Total() int {
	n := 0
	for _, x := range c {
		n += x
	}
	return n
}

// Play is one play with its tasks in the order in which they began.
type Play struct {
	N     int // from 1 on
	Name  string
	Path  string
	Hosts int
	Check bool
	Line  int // of the record, with which it began
	Stage int // stage of the run, from 1 on; 0 in a run without stages
	Tasks []*Task
}

// Stage is a part of the hosts that the plays of a run reach before the others.
type Stage struct {
	N, Of  int    // from 1 on
	Name   string // as it was written: 10%
	Counts Counts // hosts with first results in it, by their worst state
}

// Task is one task with its results.
type Task struct {
	N        int // from 1 on over the whole run: its address
	ID       plan.ID
	Title    string
	Action   string
	Place    string
	Handler  bool
	Counts   Counts
	Items    int // of loops
	Retries  int
	Groups   []*Group
	First    time.Time // its first line, zero if the record has no times
	Last     time.Time
	Line     int // of the record, at which it began
	Changed  int // the line of the record that last changed anything of it
	Included []string

	index map[group]*Group
	play  *Play
}

// Took returns how long the task took from its first line to its last.
func (t *Task) Took() time.Duration {
	if t.First.IsZero() {
		return 0
	}
	return t.Last.Sub(t.First)
}

// Play returns the play of the task.
func (t *Task) Play() *Play { return t.play }

// Bad reports whether hosts failed here or were lost.
func (t *Task) Bad() bool { return t.Counts[Failed]+t.Counts[Unreachable] > 0 }

// Group are the hosts with the same result of a task.
type Group struct {
	N     int // from 1 on within the task: its address
	State State
	Text  string // the text of the result, the beginning of it if it is long
	Whole int    // bytes of the text
	Line  int    // of the record, with the first of these results

	hosts hostSet
}

// Host is one host of the run.
type Host struct {
	Name   string
	Counts Counts
	Last   int // number of its last task

	stage int // the stage in which it had its first result
}

// Notice is a warning or another text that belongs to no host's result.
type Notice struct {
	Kind string // warning, deprecation, error, note
	Text string
	Line int
}

// mostNotices is how many notices are kept.
const mostNotices = 1000

// Run is the model of a run. Its methods are safe for concurrent use; calls of View come from one goroutine.
type Run struct {
	view.Silent
	// At returns the number of the current line, and its time. It is set before the run is fed.
	At func() (line int, at time.Time)

	order atomic.Pointer[order] // of the hosts at that time

	mu sync.RWMutex
	// guarded by mu
	plays   []*Play
	tasks   []*Task
	byID    map[plan.ID]*Task // of the current play
	stages  []Stage
	hosts   []Host
	number  map[string]int32
	notices []Notice
	texts   map[taskHost]string // failed items of unfinished loops
	jobs    []Job
	jobAt   map[jobKey]int // where in jobs
	results int
	line    int // the last one
	stats   *view.Stats
}

type taskHost struct {
	task plan.ID
	host string
}

// New returns an empty run.
func New() *Run {
	return &Run{byID: map[plan.ID]*Task{}, number: map[string]int32{}, texts: map[taskHost]string{},
		jobAt: map[jobKey]int{}, At: func() (int, time.Time) { return 0, time.Time{} }}
}

// PlayStart implements view.View.
func (r *Run) PlayStart(p view.Play) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := p.Name
	if name == "" {
		name = p.Pattern
	}
	r.line, _ = r.At()
	r.plays = append(r.plays, &Play{N: len(r.plays) + 1, Name: name, Path: p.Path, Hosts: len(p.Hosts), Check: p.Check,
		Line: r.line, Stage: len(r.stages)})
	r.byID = map[plan.ID]*Task{}
}

// Stage takes the beginning of a stage.
func (r *Run) Stage(s Stage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line, _ = r.At()
	r.stages = append(r.stages, s)
}

// TaskStart implements view.View.
func (r *Run) TaskStart(t view.Task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.task(t)
}

// task finds a task or begins it. It assumes mu held.
func (r *Run) task(t view.Task) *Task {
	line, at := r.At()
	r.line = line
	if x := r.byID[t.ID]; x != nil {
		return x
	}
	if len(r.plays) == 0 {
		r.plays = append(r.plays, &Play{N: 1})
	}
	p := r.plays[len(r.plays)-1]
	x := &Task{
		N: len(r.tasks) + 1, ID: t.ID, Title: title(t), Action: t.Action, Place: t.Place, Handler: t.Handler,
		First: at, Last: at, Line: line, Changed: line, index: map[group]*Group{}, play: p,
	}
	p.Tasks = append(p.Tasks, x)
	r.tasks = append(r.tasks, x)
	r.byID[t.ID] = x
	return x
}

// title returns a task's name for lists.
func title(t view.Task) string {
	const most = 300
	text := view.OneLine(t.Title())
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " …"
	}
	return text
}

// touch records that a task changed. It assumes mu held.
func (r *Run) touch(x *Task) {
	line, at := r.At()
	r.line, x.Changed = line, line
	if at.After(x.Last) {
		x.Last = at
	}
}

// ItemDone implements view.View.
func (r *Run) ItemDone(res view.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.task(res.Task)
	x.Items++
	r.job(res)
	if s := state(res.Outcome); s <= Changed {
		at := taskHost{res.Task.ID, res.Host}
		if text, _ := says(res); (text != "" || s.Bad()) && len(r.texts[at]) < longest {
			r.texts[at] += "item " + view.OneLine(label(res.Outcome)) + ": " + anonymous(text, res.Host) + "\n"
		}
	}
	r.touch(x)
}

// Retry implements view.View.
func (r *Run) Retry(res view.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.task(res.Task)
	x.Retries++
	r.touch(x)
}

// Done implements view.View.
func (r *Run) Done(res view.Result) {
	text, whole := says(res)
	text = anonymous(text, res.Host)
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.task(res.Task)
	at := taskHost{res.Task.ID, res.Host}
	if items := r.texts[at]; items != "" {
		text, whole = items+text, whole+len(items)
		delete(r.texts, at)
	}
	s := state(res.Outcome)
	h := r.host(res.Host)
	r.hosts[h].Counts[s]++
	r.hosts[h].Last = x.N
	x.Counts[s]++
	r.results++
	x.add(s, text, whole, h, r.line)
	r.job(res)
	r.touch(x)
}

// Included implements view.View.
func (r *Run) Included(t view.Task, in view.Include) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.task(t)
	const most = 20
	if len(x.Included) < most {
		x.Included = append(x.Included, view.OneLine(in.Path))
	}
	r.touch(x)
}

// Stats implements view.View.
func (r *Run) Stats(s view.Stats) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats = &s
	r.line, _ = r.At()
}

// Notice records a text that is no result.
func (r *Run) Notice(kind, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line, _ = r.At()
	if len(r.notices) < mostNotices {
		r.notices = append(r.notices, Notice{Kind: kind, Text: text, Line: r.line})
	}
}

// host returns the number of a host. It assumes mu held.
func (r *Run) host(name string) int32 {
	n, ok := r.number[name]
	if !ok {
		n = int32(len(r.hosts))
		r.number[name] = n
		r.hosts = append(r.hosts, Host{Name: name, stage: len(r.stages) - 1})
	}
	return n
}

// state returns how a result counts.
func state(o *wire.Outcome) State {
	switch {
	case o == nil:
		return OK
	case o.Ignored:
		return Ignored
	case o.Rescued:
		return Rescued
	case o.Status == wire.StatusFailed:
		return Failed
	case o.Status == wire.StatusUnreachable:
		return Unreachable
	case o.Status == wire.Skipped:
		return Skipped
	case o.Status == wire.Changed:
		return Changed
	}
	return OK
}
