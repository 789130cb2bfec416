// Package collect brings a run to an end whose controller died. Its agents finished the step that they were at and
// kept what there was to tell for a day; who has the keys of their sessions can hear it. A run notes those keys while
// it goes on (Seats); Run asks the agents, adds what they tell to the record, and ends it: then the fate of every
// host is known, or that it did not answer.
package collect

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/controller/internal/play/link"
	"hark/controller/internal/runs/files"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
	"hark/playbook/plan"
)

// Job is one run that is collected.
type Job struct {
	Home string // of the operator
	Run  string
	// Store has the record.
	Store     *files.Store
	Transport wire.Transport
	Operator  *wire.Identity
	// Limit is how long agents may take to come to the end of what they are at.
	Limit  time.Duration
	Logger zerolog.Logger
	Now    func() time.Time
}

// Result is what came of it.
type Result struct {
	// Told, Silent and Busy are the hosts that told everything, that did not answer, and that are still at it.
	Told   []string `json:"told,omitempty"`
	Silent []string `json:"silent,omitempty"`
	Busy   []string `json:"busy,omitempty"`
	// Events is how many events were new.
	Events int `json:"events"`
	// Ended says that the record has an end now. Without it, the command can be called again.
	Ended bool `json:"ended"`

	left map[string]link.Leave // hosts whose agents were started again
}

// Collect collects. Called again it goes on where it was; of a run that has ended it is an error.
func (j *Job) Collect(ctx context.Context) (*Result, error) {
	off, err := record.ReadBrokenOff(ctx, j.Store, j.Run)
	if err != nil {
		return nil, err
	}
	seats, ok, err := readSeats(j.Home, j.Run)
	if err != nil {
		return nil, err
	}
	if !ok {
		seats = nil // it was lost before it began anything, or had no hosts beyond this machine
	}
	told, left, err := j.hear(ctx, seats)
	if err != nil {
		return nil, err
	}
	events, err := readTold(j.Home, j.Run)
	if err != nil {
		return nil, err
	}
	out := &Result{left: left}
	for _, s := range unique(seats) {
		switch told[s] {
		case link.Everything:
			out.Told = append(out.Told, s)
		case link.StillBusy:
			out.Busy = append(out.Busy, s)
		default:
			out.Silent = append(out.Silent, s)
		}
	}
	if len(out.Busy) > 0 {
		out.Events = len(events)
		return out, nil
	}
	if out.Events, err = j.end(off, events, out); err != nil {
		return nil, err
	}
	out.Ended = true
	return out, removeAll(j.Home, j.Run)
}

// hear hears the agents, and keeps what they tell before it is acknowledged.
func (j *Job) hear(ctx context.Context, seats []link.Seat) (map[string]link.Told, map[string]link.Leave, error) {
	if len(seats) == 0 {
		return nil, nil, nil
	}
	f, err := create(seatsPath(j.Home, j.Run) + toldExt)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot keep what agents tell: %w", err)
	}
	defer f.Close()
	c := &link.Collector{Run: j.Run, Transport: j.Transport, Operator: j.Operator, Seats: seats, Logger: j.Logger, Take: func(events []wire.Event) error { return keep(f, events) }}
	told, err := c.Collect(ctx, j.Limit)
	return told, c.Left(), err
}

// keep writes events without what is nobody's to read: the effects on variables.
func keep(f *os.File, events []wire.Event) error {
	for _, e := range events {
		if e.Outcome != nil {
			o := *e.Outcome
			o.Effects = nil
			e.Outcome = &o
		}
		if err := appendLine(f, e); err != nil {
			return fmt.Errorf("cannot keep what agents tell: %w", err)
		}
	}
	return f.Sync()
}

// unique are the hosts of seats, each once, in the order in which they were opened.
func unique(seats []link.Seat) []string {
	had := map[string]bool{}
	var hosts []string
	for _, s := range seats {
		if !had[s.Host] {
			had[s.Host] = true
			hosts = append(hosts, s.Host)
		}
	}
	return hosts
}

// end adds what was told to the record and ends it. It tells how many events were new.
func (j *Job) end(off *record.BrokenOff, events []wire.Event, r *Result) (int, error) {
	sink, err := j.Store.Resume(j.Run, off.Parts())
	if err != nil {
		return 0, err
	}
	var failed error
	w := record.NewWriter(record.WriterOptions{Now: j.Now, Failed: func(err error) { failed = err }}, sink)
	t := &teller{off: off, rec: off.Resume(w, record.RecorderOptions{}), inHand: map[string]view.Task{}, seen: map[string]uint64{}}
	for i := range events {
		t.tell(&events[i])
	}
	at := j.Now().Local().Format(time.DateTime)
	for _, host := range r.Told {
		if leave, ok := r.left[host]; ok {
			t.left(host, leave)
		}
	}
	for _, host := range r.Silent {
		t.unknown(host, fmt.Sprintf("the controller was lost, and the agent did not answer when this was collected on %s: whether this was done is not known", at))
	}
	text := fmt.Sprintf("the controller was lost; what its agents kept was collected on %s", at)
	t.rec.Warn(text)
	t.rec.End(record.Foot{Status: record.Broken, Exit: 1, Error: text})
	return t.new, failed
}

// teller tells a record what agents told.
type teller struct {
	off    *record.BrokenOff
	rec    *record.Recorder
	inHand map[string]view.Task // by host, the task that it began last and did not end
	seen   map[string]uint64    // by host, the number of the last event
	new    int
}

func (t *teller) tell(e *wire.Event) {
	if e.Seq <= t.seen[e.Host] {
		return // told twice
	}
	t.seen[e.Host] = e.Seq
	task := t.task(e.Step, e.Name)
	r := view.Result{Task: task, Host: e.Host, Name: e.Name, Outcome: e.Outcome}
	switch {
	case e.Kind == wire.Started:
		t.inHand[e.Host] = task
	case e.Kind == wire.Warning:
		t.rec.Warn(fmt.Sprintf("%s: %s", e.Host, e.Text))
	case e.Outcome == nil || e.Adopted || task.Kind == plan.Meta || t.off.Has(task, e.Host):
	case e.Kind == wire.Item:
		t.rec.ItemDone(r)
	case e.Kind == wire.Retry:
		t.rec.Retry(r)
	case e.Kind == wire.Done:
		delete(t.inHand, e.Host)
		t.rec.Done(r)
		t.new++
	}
}

// task is a step as the record has it, or as much of it as an agent says.
func (t *teller) task(id plan.ID, name string) view.Task {
	if task, ok := t.off.Tasks[id]; ok {
		return task
	}
	return view.Task{ID: id, Name: name}
}

// left says what is not known of a host whose agent was started again: whether the task was done that it was at, and
// after a power cut what it had done last.
func (t *teller) left(host string, how link.Leave) {
	_, doing := t.inHand[host]
	switch {
	case how.Cut:
		t.unknown(host, "the controller was lost, and the host was started anew before it could tell everything: whether this and what came after it was done is not known")
	case doing:
		t.unknown(host, "the controller was lost, and the agent was restarted in the middle of this: whether this was done is not known")
	}
}

// unknown says that of a host it is not known what it did last.
func (t *teller) unknown(host, why string) {
	task, ok := t.inHand[host]
	if !ok {
		task = t.off.Names.TaskOf(t.off.Names.Task)
	}
	if t.off.Has(task, host) {
		task = view.Task{Name: "collect"} // it had told of the last task that is on record: what came then nobody knows
	}
	result, _ := json.Marshal(map[string]any{"unreachable": true, "changed": false, "msg": why}) // plain data always encodes
	t.rec.Done(view.Result{Task: task, Host: host, Outcome: &wire.Outcome{Status: wire.StatusUnreachable, Result: result}})
}
