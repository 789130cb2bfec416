// Package runmodel is what a page shows of a run: its plays and tasks, and for each task the hosts whose results were
// equal as one group, so that ten thousand hosts are a few rows. A Run is a view; it is fed by whoever replays a
// record, and read at any time.
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

// State is how a host came out of a task.
type State int

// The states, those that want a person's eye first.
const (
	Failed State = iota
	Unreachable
	Rescued // failed in a block with a rescue
	Ignored
	Changed
	OK
	Skipped
	States // how many there are
)

func (s State) String() string {
	return [...]string{"failed", "unreachable", "rescued", "ignored", "changed", "ok", "skipped"}[s]
}

// Bad tells the states that a run fails by.
func (s State) Bad() bool { return s <= Unreachable }

// Counts are how many hosts came out how.
type Counts [States]int

// Total is how many hosts there are in counts.
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
	Stage int // of the run, from 1 on, to which it came; 0 in a run without stages
	Tasks []*Task
}

// Stage is a part of the hosts to which the plays of a run come before the others.
type Stage struct {
	N, Of  int    // from 1 on
	Name   string // as it was written: 10%
	Counts Counts // of the hosts that it had first results of: by the worst that came to them
}

// Task is one task with what came of it.
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
	First    time.Time // the first word of it, zero if the record tells no times
	Last     time.Time
	Line     int // of the record, at which it began
	Changed  int // the line of the record that last changed anything of it
	Included []string

	index map[group]*Group
	play  *Play
}

// Took is how long the task took from its first word to its last.
func (t *Task) Took() time.Duration {
	if t.First.IsZero() {
		return 0
	}
	return t.Last.Sub(t.First)
}

// Play is the play of the task.
func (t *Task) Play() *Play { return t.play }

// Bad reports whether hosts failed here or were lost.
func (t *Task) Bad() bool { return t.Counts[Failed]+t.Counts[Unreachable] > 0 }

// Group are the hosts with the same result of a task.
type Group struct {
	N     int // from 1 on within the task: its address
	State State
	Text  string // the result as far as it says something, the beginning of it if it is long
	Whole int    // bytes of the text
	Line  int    // of the record, with the first of these results

	hosts hostSet
}

// Host is one host of the run.
type Host struct {
	Name   string
	Counts Counts
	Last   int // number of the task that it was last heard of

	stage int // where among the stages it had its first result
}

// Notice is a warning or another text that belongs to no host's result.
type Notice struct {
	Kind string // warning, deprecation, error, note
	Text string
	Line int
}

// mostNotices is how many notices are kept.
const mostNotices = 1000

// Run is all of it. Its methods are safe for concurrent use; calls of View come from one goroutine.
type Run struct {
	view.Silent
	// At gives the number of the line that is being replayed, and its time. It is set before the run is fed.
	At func() (line int, at time.Time)

	order atomic.Pointer[order] // of the hosts that there were when it was made

	mu sync.RWMutex
	// guarded by mu
	plays   []*Play
	tasks   []*Task
	byID    map[plan.ID]*Task // of the play that goes on
	stages  []Stage
	hosts   []Host
	number  map[string]int32
	notices []Notice
	texts   map[taskHost]string // failed items of loops that are not over
	jobs    []Job
	jobAt   map[jobKey]int // where in jobs
	results int
	line    int // the last one that was taken
	stats   *view.Stats
}

type taskHost struct {
	task plan.ID
	host string
}

// New makes an empty run.
func New() *Run {
	return &Run{byID: map[plan.ID]*Task{}, number: map[string]int32{}, texts: map[taskHost]string{}, jobAt: map[jobKey]int{}, At: func() (int, time.Time) { return 0, time.Time{} }}
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
	r.plays = append(r.plays, &Play{N: len(r.plays) + 1, Name: name, Path: p.Path, Hosts: len(p.Hosts), Check: p.Check, Line: r.line, Stage: len(r.stages)})
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

// title is a task's name as lists have it.
func title(t view.Task) string {
	const most = 300
	text := view.OneLine(t.Title())
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " …"
	}
	return text
}

// touch notes that a task changed. It assumes mu held.
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

// Notice takes a text that is no result.
func (r *Run) Notice(kind, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line, _ = r.At()
	if len(r.notices) < mostNotices {
		r.notices = append(r.notices, Notice{Kind: kind, Text: text, Line: r.line})
	}
}

// host is the number of a host. It assumes mu held.
func (r *Run) host(name string) int32 {
	n, ok := r.number[name]
	if !ok {
		n = int32(len(r.hosts))
		r.number[name] = n
		r.hosts = append(r.hosts, Host{Name: name, stage: len(r.stages) - 1})
	}
	return n
}

// state is how a result counts.
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
