package files_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hark/agent/wire"
	"hark/controller/internal/runs/files"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
	"hark/playbook/deprecation"
)

// call is one line of the events of package view: a call of a View with its arguments.
type call struct {
	Call          string
	Path          string
	Play          view.Play
	Task          view.Task
	Host, Handler string
	Outcome       *wire.Outcome
	Include       view.Include
	Stats         view.Stats
	Start, End    time.Time
}

func (c call) play(v view.View) {
	r := view.Result{Task: c.Task, Host: c.Host, Outcome: c.Outcome, Start: c.Start, End: c.End}
	switch c.Call {
	case "PlaybookStart":
		v.PlaybookStart(c.Path)
	case "PlayStart":
		v.PlayStart(c.Play)
	case "NoHostsMatched":
		v.NoHostsMatched()
	case "NoHostsRemaining":
		v.NoHostsRemaining()
	case "TaskStart":
		v.TaskStart(c.Task)
	case "HostStart":
		v.HostStart(c.Task, c.Host)
	case "ItemDone":
		v.ItemDone(r)
	case "Retry":
		v.Retry(r)
	case "Done":
		v.Done(r)
	case "Included":
		v.Included(c.Task, c.Include)
	case "Notified":
		v.Notified(c.Handler, c.Host)
	case "Progress":
		v.Progress(r)
	case "AsyncDone":
		v.AsyncDone(r)
	case "Stats":
		v.Stats(c.Stats)
	}
}

// calls reads the events of a file.
func calls(t *testing.T, path string) []call {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []call
	for line := range bytes.Lines(bytes.TrimSpace(text)) {
		var c call
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// shown is what a display printed.
type shown struct{ out, err bytes.Buffer }

func (s *shown) display(t *testing.T, verbosity int) *view.Display {
	t.Helper()
	d, err := view.NewDisplay(view.DisplayOptions{Out: &s.out, Err: &s.err, Verbosity: verbosity})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// viewOf makes a view whose files go to dir.
func viewOf(t *testing.T, name, dir string, d *view.Display, now func() time.Time) view.View {
	t.Helper()
	v, err := view.New(name, view.Options{
		Display: d.ForViews(), Now: now, JSONIndent: 4, DiffContext: 3, CustomStats: true, HostStarts: name == "debug",
		TreeDir: dir, LogDir: dir,
		JUnit: view.JUnitOptions{Dir: dir},
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestEveryViewShowsTheRunAgain(t *testing.T) {
	paths, err := filepath.Glob("../../ui/view/testdata/events/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no events: %v", err)
	}
	store := &files.Store{Dir: t.TempDir()}
	runs := 0
	for _, path := range paths {
		events := calls(t, path)
		for _, name := range view.Names() {
			for _, verbosity := range []int{0, 3} {
				runs++
				run := "run" + strings.Repeat("x", runs%7) + string(rune('a'+runs%26)) + time.Duration(runs).String()
				again(t, store, strings.ToLower(run), name, verbosity, events)
			}
		}
	}
	t.Logf("%d runs", runs)
}

// again records a run and holds what it showed against what its record shows.
func again(t *testing.T, store *files.Store, run, name string, verbosity int, events []call) {
	t.Helper()
	var first, second shown
	firstDir, secondDir := t.TempDir(), t.TempDir()
	w := record.NewWriter(record.WriterOptions{Now: time.Now, Failed: func(err error) { t.Error(err) }}, store.Sink())
	d := first.display(t, verbosity)
	d.Verbose(1, "", "told before the record")
	r := record.NewRecorder(w, record.Head{Run: run, At: time.Now(), Line: []string{"hark"}},
		record.RecorderOptions{Args: name == "junit", Starts: name == "debug", Facts: true})
	r.Begin()
	d.Listen(r)
	v := view.All(r, viewOf(t, name, firstDir, d, r.Now))
	for i, c := range events {
		if i == 3 {
			d.Warn("something is odd")
			d.Print(view.ColorOK, "web1 | live")
			d.Deprecate(deprecation.Notice{Text: "old", Version: "9"})
			d.Verbose(2, "web1", "in detail")
			d.Raw("input for x: ")
			d.Banner("Perform task")
		}
		c.play(v)
	}
	d.Listen(nil)
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	r.End(record.Foot{Status: record.OK})

	ctx := context.Background()
	e, err := store.Find(ctx, run)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := store.Open(ctx, run, record.Opening{})
	if err != nil {
		t.Fatal(err)
	}
	defer lines.Close()
	d = second.display(t, verbosity)
	p := &record.Player{Listener: d}
	p.Begin(e.Head)
	p.View = viewOf(t, name, secondDir, d, p.Now)
	foot, err := p.All(ctx, lines)
	if err != nil || foot == nil {
		t.Fatalf("foot %v, %v", foot, err)
	}
	if err := p.View.Close(); err != nil {
		t.Fatal(err)
	}
	for what, texts := range map[string][2]string{"stdout": {first.out.String(), second.out.String()},
		"stderr": {first.err.String(), second.err.String()}} {
		if diff := cmp.Diff(texts[0], texts[1]); diff != "" {
			t.Fatalf("%s of view %s at -v %d differs (-run +record):\n%s", what, name, verbosity, diff)
		}
	}
	if diff := cmp.Diff(tree(t, firstDir), tree(t, secondDir)); diff != "" {
		t.Fatalf("files of view %s differ (-run +record):\n%s", name, diff)
	}
}

// tree are the files of a directory. The names of reports have the time in them.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(text)
	}
	return out
}
