package files_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/runs/files"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
)

// write records a run of three hosts and two tasks.
func write(t *testing.T, s *files.Store, run string, at time.Time) {
	t.Helper()
	now := at
	w := record.NewWriter(record.WriterOptions{Now: func() time.Time { return now },
		Failed: func(err error) { t.Error(err) }}, s.Sink())
	r := record.NewRecorder(w, record.Head{Run: run, At: at, Name: "anna", From: "anna@deploy1",
		Line: []string{"hark", "play", "site.yml"}}, record.RecorderOptions{})
	r.Begin()
	r.PlayStart(view.Play{Name: "web", ID: "0", Hosts: []string{"web1", "web2", "web3"}, Strategy: "linear"})
	for i, name := range []string{"nginx : install", "restart"} {
		task := view.Task{ID: "1", Name: name, Action: "command", Place: fmt.Sprint("site.yml:", i)}
		r.TaskStart(task)
		for _, host := range []string{"web1", "web2", "web3"} {
			status := wire.Changed
			if host == "web3" && i == 1 {
				status = wire.StatusFailed
			}
			r.Done(view.Result{Task: task, Host: host, Outcome: &wire.Outcome{Status: status, Result: []byte(`{"msg":"x"}`)}})
		}
	}
	r.End(record.Foot{Status: record.Failed, Exit: 2})
}

// path is the file of a run.
func path(t *testing.T, s *files.Store, run string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(s.Dir, "*", run+".zst"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	return found[0]
}

func list(t *testing.T, s *files.Store, f record.Filter) []string {
	t.Helper()
	found, err := s.List(context.Background(), f)
	if err != nil || len(found.Warnings) > 0 {
		t.Fatalf("%v, %v", err, found.Warnings)
	}
	var runs []string
	for _, e := range found.Entries {
		runs = append(runs, e.Head.Run)
	}
	return runs
}

var day = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// Who follows a run in the process that writes it need not look again and again: the end of a run waits for that
// reader.
func TestAReaderIsWokenByTheWriterOfItsStore(t *testing.T) {
	s := &files.Store{Dir: t.TempDir(), Poll: time.Hour}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	w := record.NewWriter(record.WriterOptions{Now: func() time.Time { return day },
		Failed: func(err error) { t.Error(err) }}, s.Sink())
	r := record.NewRecorder(w, record.Head{Run: "aa1", At: day}, record.RecorderOptions{})
	r.Begin()
	r.Begun()
	parts, err := s.Parts(ctx, "aa1")
	if err != nil {
		t.Fatal(err)
	}
	defer parts.Close()
	sent := make(chan error)
	go func() {
		for {
			if _, err := parts.Next(ctx); err != nil {
				sent <- err
				return
			}
		}
	}()
	r.PlayStart(view.Play{Name: "web", ID: "0", Hosts: []string{"web1"}})
	r.End(record.Foot{Status: record.OK})
	if err := <-sent; !errors.Is(err, io.EOF) {
		t.Errorf("the reader ended with %v", err)
	}
	if foot, _ := parts.Foot(); foot == nil {
		t.Error("it has not seen the end")
	}
}

func TestRunsAreFoundByTheFilter(t *testing.T) {
	s := &files.Store{Dir: t.TempDir()}
	write(t, s, "aa1", day)
	write(t, s, "ab2", day.Add(time.Hour))
	write(t, s, "b3", day.Add(40*24*time.Hour))
	all := []string{"b3", "ab2", "aa1"}
	for what, c := range map[string]struct {
		f    record.Filter
		want []string
	}{
		"all": {record.Filter{}, all}, "host": {record.Filter{Host: "web*"}, all},
		"no host": {record.Filter{Host: "db*"}, nil},
		"task":    {record.Filter{Task: "install"}, all}, "no task": {record.Filter{Task: "remove"}, nil},
		"state":    {record.Filter{States: []record.State{record.Ended}}, all},
		"no state": {record.Filter{States: []record.State{record.Lost}}, nil},
		"failed":   {record.Filter{Failed: true, Limit: 2}, all[:2]}, "since": {record.Filter{Since: day.Add(time.Minute)},
			all[:2]},
		"until": {record.Filter{Until: day.Add(time.Minute)}, all[2:]}, "by": {record.Filter{By: "anna"}, all},
		"by machine": {record.Filter{By: "anna@deploy1"}, all},
		"not by":     {record.Filter{By: "bela"}, nil}, "no duty": {record.Filter{Duty: "base"}, nil},
	} {
		for _, from := range []string{"index", "records"} {
			if got := list(t, s, c.f); !slices.Equal(got, c.want) {
				t.Errorf("%s from the %s: %v, want %v", what, from, got, c.want)
			}
			if err := os.Remove(filepath.Join(s.Dir, "index")); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
	}
	ctx := context.Background()
	for word, want := range map[string]string{"aa1": "aa1", "b": "b3", "last": "b3", "last-failed": "b3"} {
		if e, err := record.Choose(ctx, s, word); err != nil || e.Head.Run != want {
			t.Errorf("%s is %s, %v", word, e.Head.Run, err)
		}
	}
	var ambiguous *record.AmbiguousError
	if _, err := record.Choose(ctx, s, "a"); !errors.As(err, &ambiguous) || len(ambiguous.Runs) != 2 {
		t.Error(err)
	}
	for _, word := range []string{"", "zz", "../index", "a/b"} {
		var missing *record.MissingError
		if _, err := record.Choose(ctx, s, word); !errors.As(err, &missing) {
			t.Errorf("%q: %v", word, err)
		}
	}
}

func TestRecordsAreTheirOwnersAlone(t *testing.T) {
	s := &files.Store{Dir: filepath.Join(t.TempDir(), "runs")}
	write(t, s, "a1", day)
	err := filepath.Walk(s.Dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A controller that is killed leaves the beginning of a record, whatever was written last.
func TestEveryBeginningOfARecordIsALostRun(t *testing.T) {
	s := &files.Store{Dir: t.TempDir()}
	write(t, s, "a1", day)
	whole, err := os.ReadFile(path(t, s, "a1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.Dir, "index")); err != nil {
		t.Fatal(err)
	}
	known := 0
	for n := range len(whole) {
		if err := os.WriteFile(path(t, s, "a1"), whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := s.List(context.Background(), record.Filter{})
		if err != nil || len(found.Warnings) > 0 {
			t.Fatalf("cut at %d: %v, %v", n, err, found.Warnings)
		}
		if len(found.Entries) == 0 {
			if known > 0 {
				t.Fatalf("cut at %d: nothing is left", n)
			}
			continue // not even its head
		}
		known++
		e := found.Entries[0]
		if e.State != record.Lost || e.Head.Name != "anna" || e.Body && e.At != "restart" {
			t.Fatalf("cut at %d: %+v", n, e)
		}
		lines, err := s.Open(context.Background(), "a1", record.Opening{Follow: true})
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = lines.Next(context.Background())
		}
		var lost *record.LostError
		if !errors.As(err, &lost) {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if err := lines.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if known == 0 {
		t.Error("no beginning had a head")
	}
}

func TestDamageIsToldByItsPart(t *testing.T) {
	s := &files.Store{Dir: t.TempDir()}
	write(t, s, "a1", day)
	whole, err := os.ReadFile(path(t, s, "a1"))
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(whole), `"k":"part"`) + 150
	whole[at] ^= 0x20
	if err := os.WriteFile(path(t, s, "a1"), whole, 0o600); err != nil {
		t.Fatal(err)
	}
	lines, err := s.Open(context.Background(), "a1", record.Opening{})
	if err != nil {
		t.Fatal(err)
	}
	defer lines.Close()
	for err == nil {
		_, err = lines.Next(context.Background())
	}
	if errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "run a1") {
		t.Errorf("%v", err)
	}
}

func TestPruneDropsLinesFirstAndKeepsWhatIsPinned(t *testing.T) {
	s := &files.Store{Dir: t.TempDir()}
	write(t, s, "old", day)
	write(t, s, "pinned", day.Add(time.Minute))
	write(t, s, "new", day.Add(50*24*time.Hour))
	if err := s.Pin("pinned", true); err != nil {
		t.Fatal(err)
	}
	keep := record.Keep{Age: 30 * 24 * time.Hour, Bytes: 1 << 30, Heads: 100 * 24 * time.Hour}
	body := func() map[string]bool {
		found, err := s.List(context.Background(), record.Filter{})
		if err != nil || len(found.Warnings) > 0 {
			t.Fatalf("%v %v", err, found.Warnings)
		}
		out := map[string]bool{}
		for _, e := range found.Entries {
			out[e.Head.Run] = e.Body
			if e.Foot == nil || e.Foot.Exit != 2 || e.Counts[record.StateFailed] != 1 {
				t.Errorf("%s: %+v", e.Head.Run, e.Foot)
			}
		}
		return out
	}
	steps := []struct {
		now  time.Time
		keep record.Keep
		want map[string]bool
	}{
		{day.Add(51 * 24 * time.Hour), keep, map[string]bool{"old": false, "pinned": true, "new": true}},
		{day.Add(51 * 24 * time.Hour), record.Keep{Age: keep.Age, Bytes: 10, Heads: keep.Heads},
			map[string]bool{"old": false, "pinned": true, "new": false}},
		{day.Add(101 * 24 * time.Hour), keep, map[string]bool{"pinned": true, "new": false}},
	}
	for i, step := range steps {
		if err := s.Prune(step.keep, step.now); err != nil {
			t.Fatal(err)
		}
		if got := body(); !mapsEqual(got, step.want) {
			t.Errorf("step %d: %v, want %v", i, got, step.want)
		}
	}
}

func mapsEqual(a, b map[string]bool) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

func TestManyRunsAreRecordedAtOnce(t *testing.T) {
	s := &files.Store{Dir: t.TempDir()}
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() { write(t, s, fmt.Sprint("run", i), day) })
	}
	all.Wait()
	if got := list(t, s, record.Filter{Host: "web1", Failed: true}); len(got) != 50 {
		t.Errorf("%d runs", len(got))
	}
}

// A record has no head when it has just begun, and when its writer died there: to others it is not there, whatever of
// it is.
func TestRecordsWithoutAWholeHeadAreNotThere(t *testing.T) {
	s := &files.Store{Dir: t.TempDir()}
	write(t, s, "aa1", day)
	path := filepath.Join(s.Dir, "2026-11", "aa1.zst")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 5, 20} {
		if err := os.WriteFile(path, raw[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		var missing *record.MissingError
		if _, err := s.Find(t.Context(), "aa1"); !errors.As(err, &missing) {
			t.Errorf("%d bytes are found: %v", size, err)
		}
		if _, err := s.Parts(t.Context(), "aa1"); !errors.As(err, &missing) {
			t.Errorf("%d bytes are read: %v", size, err)
		}
	}
}
