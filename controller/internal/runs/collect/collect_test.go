package collect

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/play/link"
	"hark/controller/internal/runs/files"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
	"hark/playbook/plan"
)

// killed is a sink whose process was killed before the end.
type killed struct{ record.Sink }

func (killed) End(record.Foot, []byte) error { return nil }

var install = view.Task{ID: "1.0", Name: "install", Action: "apt"}

// lost makes a store with a run that was lost at its first task: web1 had told of it, and hosts were unreachable.
func lost(t *testing.T, unreachable ...string) *Job {
	t.Helper()
	j := &Job{Home: t.TempDir(), Run: "r1", Store: &files.Store{Dir: filepath.Join(t.TempDir(), "runs")}, Now: time.Now}
	w := record.NewWriter(record.WriterOptions{Now: time.Now, Failed: func(err error) { t.Error(err) }},
		killed{j.Store.Sink()})
	r := record.NewRecorder(w, record.Head{Run: j.Run, At: time.Now(), Line: []string{"hark", "play", "site.yml"}},
		record.RecorderOptions{})
	r.Begin()
	r.PlayStart(view.Play{Name: "web", Hosts: []string{"web1", "web2", "db1"}})
	r.TaskStart(install)
	r.Done(view.Result{Task: install, Host: "web1", Outcome: outcome(wire.OK, "x")})
	for _, host := range unreachable {
		r.Done(view.Result{Task: install, Host: host, Outcome: outcome(wire.StatusUnreachable, "x")})
	}
	r.End(record.Foot{})
	if e, err := j.Store.Find(t.Context(), j.Run); err != nil || e.State != record.Lost {
		t.Fatalf("%+v, %v", e, err)
	}
	return j
}

func outcome(s wire.Status, msg string) *wire.Outcome {
	result, _ := json.Marshal(map[string]any{"msg": msg})
	return &wire.Outcome{Status: s, Result: result, Effects: []wire.Effect{{Layer: "set"}}}
}

// finish does what comes after the agents were heard.
func finish(t *testing.T, j *Job, events []wire.Event, r *Result) int {
	t.Helper()
	off, err := record.ReadBrokenOff(t.Context(), j.Store, j.Run)
	if err != nil {
		t.Fatal(err)
	}
	n, err := j.end(off, events, r)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// texts are the lines of a record, as kind, host and status.
func texts(t *testing.T, j *Job) []string {
	t.Helper()
	lines, err := j.Store.Open(context.Background(), j.Run, record.Opening{})
	if err != nil {
		t.Fatal(err)
	}
	defer lines.Close()
	var names record.Names
	var out []string
	for {
		l, err := lines.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		names.Learn(&l)
		out = append(out, strings.TrimSpace(string(l.Kind)+" "+names.Host(l.Host)+" "+string(l.Status)))
	}
}

func TestEveryHostHasAFateAfterwards(t *testing.T) {
	j := lost(t)
	event := func(seq uint64, k wire.EventKind, o *wire.Outcome) wire.Event {
		return wire.Event{Run: j.Run, Host: "web2", Seq: seq, Kind: k, Step: install.ID, Name: "install", Outcome: o}
	}
	events := []wire.Event{
		// is on record, its acknowledgement was lost
		{Run: j.Run, Host: "web1", Seq: 7, Kind: wire.Done, Step: install.ID, Outcome: outcome(wire.OK, "x")},
		event(3, wire.Started, nil), event(4, wire.Done, outcome(wire.Changed, "y")),
		event(4, wire.Done, outcome(wire.Changed, "y")), event(5, wire.Ended, nil),
	}
	if n := finish(t, j, events, &Result{Silent: []string{"db1"}}); n != 1 {
		t.Errorf("%d results were new", n)
	}
	e, err := j.Store.Find(t.Context(), j.Run)
	if err != nil || e.State != record.Ended || e.Foot.Status != record.Broken || e.Foot.Results != 3 ||
		!strings.Contains(e.Foot.Error, "controller was lost") {
		t.Fatalf("%+v, %+v, %v", e, e.Foot, err)
	}
	for fate, host := range map[record.HostState]string{record.StateOK: "web1", record.StateChanged: "web2",
		record.StateUnreachable: "db1"} {
		if names := e.Foot.Names(fate); len(names) != 1 || names[0] != host {
			t.Errorf("%s: %v", fate, names)
		}
	}
	want := "begin, play, task, host web1, done web1 ok, host web2, done web2 changed, host db1, done db1 unreachable, " +
		"warn, end"
	if got := strings.Join(texts(t, j), ", "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if _, err := record.ReadBrokenOff(t.Context(), j.Store, j.Run); err == nil ||
		!strings.Contains(err.Error(), "was not lost") {
		t.Errorf("again: %v", err)
	}
}

// A record is not closed over a hole without a word: where what an agent had kept may not go on where the record ends,
// the end says whose results may be missing, and when.
func TestAHoleIsTold(t *testing.T) {
	at := time.Now()
	event := func(host string, seq uint64, step string) wire.Event {
		return wire.Event{Run: "r1", Host: host, Seq: seq, Kind: wire.Done, Step: plan.ID(step), Name: "n",
			Outcome: outcome(wire.OK, "x"), Time: at}
	}
	for name, tt := range map[string]struct {
		events []wire.Event
		told   []string
		hosts  string
	}{
		"all from the beginning": {[]wire.Event{event("web2", 1, "1.0"), event("web2", 2, "1.1")},
			[]string{"web2"}, ""},
		"the first is on record": {[]wire.Event{event("web1", 5, "1.0"), event("web1", 6, "1.1")},
			[]string{"web1"}, ""},
		"the first is not on record": {[]wire.Event{event("web1", 9, "1.7")}, []string{"web1"}, "web1"},
		"of several": {[]wire.Event{event("web1", 5, "1.0"), event("web2", 9, "1.7"),
			event("web3", 8, "1.7")}, []string{"web1", "web2", "web3"}, "web2 web3"},
		"a host that kept nothing":     {nil, []string{"web1"}, "web1"},
		"one that did not tell at all": {[]wire.Event{event("web1", 9, "1.7")}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			j := lost(t)
			r := &Result{Complete: tt.told}
			finish(t, j, tt.events, r)
			e, err := j.Store.Find(t.Context(), j.Run)
			if err != nil || e.Foot.Incomplete != r.Gap {
				t.Fatalf("%v: %q on record, %q told", err, e.Foot.Incomplete, r.Gap)
			}
			if (r.Gap == "") != (tt.hosts == "") || !strings.HasPrefix(r.Gap, "results of "+tt.hosts+" ") &&
				tt.hosts != "" {
				t.Errorf("%q", r.Gap)
			}
		})
	}
}

// A host whose agent has nothing left of the play has told everything only if it told the end of the play, or the
// controller had told that the host is lost.
func TestAPlayWithoutItsEndIsNotTakenForWhole(t *testing.T) {
	event := func(host string, seq uint64, k wire.EventKind, step string, o *wire.Outcome) wire.Event {
		return wire.Event{Run: "r1", Host: host, Seq: seq, Kind: k, Step: plan.ID(step), Name: "n", Outcome: o}
	}
	began := event("web2", 1, wire.Started, "1.0", nil)
	done := event("web2", 2, wire.Done, "1.0", outcome(wire.OK, "x"))
	for name, tt := range map[string]struct {
		events []wire.Event
		left   map[string]link.Leave
		want   bool
	}{
		"it began a task, and nothing more is known": {[]wire.Event{began}, nil, true},
		"it had ended a task":                        {[]wire.Event{began, done}, nil, true},
		"the whole log was there":                    {[]wire.Event{began, done}, map[string]link.Leave{"web2": {}}, false},
		"the log was cut":                            {[]wire.Event{began, done}, map[string]link.Leave{"web2": {Cut: true}}, true},
		"the end was told":                           {[]wire.Event{began, done, event("web2", 3, wire.Ended, "", nil)}, nil, false},
		"it was told as lost":                        {[]wire.Event{event("db1", 1, wire.Started, "1.0", nil)}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			j := lost(t, "db1")
			r := &Result{Complete: []string{tt.events[0].Host}, left: tt.left}
			finish(t, j, tt.events, r)
			lines := texts(t, j)
			before := slices.Index(lines, "done db1 unreachable")
			told := slices.Contains(lines[before+1:], "done "+r.Complete[0]+" unreachable")
			if told != tt.want {
				t.Errorf("told as not known: %v, %v", told, lines)
			}
		})
	}
}

// TestTailThatWasCutOffIsTakenAway: the process was killed while it wrote.
func TestTailThatWasCutOffIsTakenAway(t *testing.T) {
	j := lost(t)
	paths, err := filepath.Glob(filepath.Join(j.Store.Dir, "*", j.Run+".zst"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	f, err := os.OpenFile(paths[0], os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.Write([]byte{0x58, 0x2a, 0x4d, 0x18, 9, 0, 0, 0, '{'})
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	finish(t, j, nil, &Result{Silent: []string{"web2"}})
	if e, err := j.Store.Find(t.Context(), j.Run); err != nil || e.State != record.Ended {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestNobodyEndsARecordTwice: two who collect at once.
func TestNobodyEndsARecordTwice(t *testing.T) {
	j := lost(t)
	off, err := record.ReadBrokenOff(t.Context(), j.Store, j.Run)
	if err != nil {
		t.Fatal(err)
	}
	finish(t, j, nil, &Result{})
	if _, err := j.end(off, nil, &Result{}); err == nil {
		t.Error("it was ended twice")
	}
}

func TestSeatsAreNotedForTheRunAlone(t *testing.T) {
	home := t.TempDir()
	s := NewSessionKeyFiles(home, "r1")
	if err := s.Remove(); err != nil {
		t.Errorf("without a seat: %v", err)
	}
	session := link.SessionKeys{Host: "web1", Agent: "web1", Key: "U", XKey: "X", HostKey: wire.NewKey(), Turn: 1}
	s.Add(session)
	s.Add(link.SessionKeys{Host: "web2", HostKey: wire.NewKey(), Turn: 1})
	path := sessionKeysPath(home, "r1")
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(`{"host":"web3","ho`) // it was killed
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	sessions, ok, err := readSessionKeys(home, "r1")
	if err != nil || !ok || len(sessions) != 2 || sessions[0] != session {
		t.Errorf("%+v, %v, %v", sessions, ok, err)
	}
	if _, ok, err := readSessionKeys(home, "r2"); ok || err != nil {
		t.Errorf("of another run: %v, %v", ok, err)
	}
	if err := os.WriteFile(path, []byte(`{"version":2}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := readSessionKeys(home, "r1"); err == nil || !strings.Contains(err.Error(), "has version 2") {
		t.Errorf("of a newer hark: %v", err)
	}
	if err := s.Remove(); err != nil {
		t.Error(err)
	}
}

// TestWhatIsKeptHasNoEffects: they hold values that no_log hides.
func TestWhatIsKeptHasNoEffects(t *testing.T) {
	home := t.TempDir()
	f, err := create(sessionKeysPath(home, "r1") + reportedExt)
	if err != nil {
		t.Fatal(err)
	}
	if err := keep(f, []wire.Event{{Host: "web1", Seq: 1, Kind: wire.Done, Outcome: outcome(wire.OK, "x")}}); err != nil {
		t.Fatal(err)
	}
	f.Close()
	events, err := readReported(home, "r1")
	if err != nil || len(events) != 1 || events[0].Outcome.Effects != nil {
		t.Errorf("%+v, %v", events, err)
	}
}
