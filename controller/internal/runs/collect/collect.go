// Package collect ends a run whose controller died. Its agents finished the current step and kept their results for a
// day; whoever has the keys of their sessions can receive them. A run stores those keys while it goes on
// (SessionKeyFiles). Collect asks the agents, adds what they report to the record, and ends it: then the state of
// every host is known, or that it did not answer.
package collect

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/controller/internal/play/link"
	"hark/controller/internal/runs/files"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
	"hark/playbook/plan"
)

// Job is one run to collect.
type Job struct {
	Home string // of the operator
	Run  string
	// Store has the record.
	Store     *files.Store
	Transport wire.Transport
	Operator  *wire.Identity
	// Limit is how long agents may take to finish the current step.
	Limit  time.Duration
	Logger zerolog.Logger
	Now    func() time.Time
}

// Result is what was collected.
type Result struct {
	// Complete, Silent and Busy are the hosts that reported everything, that did not answer, and that are still at work.
	Complete []string `json:"complete,omitempty"`
	Silent   []string `json:"silent,omitempty"`
	Busy     []string `json:"busy,omitempty"`
	// Events is how many events were new.
	Events int `json:"events"`
	// Gap says which results may be missing from the record, "" if none can be.
	Gap string `json:"gap,omitempty"`
	// Ended says that the record now has an end. Without it, the command can be called again.
	Ended bool `json:"ended"`

	left map[string]link.Leave // hosts whose agents were started again
}

// Collect collects the run. Called again it goes on where it stopped. A run that has ended is an error.
func (j *Job) Collect(ctx context.Context) (*Result, error) {
	off, err := record.ReadBrokenOff(ctx, j.Store, j.Run)
	if err != nil {
		return nil, err
	}
	sessions, ok, err := readSessionKeys(j.Home, j.Run)
	if err != nil {
		return nil, err
	}
	if !ok {
		sessions = nil // it was lost before it began anything, or had only hosts of this machine
	}
	told, left, err := j.hear(ctx, sessions)
	if err != nil {
		return nil, err
	}
	events, err := j.kept(sessions)
	if err != nil {
		return nil, err
	}
	out := &Result{left: left}
	for _, s := range unique(sessions) {
		switch told[s] {
		case link.Everything:
			out.Complete = append(out.Complete, s)
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

// kept returns what the controller had received, and then what agents reported after its death.
func (j *Job) kept(sessions []link.SessionKeys) ([]wire.Event, error) {
	received, err := readReceived(j.Home, j.Run, sessions)
	if err != nil {
		return nil, err
	}
	reported, err := readReported(j.Home, j.Run)
	return append(received, reported...), err
}

// hear receives what the agents report, and stores it before it is acknowledged.
func (j *Job) hear(ctx context.Context,
	sessions []link.SessionKeys) (map[string]link.CollectStatus, map[string]link.Leave, error) {
	if len(sessions) == 0 {
		return nil, nil, nil
	}
	f, err := create(sessionKeysPath(j.Home, j.Run) + reportedExt)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot keep what agents tell: %w", err)
	}
	defer f.Close()
	c := &link.Collector{Run: j.Run, Transport: j.Transport, Operator: j.Operator, Sessions: sessions, Logger: j.Logger,
		Take: func(events []wire.Event) error { return keep(f, events) }}
	told, err := c.Collect(ctx, j.Limit)
	return told, c.Left(), err
}

// keep writes events without the effects on variables, which nobody may read.
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

// unique returns the hosts of the session keys, each once, in the order in which they were opened.
func unique(sessions []link.SessionKeys) []string {
	had := map[string]bool{}
	var hosts []string
	for _, s := range sessions {
		if !had[s.Host] {
			had[s.Host] = true
			hosts = append(hosts, s.Host)
		}
	}
	return hosts
}

// end adds what was reported to the record and ends it. It returns how many events were new.
func (j *Job) end(off *record.BrokenOff, events []wire.Event, r *Result) (int, error) {
	sink, err := j.Store.Resume(j.Run, off.Parts())
	if err != nil {
		return 0, err
	}
	var failed error
	w := record.NewWriter(record.WriterOptions{Now: j.Now, Failed: func(err error) { failed = err }}, sink)
	t := &reporter{off: off, rec: off.Resume(w, record.RecorderOptions{}), inHand: map[string]view.Task{},
		seen: map[string]uint64{}, ended: map[string]bool{}, first: map[string]*wire.Event{},
		passed: map[passedKey]int{}}
	for i := range events {
		t.tell(&events[i])
	}
	at := j.Now().Local().Format(time.DateTime)
	for _, host := range r.Complete {
		leave, ok := r.left[host]
		switch {
		case ok:
			t.left(host, leave)
		case t.first[host] != nil && !t.ended[host] && !off.Unreachable(host):
			t.unknown(host, "the controller was lost, and the agent has nothing left of the play, whose end it did not "+
				"report: whether this and what came after it was done is not known")
		}
	}
	for _, host := range r.Silent {
		t.unknown(host, fmt.Sprintf("the controller was lost, and the agent did not answer when this was collected on %s: "+
			"whether this was done is not known", at))
	}
	text := fmt.Sprintf("the controller was lost; what its agents kept was collected on %s", at)
	t.rec.Warn(text)
	if r.Gap = t.gap(r.Complete); r.Gap != "" {
		t.rec.Warn(r.Gap)
	}
	t.rec.End(record.Foot{Status: record.Broken, Exit: 1, Error: text, Incomplete: r.Gap})
	return t.new, failed
}

// reporter writes what agents report to a record.
type reporter struct {
	off    *record.BrokenOff
	rec    *record.Recorder
	inHand map[string]view.Task // by host, the last task that it began and did not end
	seen   map[string]uint64    // by host, the number of the last event
	ended  map[string]bool      // by host: the last event is the end of its play
	new    int
	// first are the first events that agents had kept, by host.
	first map[string]*wire.Event
	// passed are how many ends, items and tries agents have told.
	passed map[passedKey]int
}

// passedKey is what events tell, as lines of a record do.
type passedKey struct {
	play string
	step plan.ID
	host string
	kind record.Kind
}

// gap says whose results may be missing. A controller stores what agents send before it acknowledges that, as far as
// its disk has room; an agent drops what was acknowledged. What is there then begins after a hole, unless its first
// event is on record.
func (t *reporter) gap(told []string) string {
	var hosts []string
	var until time.Time
	for _, host := range told {
		e := t.first[host]
		if e != nil && (e.Seq <= 1 || e.Step != "" && t.off.Told(e.Play, e.Step, host, record.KindDone) > 0) {
			continue
		}
		hosts = append(hosts, host)
		if e != nil && e.Time.After(until) {
			until = e.Time
		}
	}
	if len(hosts) == 0 {
		return ""
	}
	between := "after " + t.off.Last().Local().Format(time.TimeOnly)
	if !until.IsZero() {
		between = fmt.Sprintf("between %s and %s", t.off.Last().Local().Format(time.TimeOnly),
			until.Local().Format(time.TimeOnly))
	}
	return fmt.Sprintf(
		"results of %s %s may be missing: the controller had taken them and was lost before they were on record",
		strings.Join(view.Fold(hosts), " "), between)
}

func (t *reporter) tell(e *wire.Event) {
	if e.Seq <= t.seen[e.Host] {
		return // received twice
	}
	t.seen[e.Host], t.ended[e.Host] = e.Seq, e.Kind == wire.Ended
	if t.first[e.Host] == nil {
		t.first[e.Host] = e
	}
	task := t.task(e)
	r := view.Result{Task: task, Host: e.Host, Name: e.Name, Outcome: e.Outcome}
	switch {
	case e.Kind == wire.Started:
		t.inHand[e.Host] = task
	case e.Kind == wire.Warning:
		t.rec.Warn(fmt.Sprintf("%s: %s", e.Host, e.Text))
	case e.Outcome == nil || e.Adopted || task.Kind == plan.Meta:
	case e.Kind == wire.Item && t.missing(e, record.KindItem):
		t.rec.ItemDone(r)
	case e.Kind == wire.Retry && t.missing(e, record.KindRetry):
		t.rec.Retry(r)
	case e.Kind == wire.Done:
		delete(t.inHand, e.Host)
		if t.missing(e, record.KindDone) {
			t.rec.Done(r)
			t.new++
		}
	}
}

// missing reports whether the record lacks what an event tells. A handler may end several times on a host, and a loop
// has many items: the record has as many of them as it has lines, and it has the first. Items whose beginning is not
// there were not on record when the controller took them.
func (t *reporter) missing(e *wire.Event, k record.Kind) bool {
	if k != record.KindDone && t.inHand[e.Host].ID != e.Step {
		return true
	}
	key := passedKey{e.Play, e.Step, e.Host, k}
	t.passed[key]++
	return t.passed[key] > t.off.Told(e.Play, e.Step, e.Host, k)
}

// task returns a step as the record has it, or as much of it as an agent says.
func (t *reporter) task(e *wire.Event) view.Task {
	if task, ok := t.off.Task(e.Play, e.Step); ok {
		return task
	}
	return view.Task{ID: e.Step, Name: e.Name}
}

// left records what is not known of a host whose agent was restarted: whether the current task was done, and after a
// power cut what it had done last.
func (t *reporter) left(host string, how link.Leave) {
	_, doing := t.inHand[host]
	switch {
	case how.Cut:
		t.unknown(host, "the controller was lost, and the host was restarted before it could report everything: whether "+
			"this and what came after it was done is not known")
	case doing:
		t.unknown(host, "the controller was lost, and the agent was restarted in the middle of this: whether this was "+
			"done is not known")
	}
}

// unknown records that nobody knows what a host did last.
func (t *reporter) unknown(host, why string) {
	task, ok := t.inHand[host]
	if !ok {
		task = t.off.Names.TaskOf(t.off.Names.Task)
	}
	if t.off.Has(task.ID, host) {
		task = view.Task{Name: "collect"} // it had reported the last task on record; nobody knows what followed
	}
	// plain data always encodes
	result, _ := json.Marshal(map[string]any{"unreachable": true, "changed": false, "msg": why})
	t.rec.Done(view.Result{Task: task, Host: host, Outcome: &wire.Outcome{Status: wire.StatusUnreachable, Result: result}})
}
