package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/agent/wire/natstest"
	"hark/controller/internal/fleet/sealkeys"
	"hark/controller/internal/fleet/streams"
	"hark/controller/internal/runs/record"
)

// rig is a broker, where a test is all that could be against it.
type rig struct {
	t    testing.TB
	url  string
	srv  *server.Server
	conn *nats.Conn
	js   jetstream.JetStream
}

func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t}
	r.srv = natstest.Start(t, natstest.JetStream(t.TempDir()))
	r.url = r.srv.ClientURL()
	r.conn = r.connect()
	var err error
	if r.js, err = jetstream.New(r.conn); err != nil {
		t.Fatal(err)
	}
	if err := Ensure(t.Context(), streams.Manager{Conn: r.conn}); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) connect() *nats.Conn {
	r.t.Helper()
	return natstest.Connect(r.t, r.url, nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond))
}

// person is an operator or a reader with a ledger of his own.
type person struct {
	*Ledger
	id   *wire.Identity
	home string
}

func (r *rig) person(readers ...*person) *person {
	r.t.Helper()
	id, err := wire.NewIdentity()
	if err != nil {
		r.t.Fatal(err)
	}
	return r.as(&person{id: id, home: r.t.TempDir()}, readers...)
}

// as is the same person in another process, with other readers.
func (r *rig) as(p *person, readers ...*person) *person {
	r.t.Helper()
	cfg := Config{Conn: r.connect(), Self: p.id, Home: p.home, Knows: func(string) bool { return true }}
	for _, reader := range readers {
		cfg.Readers = append(cfg.Readers, reader.id.XKey)
	}
	l, err := New(cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	return &person{Ledger: l, id: p.id, home: p.home}
}

// shelf holds records in memory as they are made.
type shelf struct {
	record.Store // what is not needed

	mu   sync.Mutex
	grew chan struct{}       // closed and replaced at each change; guarded by mu
	runs map[string]*written // guarded by mu
}

type written struct {
	head     record.Head
	headData []byte
	parts    []record.Part
	foot     *record.Foot
	footData []byte
	lost     bool
}

func newShelf() *shelf { return &shelf{grew: make(chan struct{}), runs: map[string]*written{}} }

func (s *shelf) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.grew)
	s.grew = make(chan struct{})
}

// sink puts one record on the shelf.
type sink struct {
	*shelf
	w *written
}

func (s *sink) Begin(h record.Head, data []byte) error {
	s.change(func() {
		s.w = &written{head: h, headData: data}
		s.runs[h.Run] = s.w
	})
	return nil
}
func (s *sink) Part(p record.Part) error {
	s.change(func() { s.w.parts = append(s.w.parts, p) })
	return nil
}
func (s *sink) End(f record.Foot, data []byte) error {
	s.change(func() { s.w.foot, s.w.footData = &f, data })
	return nil
}
func (s *sink) Close() error { return nil }

func (s *shelf) Find(_ context.Context, run string) (record.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs[run] == nil {
		return record.Entry{}, &record.MissingError{Run: run}
	}
	return record.Entry{Head: s.runs[run].head, State: record.Ended}, nil
}

func (s *shelf) Parts(_ context.Context, run string) (record.Parts, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs[run] == nil {
		return nil, &record.MissingError{Run: run}
	}
	return &reading{shelf: s, w: s.runs[run]}, nil
}

type reading struct {
	*shelf
	w *written
	n int
}

func (r *reading) Head() (record.Head, []byte)  { return r.w.head, r.w.headData }
func (r *reading) Foot() (*record.Foot, []byte) { return r.w.foot, r.w.footData }
func (r *reading) Close() error                 { return nil }
func (r *reading) Next(ctx context.Context) (record.Part, error) {
	for {
		r.mu.Lock()
		n, ended, grew := len(r.w.parts), r.w.foot != nil || r.w.lost, r.grew
		r.mu.Unlock()
		if r.n < n {
			r.n++
			return r.w.parts[r.n-1], nil
		}
		if ended {
			return record.Part{}, io.EOF
		}
		select {
		case <-grew:
		case <-ctx.Done():
			return record.Part{}, ctx.Err()
		}
	}
}

var began = time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)

// begin begins a record.
func (s *shelf) begin(run string) *record.Writer {
	w := record.NewWriter(record.WriterOptions{Now: time.Now, Failed: func(err error) { panic(err) }}, &sink{shelf: s})
	w.Begin(record.Head{Run: run, At: began, Name: "anna", From: "anna@deploy1",
		Line: []string{"hark", "play", "site.yml"}, Commit: "9f31c2"})
	return w
}

// make makes a record of so many lines with a text that does not pack.
func (s *shelf) make(run string, lines int, text string) {
	w := s.begin(run)
	tell(w, 0, lines, text)
	w.End(foot)
}

var foot = record.Foot{Status: record.Failed, Exit: 2, Hosts: map[record.HostState][]string{record.StateOK: {"web[1:3]"},
	record.StateFailed: {"db1"}},
	Tasks: []record.TaskSum{{Task: 1, Name: "nginx : install", OK: 3, Failed: 1}}}

func tell(w *record.Writer, from, to int, text string) {
	for i := from; i < to; i++ {
		if i == 0 {
			w.Tell(&record.Line{Kind: record.KindTaskStart, Task: 1, Step: &record.Step{ID: "1", Name: "nginx : install"}})
			continue
		}
		w.Tell(&record.Line{Kind: record.KindSaid, Text: fmt.Sprintf("%d %s", i, text)})
	}
}

// send sends a run that is on a shelf.
func (p *person) send(t testing.TB, s *shelf, run string) {
	t.Helper()
	if err := Note(p.home, run); err != nil {
		t.Fatal(err)
	}
	if err := p.Send(t.Context(), s, run); err != nil {
		t.Fatal(err)
	}
}

// read is what a person reads of a run: its lines' texts.
func (p *person) read(t *testing.T, run string, o record.Opening) ([]string, error) {
	t.Helper()
	lines, err := p.Store().Open(t.Context(), run, o)
	if err != nil {
		return nil, err
	}
	defer lines.Close()
	var out []string
	for {
		l, err := lines.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		if want := int64(len(out)); o == (record.Opening{}) && l.N != want {
			t.Errorf("line %d has number %d", want, l.N)
		}
		out = append(out, string(l.Kind)+" "+l.Text)
	}
}

func TestReadersThatWereNamedReadAndOthersDoNot(t *testing.T) {
	r := newRig(t)
	bela, eve := r.person(), r.person()
	anna := r.person(bela)
	s := newShelf()
	s.make("r1", 50, "")
	anna.send(t, s, "r1")
	for name, p := range map[string]*person{"anna": anna, "bela": bela} {
		list, err := p.Store().List(t.Context(), record.Filter{})
		if err != nil || len(list.Entries) != 1 || len(list.Warnings) > 0 {
			t.Fatalf("%s: %+v, %v", name, list, err)
		}
		e := list.Entries[0]
		if e.Head.Run != "r1" || e.Head.Name != "anna" || e.Head.Who != anna.id.Key || e.State != record.Ended ||
			e.Foot.Exit != 2 || e.Counts[record.StateOK] != 3 || e.Origin != Origin {
			t.Errorf("%s: %+v", name, e)
		}
		lines, err := p.read(t, "r1", record.Opening{})
		if err != nil || len(lines) != 52 || lines[0] != "begin " || lines[49] != "said 48 " && lines[49] != "said 49 " ||
			lines[51] != "end " {
			t.Errorf("%s: %q, %v", name, lines, err)
		}
	}
	list, err := eve.Store().List(t.Context(), record.Filter{})
	if err != nil || len(list.Entries) != 0 || len(list.Warnings) != 1 ||
		!strings.Contains(list.Warnings[0], "sealed for others") {
		t.Errorf("eve: %+v, %v", list, err)
	}
	var not *sealkeys.NotReaderError
	if _, err := eve.read(t, "r1", record.Opening{}); !errors.As(err, &not) {
		t.Errorf("eve: %v", err)
	}
	var missing *record.MissingError
	if _, err := anna.Store().Find(t.Context(), "r2"); !errors.As(err, &missing) {
		t.Errorf("a run that is not there: %v", err)
	}
}

// TestNothingIsInClear: the broker sees neither names nor texts.
func TestNothingIsInClear(t *testing.T) {
	r := newRig(t)
	anna := r.person()
	s := newShelf()
	s.make("r1", 3, "S3CRET")
	anna.send(t, s, "r1")
	n := 0
	if _, err := streams.Each(t.Context(), r.conn, StreamName, ">", 1, func(m streams.Message) {
		n++
		for _, word := range []string{"S3CRET", "anna", "site.yml", "9f31c2", "nginx"} {
			if strings.Contains(string(m.Data), word) {
				t.Errorf("%s shows %s", m.Subject, word)
			}
		}
	}); err != nil || n != 4 {
		t.Errorf("%d messages, %v", n, err)
	}
}

func TestReadersAreAddedAndRemoved(t *testing.T) {
	r := newRig(t)
	bela, carl := r.person(), r.person()
	anna := r.person(bela)
	s := newShelf()
	s.make("r1", 3, "")
	anna.send(t, s, "r1")
	// Carl comes, Bela goes: Carl reads what is of this week, Bela no week that begins later.
	anna = r.as(anna, carl)
	if _, err := anna.Share(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := carl.read(t, "r1", record.Opening{}); err != nil {
		t.Errorf("a new reader: %v", err)
	}
	anna.cfg.Now = func() time.Time { return time.Now().Add(8 * 24 * time.Hour) }
	s.make("r2", 3, "")
	anna.send(t, s, "r2")
	if _, err := carl.read(t, "r2", record.Opening{}); err != nil {
		t.Errorf("in the next week: %v", err)
	}
	if _, err := bela.read(t, "r2", record.Opening{}); err == nil {
		t.Error("who was removed reads what came later")
	}
	if _, err := anna.read(t, "r1", record.Opening{}); err != nil {
		t.Errorf("the operator himself: %v", err)
	}
}

// TestTwoProcessesShareOneKey: whoever is first makes it.
func TestTwoProcessesShareOneKey(t *testing.T) {
	r := newRig(t)
	anna := r.person()
	keys := make([]wire.Key, 8)
	var work sync.WaitGroup
	for i := range keys {
		p := r.as(anna)
		work.Go(func() {
			var err error
			if keys[i], err = p.Share(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	for _, k := range keys {
		if k != keys[0] {
			t.Error("the week has several keys")
		}
	}
}

// TestRunIsFollowedWhileItGoesOn from another connection.
func TestRunIsFollowedWhileItGoesOn(t *testing.T) {
	r := newRig(t)
	bela := r.person()
	anna := r.person(bela)
	s := newShelf()
	w := s.begin("r1")
	if err := Note(anna.home, "r1"); err != nil {
		t.Fatal(err)
	}
	sending := anna.Begin(s, "r1")
	tell(w, 0, 5, "")
	deadline, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for { // its beginning is under way
		if _, err := bela.Store().Find(deadline, "r1"); err == nil {
			break
		} else if deadline.Err() != nil {
			t.Fatal(err)
		}
	}
	lines, err := bela.Store().Open(deadline, "r1", record.Opening{Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	defer lines.Close()
	for n := 0; ; n++ {
		l, err := lines.Next(deadline)
		if err != nil {
			t.Fatal(err)
		}
		if n == 5 {
			tell(w, 5, 10, "")
		}
		if n == 10 {
			w.End(foot)
		}
		if l.Kind == record.KindFoot {
			if n != 11 {
				t.Errorf("the end is line %d", n)
			}
			break
		}
	}
	if _, err := lines.Next(deadline); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
	if err := sending.End(time.Minute); err != nil {
		t.Error(err)
	}
	if left, err := Unsent(anna.home); err != nil || len(left) != 0 {
		t.Errorf("%v is unsent, %v", left, err)
	}
}

// TestLostRunIsSaidToBe: one that tells nothing any more, and has no end.
func TestLostRunIsSaidToBe(t *testing.T) {
	r := newRig(t)
	anna := r.person()
	s := newShelf()
	s.make("r1", 5, "")
	s.runs["r1"].foot, s.runs["r1"].lost = nil, true
	anna.send(t, s, "r1")
	e, err := anna.Store().Find(t.Context(), "r1")
	if err != nil || e.State != record.Running {
		t.Errorf("just now: %+v, %v", e, err)
	}
	f, err := (&store{anna.Ledger}).only(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	later, err := (&store{anna.Ledger}).entry(t.Context(), f, f.last.Add(lostAfter+time.Second))
	if err != nil || later.State != record.Lost {
		t.Errorf("later: %+v, %v", later, err)
	}
	if runs, err := Unsent(anna.home); err != nil || len(runs) != 1 {
		t.Errorf("%v, %v: its end may come yet", runs, err)
	}
}

// TestLargePartsAreSentInPieces: a line is as large as a host's output.
func TestLargePartsAreSentInPieces(t *testing.T) {
	r := newRig(t)
	anna := r.person()
	s := newShelf()
	noise := make([]byte, 0, 3<<20)
	for len(noise) < 3<<20 {
		noise = append(noise, wire.NewNonce()...)
	}
	w := s.begin("r1")
	tell(w, 0, 3, "")
	w.Tell(&record.Line{Kind: record.KindSaid, Text: string(noise)})
	tell(w, 4, 6, "")
	w.End(foot)
	anna.send(t, s, "r1")
	lines, err := anna.read(t, "r1", record.Opening{})
	if err != nil || len(lines) != 8 || lines[4] != "said "+string(noise) {
		t.Errorf("%d lines, %v", len(lines), err)
	}
	if all, err := anna.Audit(t.Context(), "", record.Filter{}); err != nil || len(all) != 1 || len(all[0].Trouble) > 0 ||
		all[0].Parts < 4 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestOldRunsAreHeadAndFoot: the broker keeps the lines between them for a month.
func TestOldRunsAreHeadAndFoot(t *testing.T) {
	r := newRig(t)
	anna := r.person()
	s := newShelf()
	s.make("r1", 5, "")
	anna.send(t, s, "r1")
	at := &store{anna.Ledger}
	f, err := at.only(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	r.leaveOut(wire.Record(anna.id.ID(), "r1", "1"))
	later := f.end.Time.Add(keepParts + time.Hour)
	if e, err := at.entry(t.Context(), f, later); err != nil || e.Body || e.Foot.Exit != 2 {
		t.Errorf("%+v, %v", e, err)
	}
	v, err := at.audit(t.Context(), f.place, later)
	if err != nil || len(v.Trouble) > 0 || v.Note == "" {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestRecordOfALaterHarkIsRefused, and does not hide the others.
func TestRecordOfALaterHarkIsRefused(t *testing.T) {
	r := newRig(t)
	anna := r.person()
	s := newShelf()
	s.make("r1", 3, "")
	s.make("r2", 3, "")
	later := s.runs["r2"]
	later.head.V = record.Version + 1
	text, err := record.AppendLine(nil, &record.Line{Kind: record.KindHead, Head: &later.head})
	if err != nil {
		t.Fatal(err)
	}
	later.headData = packed(text)
	anna.send(t, s, "r1")
	anna.send(t, s, "r2")
	var newer *record.NewerError
	if _, err := anna.read(t, "r2", record.Opening{}); !errors.As(err, &newer) || newer.Version != record.Version+1 {
		t.Errorf("%v", err)
	}
	list, err := anna.Store().List(t.Context(), record.Filter{})
	if err != nil || len(list.Entries) != 1 || len(list.Warnings) != 1 ||
		!strings.Contains(list.Warnings[0], "this hark reads up to") {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestUnknownOperatorsAreNotCalledByTheNameTheyGive: the key has signed, the name is only said.
func TestUnknownOperatorsAreNotCalledByTheNameTheyGive(t *testing.T) {
	r := newRig(t)
	bela := r.person()
	eve := r.person(bela)
	s := newShelf()
	s.make("r1", 3, "") // says that it is anna's
	eve.send(t, s, "r1")
	bela.cfg.Knows = func(key string) bool { return key == bela.id.Key }
	e, err := bela.Store().Find(t.Context(), "r1")
	if err != nil || e.Head.Name != eve.id.Key || e.Head.From != "" || e.Head.Who != eve.id.Key {
		t.Errorf("%+v, %v", e.Head, err)
	}
	all, err := bela.Audit(t.Context(), "", record.Filter{})
	if err != nil || len(all) != 1 || all[0].Known {
		t.Errorf("%+v, %v", all, err)
	}
}

// Another command may come between the note of a run and the beginning of its record: it must leave the note.
func TestNotesOfRunsThatBeginStay(t *testing.T) {
	r := newRig(t)
	anna := r.person()
	s := newShelf()
	if err := Note(anna.home, "r1"); err != nil {
		t.Fatal(err)
	}
	if left, err := anna.SendAll(t.Context(), s); err != nil || left != 1 {
		t.Fatalf("%d are left, %v", left, err)
	}
	s.make("r1", 3, "said")
	if left, err := anna.SendAll(t.Context(), s); err != nil || left != 0 {
		t.Fatalf("%d are left, %v", left, err)
	}
	if lines, err := anna.read(t, "r1", record.Opening{}); err != nil || len(lines) == 0 {
		t.Errorf("%q, %v", lines, err)
	}
	if err := Note(anna.home, "r2"); err != nil { // its record will never come
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * beginsWithin)
	if err := os.Chtimes(filepath.Join(anna.home, checkpointsDir, "r2"), old, old); err != nil {
		t.Fatal(err)
	}
	if left, err := anna.SendAll(t.Context(), s); err != nil || left != 0 {
		t.Errorf("%d are left, %v", left, err)
	}
}
