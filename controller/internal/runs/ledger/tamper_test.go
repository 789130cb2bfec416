package ledger

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/fleet/sealkeys"
	"hark/controller/internal/fleet/streams"
	"hark/controller/internal/runs/record"
)

// at gives a message as the broker has it.
func (r *rig) at(p *person, run, part string) []byte {
	r.t.Helper()
	m, ok, err := streams.Last(r.t.Context(), r.conn, StreamName, wire.Record(p.id.ID(), run, part))
	if err != nil || !ok {
		r.t.Fatalf("part %s of %s is not there: %v", part, run, err)
	}
	return m.Data
}

// put has the broker show something in a place.
func (r *rig) put(p *person, run, part string, data []byte) {
	r.t.Helper()
	if _, err := r.js.Publish(r.t.Context(), wire.Record(p.id.ID(), run, part), data); err != nil {
		r.t.Fatal(err)
	}
}

// leaveOut has the broker show a stream that is as it was, but for some subjects.
func (r *rig) leaveOut(subjects ...string) {
	r.t.Helper()
	var kept []streams.Message
	_, err := streams.Each(r.t.Context(), r.conn, StreamName, ">", 1, func(m streams.Message) {
		for _, s := range subjects {
			if m.Subject == s {
				return
			}
		}
		kept = append(kept, m)
	})
	if err == nil {
		err = r.js.DeleteStream(r.t.Context(), StreamName)
	}
	if err == nil {
		err = r.again()
	}
	for _, m := range kept {
		if err == nil {
			_, err = r.js.Publish(r.t.Context(), m.Subject, m.Data)
		}
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// again makes the stream that was deleted. The server takes the old one's files away beside, and may find them in its
// way.
func (r *rig) again() error {
	ctx, cancel := context.WithTimeout(r.t.Context(), 10*time.Second)
	defer cancel()
	for {
		err := Ensure(ctx, streams.Manager{Conn: r.conn})
		var refused *jetstream.APIError
		if !errors.As(err, &refused) || refused.ErrorCode != storeFailed {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// storeFailed is the server's code for a store that it could not open.
const storeFailed jetstream.ErrorCode = 10049

// parts makes a record of so many parts: the writer cuts one wherever a second has passed, so they are made by hand.
func (s *shelf) parts(run string, n int) {
	s.make(run, 4, run)
	w := s.runs[run]
	first := w.parts[0]
	w.parts = nil
	w.foot.Parts = nil
	for i := range n {
		p := first
		p.N, p.First = i+1, first.First+int64(i*first.Lines)
		w.parts = append(w.parts, p)
	}
	// The end speaks of the parts that there are.
	for _, p := range w.parts {
		w.foot.Parts = append(w.foot.Parts, p.PartSum)
	}
	text, err := record.AppendLine(nil, &record.Line{Kind: record.KindFoot, Foot: w.foot})
	if err != nil {
		panic(err)
	}
	w.footData = packed(text)
}

// TestAuditNamesWhatIsWrong, and a reader does not take it for the record.
func TestAuditNamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(r *rig, p *person)
		want string
		runs int // in the audit
	}{
		{"nothing", func(*rig, *person) {}, "", 2},
		{"a part altered", func(r *rig, p *person) {
			data := r.at(p, "r1", "2")
			data[len(data)-1] ^= 1
			r.put(p, "r1", "2", data)
		}, "part 2 was altered", 2},
		{"a header altered", func(r *rig, p *person) {
			r.put(p, "r1", "2", []byte(strings.Replace(string(r.at(p, "r1", "2")), `"seq":2`, `"seq":3`, 1)))
		}, "part 2 was altered", 2},
		{"the beginning altered", func(r *rig, p *person) { r.put(p, "r1", wire.RecordBegin, []byte("hk1\nxx")) },
			"its beginning was altered", 2},
		{"a part left out", func(r *rig, p *person) { r.leaveOut(wire.Record(p.id.ID(), "r1", "2")) }, "part 2 is missing",
			2},
		{"the last part left out", func(r *rig, p *person) { r.leaveOut(wire.Record(p.id.ID(), "r1", "3")) },
			"part 3 is missing", 2},
		{"the beginning left out", func(r *rig, p *person) { r.leaveOut(wire.Record(p.id.ID(), "r1", wire.RecordBegin)) },
			"its beginning is missing", 2},
		{"two parts swapped", func(r *rig, p *person) {
			a, b := r.at(p, "r1", "1"), r.at(p, "r1", "2")
			r.put(p, "r1", "1", b)
			r.put(p, "r1", "2", a)
		}, "part 1 is part 2, in another's place", 2},
		{"a part of another run", func(r *rig, p *person) { r.put(p, "r1", "2", r.at(p, "r2", "2")) }, "part 2 is of run r2",
			2},
		{"the end of another run", func(r *rig, p *person) { r.put(p, "r1", wire.RecordEnd, r.at(p, "r2", wire.RecordEnd)) },
			"its end is of run r2", 2},
		{"a part too many", func(r *rig, p *person) { r.put(p, "r1", "4", r.at(p, "r1", "3")) },
			"part 4 is part 3, in another's place", 2},
		{"a part by another operator", func(r *rig, p *person) {
			eve := r.person(p)
			s := newShelf()
			s.parts("r1", 3)
			eve.send(r.t, s, "r1")
			r.put(p, "r1", "2", r.at(eve, "r1", "2"))
			r.leaveOut(wire.Record(eve.id.ID(), "r1", wire.RecordBegin), wire.Record(eve.id.ID(), "r1", "1"),
				wire.Record(eve.id.ID(), "r1", "2"), wire.Record(eve.id.ID(), "r1", "3"),
				wire.Record(eve.id.ID(), "r1", wire.RecordEnd))
		}, "part 2 is not signed by its operator", 2},
		{"an older record of the same run", func(r *rig, p *person) {
			old := r.at(p, "r1", "2")
			r.leaveOut(wire.Record(p.id.ID(), "r1", wire.RecordBegin), wire.Record(p.id.ID(), "r1", "1"),
				wire.Record(p.id.ID(), "r1", "2"), wire.Record(p.id.ID(), "r1", "3"),
				wire.Record(p.id.ID(), "r1", wire.RecordEnd))
			s := newShelf()
			s.parts("r1", 3)
			p.send(r.t, s, "r1")
			r.put(p, "r1", "2", old)
		}, "part 2 does not follow the one before it", 2},
		{"the end kept back", func(r *rig, p *person) { r.leaveOut(wire.Record(p.id.ID(), "r1", wire.RecordEnd)) },
			"the broker does not have its end", 3},
		{"a whole run kept back", func(r *rig, p *person) {
			r.leaveOut(wire.Record(p.id.ID(), "r1", wire.RecordBegin), wire.Record(p.id.ID(), "r1", "1"),
				wire.Record(p.id.ID(), "r1", "2"), wire.Record(p.id.ID(), "r1", "3"),
				wire.Record(p.id.ID(), "r1", wire.RecordEnd))
		}, "the broker does not have its end", 2},
		{"something that is no part", func(r *rig, p *person) { r.put(p, "r1", "zz", []byte("x")) },
			`there is an unknown part "zz"`, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			anna := r.person()
			s := newShelf()
			s.parts("r1", 3)
			s.parts("r2", 3)
			anna.send(t, s, "r1")
			anna.send(t, s, "r2")
			c.do(r, anna)
			all, err := anna.Audit(t.Context(), "", record.Filter{})
			if err != nil || len(all) != c.runs {
				t.Fatalf("%+v, %v", all, err)
			}
			trouble := ""
			for _, v := range all {
				if v.Run == "r2" && len(v.Trouble) > 0 {
					t.Errorf("of the other run: %q", v.Trouble)
				}
				if v.Run == "r1" {
					trouble += strings.Join(v.Trouble, "; ")
				}
			}
			if c.want == "" && trouble != "" || !strings.Contains(trouble, c.want) {
				t.Errorf("%q, want %q", trouble, c.want)
			}
			if lines, err := anna.read(t, "r1", record.Opening{}); c.want != "" && err == nil && len(lines) == 14 &&
				!strings.Contains(c.name, "no part") && !strings.Contains(c.name, "too many") {
				t.Error("a reader took it for the record")
			}
			if _, err := anna.read(t, "r2", record.Opening{}); err != nil {
				t.Errorf("the other run: %v", err)
			}
		})
	}
}

// TestAuditKnowsRecordsOfAnOlderKey: whoever has lost a key and has another finds what was sent with the old one where
// it is, and what is missing of that.
func TestAuditKnowsRecordsOfAnOlderKey(t *testing.T) {
	r := newRig(t)
	old := r.person()
	s := newShelf()
	s.parts("r1", 3)
	s.parts("r2", 3)
	old.send(t, s, "r1")
	old.send(t, s, "r2")
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	anna := r.as(&person{id: id, home: old.home})
	wrong := func() (runs []string) {
		t.Helper()
		all, err := anna.Audit(t.Context(), "", record.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range all {
			if len(v.Trouble) > 0 {
				runs = append(runs, v.Run)
			}
		}
		return runs
	}
	if got := wrong(); len(got) > 0 {
		t.Errorf("nothing is missing, and the audit names %v", got)
	}
	var gone []string
	for _, part := range []string{wire.RecordBegin, "1", "2", "3", wire.RecordEnd} {
		gone = append(gone, wire.Record(old.id.ID(), "r1", part))
	}
	r.leaveOut(gone...)
	if got := wrong(); !slices.Equal(got, []string{"r1"}) {
		t.Errorf("r1 is missing, and the audit names %v", got)
	}
}

// TestAuditNeedsNoReader: signatures and chain show to everybody who may see the stream.
func TestAuditNeedsNoReader(t *testing.T) {
	r := newRig(t)
	anna, eve := r.person(), r.person()
	s := newShelf()
	s.parts("r1", 3)
	anna.send(t, s, "r1")
	all, err := eve.Audit(t.Context(), "", record.Filter{})
	if err != nil || len(all) != 1 || len(all[0].Trouble) > 0 || !strings.Contains(all[0].Note, "sealed for others") ||
		all[0].Who != anna.id.Key {
		t.Errorf("%+v, %v", all, err)
	}
	r.leaveOut(wire.Record(anna.id.ID(), "r1", "2"))
	if all, err = eve.Audit(t.Context(), "r1", record.Filter{}); err != nil || len(all) != 1 || len(all[0].Trouble) == 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestKeysCountFromTheirOperatorAlone: the broker cannot have records sealed with a key that it knows.
func TestKeysCountFromTheirOperatorAlone(t *testing.T) {
	r := newRig(t)
	anna, eve := r.person(), r.person()
	week := sealkeys.Week(time.Now())
	key := wire.NewKey()
	keys := wire.WeekKeys{Week: week, From: eve.id.XKey, Boxes: map[string][]byte{}}
	for _, reader := range []string{anna.id.XKey, eve.id.XKey} {
		box, err := eve.id.Close(key, reader)
		if err != nil {
			t.Fatal(err)
		}
		keys.Boxes[reader] = box
	}
	frame, err := anna.codec.Pack(wire.Header{Kind: wire.KindKeys}, keys, wire.Packing{Sign: eve.id})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.js.Publish(t.Context(), wire.RecordKeys(anna.id.ID(), week), frame); err != nil {
		t.Fatal(err)
	}
	got, err := anna.Share(t.Context())
	if err != nil || got == key {
		t.Errorf("took a key of the broker's: %v", err)
	}
	// The operator's own is there in its place.
	if again, err := r.as(anna).Share(t.Context()); err != nil || again != got {
		t.Errorf("another process has another key: %v", err)
	}
}

// TestSendingGoesOnWhereItEnded, wherever that was, and though the note of it was lost.
func TestSendingGoesOnWhereItEnded(t *testing.T) {
	for _, keepsNote := range []bool{true, false} {
		for stop := range 5 {
			t.Run(strconv.Itoa(stop), func(t *testing.T) {
				r := newRig(t)
				anna := r.person()
				s := newShelf()
				s.parts("r1", 3)
				if err := Note(anna.home, "r1"); err != nil {
					t.Fatal(err)
				}
				// The process is killed when it has sent so many messages.
				m, err := openCheckpoint(anna.home, "r1")
				if err != nil {
					t.Fatal(err)
				}
				ctx, kill := context.WithCancel(t.Context())
				sub, err := r.conn.SubscribeSync(wire.Record("*", "r1", "*"))
				if err != nil {
					t.Fatal(err)
				}
				if err := r.conn.Flush(); err != nil {
					t.Fatal(err)
				}
				killed := make(chan struct{})
				go func() {
					defer close(killed)
					defer kill()
					for range stop {
						if _, err := sub.NextMsgWithContext(ctx); err != nil {
							return
						}
					}
				}()
				parts, err := s.Parts(ctx, "r1")
				if err != nil {
					t.Fatal(err)
				}
				_ = anna.Push(ctx, parts, m)
				<-killed
				m.release()
				if !keepsNote {
					if err := Note(anna.home, "r1"); err != nil {
						t.Fatal(err)
					}
					truncate(t, m.path)
				}
				again := r.as(anna)
				again.send(t, s, "r1")
				again.send(t, s, "r1") // and once more, which is harmless
				if lines, err := again.read(t, "r1", record.Opening{}); err != nil || len(lines) != 14 {
					t.Errorf("%d lines, %v", len(lines), err)
				}
				all, err := again.Audit(t.Context(), "", record.Filter{})
				if err != nil || len(all) != 1 || len(all[0].Trouble) > 0 || all[0].Parts != 3 {
					t.Errorf("%+v, %v", all, err)
				}
			})
		}
	}
}

// TestAnotherRecordOfTheRunIsNotOverwritten.
func TestAnotherRecordOfTheRunIsNotOverwritten(t *testing.T) {
	r := newRig(t)
	anna := r.person()
	s := newShelf()
	s.make("r1", 3, "first")
	anna.send(t, s, "r1")
	s.make("r1", 3, "second")
	if err := Note(anna.home, "r1"); err != nil {
		t.Fatal(err)
	}
	if err := anna.Send(t.Context(), s, "r1"); err == nil || !strings.Contains(err.Error(), "another record") {
		t.Errorf("%v", err)
	}
}

// TestRunsWaitForTheBroker: as many as there were while it was away.
func TestRunsWaitForTheBroker(t *testing.T) {
	r := newRig(t)
	anna := r.person()
	s := newShelf()
	const many = 1000
	s.make("r0", 3, "")
	one := s.runs["r0"]
	for i := range many {
		w := *one
		w.head.Run = "r" + strconv.Itoa(i)
		text, err := record.AppendLine(nil, &record.Line{Kind: record.KindHead, Head: &w.head})
		if err != nil {
			t.Fatal(err)
		}
		w.headData = packed(text)
		s.runs[w.head.Run] = &w
		if err := Note(anna.home, w.head.Run); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := anna.SendAll(t.Context(), s); err != nil || left != 0 {
		t.Fatalf("%d are left: %v", left, err)
	}
	list, err := anna.Store().List(t.Context(), record.Filter{})
	if err != nil || len(list.Entries) != many {
		t.Errorf("%d, %v", len(list.Entries), err)
	}
}

// TestSendingNeverHoldsARun: without a broker it ends with the time that it is given.
func TestSendingNeverHoldsARun(t *testing.T) {
	r := newRig(t)
	anna := r.person()
	s := newShelf()
	s.make("r1", 3, "")
	if err := Note(anna.home, "r1"); err != nil {
		t.Fatal(err)
	}
	r.srv.Shutdown()
	began := time.Now()
	if err := anna.Begin(s, "r1").End(300 * time.Millisecond); time.Since(began) > 10*time.Second {
		t.Errorf("%s, %v", time.Since(began), err)
	}
	if left, err := Unsent(anna.home); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestBrokerWithoutLedgerIsSaidToBe and does not make anybody wait for long.
func TestBrokerWithoutLedgerIsSaidToBe(t *testing.T) {
	r := newRig(t)
	anna := r.person()
	if err := r.js.DeleteStream(t.Context(), StreamName); err != nil {
		t.Fatal(err)
	}
	s := newShelf()
	s.make("r1", 3, "")
	if err := Note(anna.home, "r1"); err != nil {
		t.Fatal(err)
	}
	if err := anna.Send(t.Context(), s, "r1"); err == nil || !strings.Contains(err.Error(), "keeps no records") {
		t.Errorf("%v", err)
	}
	list, err := anna.Store().List(t.Context(), record.Filter{})
	if err != nil || len(list.Entries) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// packed is a frame as records have them.
func packed(text []byte) []byte {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return enc.EncodeAll(text, nil)
}

func truncate(t *testing.T, path string) {
	t.Helper()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
}

// Whoever knows a run, as its hosts do, can have the broker answer to the subjects of its record before they have
// anything. The record takes the place of that, and is whole.
func TestRecordsTakeThePlaceOfAnswers(t *testing.T) {
	r := newRig(t)
	anna, reader, thief := r.person(), r.person(), r.person()
	s := newShelf()
	s.make("run1", 3, "said")
	s.make("other", 3, "said")
	thief.send(t, s, "other")
	week := sealkeys.Week(time.Now())
	for _, part := range []string{wire.RecordBegin, wire.RecordEnd, wire.RecordNow} {
		r.put(anna, "run1", part, []byte(`{"stream":"HARK_AGENTS","seq":1}`))
	}
	r.put(anna, "run1", "1", r.at(thief, "other", wire.RecordBegin))
	if _, err := r.js.Publish(t.Context(), wire.RecordKeys(anna.id.ID(), week), []byte("{}")); err != nil {
		t.Fatal(err)
	}
	r.as(anna, reader).send(t, s, "run1")
	lines, err := reader.read(t, "run1", record.Opening{})
	if err != nil || len(lines) < 3 {
		t.Errorf("%v, %v", lines, err)
	}
	verdicts, err := r.as(anna, reader).Audit(t.Context(), "run1", record.Filter{})
	if err != nil || len(verdicts) != 1 || len(verdicts[0].Trouble) > 0 {
		t.Errorf("%+v, %v", verdicts, err)
	}
}
