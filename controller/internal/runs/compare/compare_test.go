package compare_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/runs/compare"
	"hark/controller/internal/runs/files"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
)

// write records a run in which each task has one status on each host.
func write(t *testing.T, s *files.Store, run string, tasks []string, status map[string]wire.Status,
	took time.Duration) {
	t.Helper()
	w := record.NewWriter(record.WriterOptions{Now: time.Now, Failed: func(err error) { t.Error(err) }}, s.Sink())
	r := record.NewRecorder(w, record.Head{Run: run, At: time.Now()}, record.RecorderOptions{})
	r.Begin()
	r.PlayStart(view.Play{Name: "web", Strategy: "linear"})
	for _, name := range tasks {
		task := view.Task{ID: "1", Name: name, Action: "command"}
		r.TaskStart(task)
		for host, st := range status {
			end := time.Now()
			r.Done(view.Result{Task: task, Host: host, Start: end.Add(-took), End: end,
				Outcome: &wire.Outcome{Status: st, Result: []byte(`{"msg":"column x"}`)}})
		}
	}
	r.End(record.Foot{Status: record.OK})
}

func TestRunsAreComparedByTaskAndHost(t *testing.T) {
	s := &files.Store{Dir: t.TempDir()}
	write(t, s, "old", []string{"install", "gone"}, map[string]wire.Status{"web1": wire.OK, "web2": wire.OK,
		"web3": wire.OK}, time.Second)
	write(t, s, "new", []string{"install", "added"}, map[string]wire.Status{"web3": wire.OK, "web1": wire.StatusFailed,
		"web4": wire.OK}, 3*time.Second)
	r, err := compare.Runs(context.Background(), s, "old", "new")
	if err != nil {
		t.Fatal(err)
	}
	text := r.Text()
	for _, want := range []string{"ok", "failed  column x", "+ added: only in new (3 hosts)",
		"- gone: only in old (3 hosts)", "slower: install: 1s -> 3s", "1 of 4 hosts came out the same"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	if len(r.Rows) != 3 {
		t.Errorf("%+v", r.Rows)
	}
}
