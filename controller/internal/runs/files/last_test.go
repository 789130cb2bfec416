package files_test

import (
	"errors"
	"testing"
	"time"

	"hark/controller/internal/console/consoletest"
	"hark/controller/internal/runs/files"
	"hark/controller/internal/runs/record"
)

// `last` and `last-failed` are runs of persons, however many turns of a keeper came after them.
func TestLastIsTheRunOfAPerson(t *testing.T) {
	store := &files.Store{Dir: t.TempDir()}
	var missing *record.MissingError
	if _, err := record.Choose(t.Context(), store, record.Last); !errors.As(err, &missing) {
		t.Errorf("without any run: %v", err)
	}
	for i, r := range []struct {
		run, duty string
		status    record.Status
	}{{"aaaa0001", "", record.Failed}, {"aaaa0002", "", record.OK}, {"aaaa0003", "base", record.Failed}, {"aaaa0004",
		"base", record.OK}} {
		exit := map[record.Status]int{record.Failed: 2}[r.status]
		consoletest.Begin(store, record.Head{Run: r.run, Duty: r.duty,
			At: time.Now().Add(time.Duration(i-10) * time.Minute)}).Over(r.status, exit)
	}
	for word, want := range map[string]string{record.Last: "aaaa0002", record.LastFailed: "aaaa0001",
		"aaaa0003": "aaaa0003"} {
		if e, err := record.Choose(t.Context(), store, word); err != nil || e.Head.Run != want {
			t.Errorf("%s is %s, want %s (%v)", word, e.Head.Run, want, err)
		}
	}
}
