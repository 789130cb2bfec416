// Package consoletest makes records for tests of the console, with the recorder, as files.
package consoletest

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/runs/files"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
	"hark/playbook/plan"
)

// Run is a run that is being recorded.
type Run struct {
	*record.Recorder
	w *record.Writer
	// ms is the run's clock, in milliseconds of Unix: the writer reads it while the test advances it.
	ms atomic.Int64
	// Counts are those of the recap.
	Counts map[string]view.Counts
	hosts  []string
}

// Begin begins a run with a head. The clock starts at its At, and Tick advances it.
func Begin(store *files.Store, h record.Head) *Run {
	r := &Run{Counts: map[string]view.Counts{}}
	r.ms.Store(h.At.UnixMilli())
	if h.Screen.View == "" {
		h.Screen.View = "default"
	}
	r.w = record.NewWriter(record.WriterOptions{Now: r.now, Failed: func(err error) { panic(err) }}, store.Sink())
	r.Recorder = record.NewRecorder(r.w, h, record.RecorderOptions{})
	r.Begin()
	return r
}

// Tick advances the clock.
func (r *Run) Tick(d time.Duration) { r.ms.Add(d.Milliseconds()) }

func (r *Run) now() time.Time { return time.UnixMilli(r.ms.Load()) }

// Play starts a play on hosts.
func (r *Run) Play(name string, hosts ...string) {
	r.hosts = hosts
	r.PlayStart(view.Play{Name: name, Pattern: "all", ID: "0", Path: "site.yml:1", Hosts: hosts, Strategy: "linear"})
}

// Task starts a task.
func (r *Run) Task(n int, name, action string) view.Task {
	t := view.Task{ID: plan.ID(fmt.Sprintf("0.%04d", n)), Name: name, Action: action,
		Place: fmt.Sprintf("site.yml:%d", 3+4*n)}
	r.TaskStart(t)
	return t
}

// Came records a host's result of a task.
func (r *Run) Came(t view.Task, host string, s wire.Status, result map[string]any) {
	if result == nil {
		result = map[string]any{}
	}
	result["changed"] = s == wire.Changed
	text, err := json.Marshal(result)
	if err != nil {
		panic(err) // of a test's literal
	}
	c := r.Counts[host]
	switch s {
	case wire.Changed:
		c.OK++
		c.Changed++
	case wire.StatusFailed:
		c.Failed++
	case wire.StatusUnreachable:
		c.Unreachable++
	case wire.Skipped:
		c.Skipped++
	default:
		c.OK++
	}
	r.Counts[host] = c
	r.Done(view.Result{Task: t, Host: host, Outcome: &wire.Outcome{Status: s, Result: text}})
}

// Over ends the run.
func (r *Run) Over(status record.Status, exit int) {
	r.Stats(view.Stats{Hosts: r.hosts, Counts: r.Counts})
	r.End(record.Foot{At: r.now(), Status: status, Exit: exit})
}
