package record

import (
	"encoding/json"
	"sync"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/ui/view"
	"hark/modules/py/value"
	"hark/playbook/deprecation"
)

// Recorder is the view and the listener that record what they receive. It comes before the views of the run, which take
// their time from Now: so a replayed run has the same times. Any goroutine may call its methods.
type Recorder struct {
	o RecorderOptions
	w *Writer

	mu sync.Mutex
	// guarded by mu
	head  Head
	now   time.Time // of the last event
	hosts map[string]int
	steps map[string]int // by the step as JSON
	last  view.Task      // the task of the event before, and its number
	num   int
	loose bool // the hosts of the play go at their own pace
	sum   summary
}

// RecorderOptions say what the views of the run show.
type RecorderOptions struct {
	// Args and Starts say that the views show the arguments of tasks, and the starts of hosts.
	Args, Starts bool
	// Brief says that of good results, and of tries that failed, the views show only the status.
	Brief bool
	// Facts keeps the variables that set_fact sets, because results are shown whole. Facts of modules are never kept.
	Facts bool
	// Origin shows failures as ansible-core 2.19 does, see view.Options; nil as releases before it.
	Origin func(task string, s view.Spot) string
}

var (
	_ view.View     = (*Recorder)(nil)
	_ view.Listener = (*Recorder)(nil)
)

// NewRecorder returns the recorder of a run. The views can take their time from it; it accepts nothing before Begin. A
// head without a time gets the time of the first call of Now.
func NewRecorder(w *Writer, h Head, o RecorderOptions) *Recorder {
	h.At = h.At.Truncate(time.Microsecond)
	return &Recorder{o: o, w: w, head: h, now: h.At, hosts: map[string]int{}, steps: map[string]int{}, sum: newSummary()}
}

// Begin writes the head.
func (r *Recorder) Begin() {
	r.mu.Lock()
	r.start()
	h := r.head
	r.mu.Unlock()
	r.w.Begin(h)
}

// Begun waits until the run can be found, as Writer.Begun does.
func (r *Recorder) Begun() { r.w.Begun() }

// start sets the time at which the run began. It needs mu.
func (r *Recorder) start() {
	if r.head.At.IsZero() {
		r.head.At = r.w.o.Now().Truncate(time.Microsecond)
		r.now = r.head.At
	}
}

// Now returns the time of the last event, at first the time at which the run began.
func (r *Recorder) Now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.start()
	return r.now
}

// End writes the foot. The recorder fills it in, except the status, the exit code and the error.
func (r *Recorder) End(f Foot) {
	r.mu.Lock()
	f.Hosts, f.Tasks, f.Stages, f.Results = r.sum.hosts(), r.sum.tasks, r.sum.stageSums(), r.sum.results
	r.mu.Unlock()
	r.w.End(f)
}

// event records a line of the view.
func (r *Recorder) event(l *Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.eventLocked(l)
}

// eventLocked needs mu.
func (r *Recorder) eventLocked(l *Line) { r.now = r.w.Tell(l) }

// message records a line of the messages. They do not move the time of the views, since they may come at any moment.
func (r *Recorder) message(l *Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.w.Tell(l)
}

// host returns the number of a host. It needs mu.
func (r *Recorder) host(name string) int {
	if n := r.hosts[name]; n > 0 {
		return n
	}
	n := len(r.hosts) + 1
	r.hosts[name] = n
	r.w.Tell(&Line{Kind: KindHost, Host: n, Name: name})
	return n
}

// stepOf returns a task as a record has it.
func (r *Recorder) stepOf(t view.Task) *Step {
	s := &Step{
		ID: t.ID, Name: t.Name, Action: t.Action, Role: t.Role, Place: t.Place, Handler: t.Handler, NoLog: t.NoLog,
		Check: t.Check, Diff: t.Diff,
		Kind: t.Kind, Meta: t.Meta,
	}
	if r.o.Args && !t.NoLog {
		s.Args = t.Args
	}
	return s
}

// step returns the number of a task, and the task itself the first time. It needs mu.
func (r *Recorder) step(t view.Task) (int, *Step) {
	if r.num > 0 && sameTask(r.last, t) {
		return r.num, nil
	}
	s := r.stepOf(t)
	key, _ := json.Marshal(s) // arguments are JSON already
	n, known := r.steps[string(key)]
	if !known {
		n = len(r.steps) + 1
		r.steps[string(key)] = n
		r.sum.begin(n, t)
	}
	r.last, r.num = t, n
	if known {
		return n, nil
	}
	return n, s
}

func sameTask(a, b view.Task) bool {
	return a.ID == b.ID && a.Name == b.Name && a.Place == b.Place && a.Action == b.Action && a.Role == b.Role &&
		a.Handler == b.Handler && a.NoLog == b.NoLog &&
		a.Check == b.Check && a.Diff == b.Diff && a.Kind == b.Kind && a.Meta == b.Meta && string(a.Args) == string(b.Args)
}

// task returns the number of a task, after a line that defines it if need be. It needs mu.
func (r *Recorder) task(t view.Task) int {
	n, s := r.step(t)
	if s != nil {
		r.w.Tell(&Line{Kind: KindStep, Task: n, Step: s})
	}
	return n
}

// StageStart records that a stage begins.
func (r *Recorder) StageStart(s Stage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sum.stage(&s)
	r.eventLocked(&Line{Kind: KindStage, Stage: &s})
}

// PlaybookStart implements view.View.
func (r *Recorder) PlaybookStart(path string) { r.event(&Line{Kind: KindPlaybook, Name: path}) }

// PlayStart implements view.View.
func (r *Recorder) PlayStart(p view.Play) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loose = !view.Lockstep(p.Strategy)
	r.num = 0 // numbers of steps start again in each play
	r.eventLocked(&Line{Kind: KindPlay, Play: &Play{
		Name: p.Name, Pattern: p.Pattern, ID: p.ID, Path: p.Path, Hosts: Fold(p.Hosts), Check: p.Check, Tags: p.Tags,
		Strategy: p.Strategy,
	}})
}

// NoHostsMatched implements view.View.
func (r *Recorder) NoHostsMatched() { r.event(&Line{Kind: KindNoMatch}) }

// NoHostsRemaining implements view.View.
func (r *Recorder) NoHostsRemaining() { r.event(&Line{Kind: KindNoneLeft}) }

// TaskStart implements view.View.
func (r *Recorder) TaskStart(t view.Task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, s := r.step(t)
	r.eventLocked(&Line{Kind: KindTaskStart, Task: n, Step: s})
}

// HostStart implements view.View. No view shows it where all hosts begin a task together.
func (r *Recorder) HostStart(t view.Task, host string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.o.Starts || r.loose {
		r.eventLocked(&Line{Kind: KindHostStart, Task: r.task(t), Host: r.host(host)})
	}
}

// ItemDone implements view.View.
func (r *Recorder) ItemDone(res view.Result) { r.result(KindItem, res) }

// Retry implements view.View.
func (r *Recorder) Retry(res view.Result) { r.result(KindRetry, res) }

// Done implements view.View.
func (r *Recorder) Done(res view.Result) { r.result(KindDone, res) }

// Progress implements view.View.
func (r *Recorder) Progress(res view.Result) { r.result(KindProgress, res) }

// AsyncDone implements view.View.
func (r *Recorder) AsyncDone(res view.Result) { r.result(KindAsync, res) }

func (r *Recorder) result(k Kind, res view.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := Line{Kind: k, Task: r.task(res.Task), Host: r.host(res.Host), Name: res.Name}
	if !res.Start.IsZero() && res.End.After(res.Start) {
		l.Took = res.End.Sub(res.Start).Microseconds()
	}
	if o := res.Outcome; o != nil {
		l.Status, l.Result, l.Outcome = o.Status, r.o.shown(k, res), outcomeOf(o)
		if r.o.Origin != nil {
			l.Origins = originsOf(res.Origins(r.o.Origin))
		}
		if k == KindDone {
			r.sum.done(l.Task, res.Host, o)
		}
	}
	r.eventLocked(&l)
}

// outcomeOf returns what an outcome says beside status and result, nil if nothing.
func outcomeOf(o *wire.Outcome) *Outcome {
	if !o.NoLog && !o.Ignored && !o.Rescued && !o.Cancelled && !o.Loop && o.Delegated == "" && o.Label == "" &&
		o.Attempts == 0 && o.Retries == 0 && o.Meta == "" {
		return nil
	}
	out := &Outcome{
		NoLog: o.NoLog, Ignored: o.Ignored, Rescued: o.Rescued, Cancelled: o.Cancelled, Delegated: o.Delegated,
		Attempts: o.Attempts, Retries: o.Retries,
		Loop: o.Loop, Meta: o.Meta,
	}
	if !o.NoLog {
		out.Label = o.Label
	}
	return out
}

// Included implements view.View.
func (r *Recorder) Included(t view.Task, in view.Include) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := Line{Kind: KindIncluded, Task: r.task(t), Files: &Include{Path: in.Path, Label: in.Label}}
	for _, h := range in.Hosts {
		l.Files.Hosts = append(l.Files.Hosts, r.host(h))
	}
	r.eventLocked(&l)
}

// Notified implements view.View.
func (r *Recorder) Notified(handler, host string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.eventLocked(&Line{Kind: KindNotified, Name: handler, Host: r.host(host)})
}

// Stats implements view.View.
func (r *Recorder) Stats(s view.Stats) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := &Stats{}
	for _, h := range s.Hosts {
		c := s.Counts[h]
		out.Rows = append(out.Rows, [8]int{r.host(h), c.OK, c.Changed, c.Unreachable, c.Failed, c.Skipped, c.Rescued,
			c.Ignored})
	}
	for whose, stats := range s.Custom {
		if text, err := value.EncodeShort(value.FromGo(stats, value.KindStr)); err == nil {
			if out.Custom == nil {
				out.Custom = map[string]json.RawMessage{}
			}
			out.Custom[whose] = text
		}
	}
	r.eventLocked(&Line{Kind: KindStats, Stats: out})
}

// Close implements view.View. The record ends with End, which knows how the run ended.
func (r *Recorder) Close() error { return nil }

// Warn implements view.Messages.
func (r *Recorder) Warn(text string) { r.message(&Line{Kind: KindWarn, Text: text}) }

// WarnBlock implements view.Listener.
func (r *Recorder) WarnBlock(text string) { r.message(&Line{Kind: KindWarnBlock, Text: text}) }

// Deprecate implements view.Messages.
func (r *Recorder) Deprecate(n deprecation.Notice) {
	r.message(&Line{Kind: KindDeprecate, Notice: &n})
}

// Error implements view.Messages.
func (r *Recorder) Error(text string) { r.message(&Line{Kind: KindError, Text: text}) }

// ErrorWrapped implements view.Messages.
func (r *Recorder) ErrorWrapped(text string) { r.message(&Line{Kind: KindErrorWrap, Text: text}) }

// Verbose implements view.Messages. It does not receive what the verbosity suppresses.
func (r *Recorder) Verbose(level int, host, text string) {
	r.message(&Line{Kind: KindVerbose, Level: level, Name: host, Text: text})
}

// Print implements view.Messages.
func (r *Recorder) Print(c view.Color, text string) {
	r.message(&Line{Kind: KindSaid, Color: c, Text: text})
}

// PrintErr implements view.Listener.
func (r *Recorder) PrintErr(c view.Color, text string) {
	r.message(&Line{Kind: KindSaidErr, Color: c, Text: text})
}

// Banner implements view.Listener.
func (r *Recorder) Banner(text string) { r.message(&Line{Kind: KindBanner, Text: text}) }

// Raw implements view.Listener.
func (r *Recorder) Raw(text string) { r.message(&Line{Kind: KindRaw, Text: text}) }
