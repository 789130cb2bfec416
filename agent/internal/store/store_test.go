package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hark/agent/wire"
	"hark/playbook/plan"
)

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStateDirectoryHasOneUser(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "another agent uses it") {
		t.Errorf("err = %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, dir).Close(); err != nil {
		t.Error(err)
	}
}

func TestNewerLayoutIsRefused(t *testing.T) {
	for text, want := range map[string]string{"2\n": "upgrade hark-agent", "x": `its version is "x"`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "version"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("version %q: %v", text, err)
		}
	}
}

func TestIdentityIsMadeOnce(t *testing.T) {
	dir := t.TempDir()
	var keys []string
	for range 2 {
		s := open(t, dir)
		id, err := s.Identity()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, id.Key)
		s.Close()
	}
	if keys[0] != keys[1] {
		t.Errorf("the keys changed: %q", keys)
	}
	if st, err := os.Stat(filepath.Join(dir, "identity.key")); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the key file: %v, %v", st.Mode(), err)
	}
}

func TestJournalRemembersOverRestarts(t *testing.T) {
	dir := t.TempDir()
	future := time.Now().Add(time.Hour).UnixMilli()
	take := func(s *Store, nonce string, expires int64) bool {
		t.Helper()
		fresh, err := s.Journal.Take(nonce, expires)
		if err != nil {
			t.Fatal(err)
		}
		return fresh
	}
	s := open(t, dir)
	if !take(s, "a", future) || take(s, "a", future) || !take(s, "old", 1) {
		t.Error("the journal does not tell new from known")
	}
	s.Close()
	f, err := os.OpenFile(filepath.Join(dir, "journal"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("12"); err != nil { // cut off by a power failure
		t.Fatal(err)
	}
	f.Close()
	s = open(t, dir)
	defer s.Close()
	if take(s, "a", future) || !s.Journal.Had("a") {
		t.Error("it was forgotten by a restart")
	}
	if s.Journal.Had("old") {
		t.Error("what has expired is kept")
	}
}

func TestJournalDropsWhatHasExpired(t *testing.T) {
	for name, j := range map[string]*Journal{"memory": {}, "disk": open(t, t.TempDir()).Journal} {
		for i := range 2500 {
			if _, err := j.Take(hex.EncodeToString([]byte{byte(i), byte(i >> 8)}), 1); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(j.had); n > 1100 {
			t.Errorf("%s: %d expired nonces are remembered", name, n)
		}
	}
}

func event(seq uint64, k wire.EventKind, step, next plan.ID) wire.Event {
	return wire.Event{Run: "r", Play: "0.0", Host: "web/1", Seq: seq, Kind: k, Step: step, Next: next}
}

func add(t *testing.T, l *Log, events ...wire.Event) {
	t.Helper()
	for _, e := range events {
		raw, err := json.Marshal(e)
		if err == nil {
			err = l.Event(raw)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
}

// What is small waits for what comes next, and is there after all that says that it must be.
func TestSmallEventsAreWrittenTogether(t *testing.T) {
	for name, then := range map[string]func(*Log) error{
		"nothing": func(*Log) error { return nil }, "flush": (*Log).Flush, "sync": (*Log).Sync, "close": (*Log).Close,
		"acknowledged": func(l *Log) error { return l.Acked(0, false) },
		"another plan": func(l *Log) error { return l.Start("0.1", "d", 2, 2) },
		"many": func(l *Log) error {
			for seq := range uint64(mostLate / 100) {
				raw, err := json.Marshal(event(seq+3, wire.Done, "1", "2"))
				if err == nil {
					err = l.Event(raw)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	} {
		s := open(t, t.TempDir())
		l, err := s.Begin(Head{Run: "r", Host: "h", Boot: "b"})
		if err != nil {
			t.Fatal(err)
		}
		for seq := range uint64(2) {
			raw, err := json.Marshal(event(seq+1, wire.Done, "1", "2"))
			if err == nil {
				err = l.Event(raw)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := then(l); err != nil {
			t.Fatal(err)
		}
		found, errs := s.Recover()
		if len(errs) > 0 || len(found) != 1 || found[0].Seq >= 2 != (name != "nothing") {
			t.Errorf("after %s: found %+v, %v", name, found, errs)
		}
	}
}

func TestLogTellsWhatWasInterruptedAndUnsent(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	head := Head{Run: "r", Host: "web/1", Issuer: "me", HostKey: wire.NewKey(), RunKey: wire.NewKey(), Lease: time.Minute,
		Opened: time.Now().Round(0)}
	l, err := s.Begin(head)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Start("0.0", "digest", 1, 0); err != nil {
		t.Fatal(err)
	}
	add(t, l, event(1, wire.Started, "1", ""), event(2, wire.Done, "1", "2"), event(3, wire.Started, "2", ""))
	if err := errors.Join(l.Acked(1, false), l.Sync(), l.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"event":{"seq":4,"ki`); err != nil {
		t.Fatal(err)
	}
	f.Close()

	for range 2 { // what was cut off is gone for good
		found, errs := s.Recover()
		if len(errs) > 0 || len(found) != 1 {
			t.Fatalf("found %d, %v", len(found), errs)
		}
		got := found[0]
		head.Version = layout
		if diff := cmp.Diff(head, got.Head); diff != "" {
			t.Error(diff)
		}
		if want := (Place{Play: "0.0", Doing: "2", At: "2"}); got.Place != want {
			t.Errorf("place %+v, want %+v", got.Place, want)
		}
		if got.Seq != 3 || len(got.Unsent) != 2 || got.Unsent[0].Seq != 2 {
			t.Errorf("seq %d, unsent %+v", got.Seq, got.Unsent)
		}
		if err := got.Log.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestLogIsWrittenAnewWhenAllIsAcknowledged(t *testing.T) {
	s := open(t, t.TempDir())
	l, err := s.Begin(Head{Run: "r", Host: "h"})
	if err != nil {
		t.Fatal(err)
	}
	e := event(1, wire.Done, "1", "")
	e.Text = strings.Repeat("x", rewriteAbove)
	add(t, l, e)
	if err := l.Acked(1, true); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(l.path); err != nil || st.Size() > 1000 {
		t.Errorf("the log has %d bytes, %v", st.Size(), err)
	}
	add(t, l, event(2, wire.Ended, "", ""))
	found, errs := s.Recover()
	if len(errs) > 0 || len(found) != 1 || found[0].Seq != 2 || len(found[0].Unsent) != 1 || !found[0].Place.Ended {
		t.Errorf("found %+v, %v", found, errs)
	}
	if err := l.Remove(); err != nil {
		t.Error(err)
	}
	if found, _ := s.Recover(); len(found) != 0 {
		t.Errorf("%d logs are left", len(found))
	}
}

func TestLogsThatCannotBeReadAreTold(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	for name, text := range map[string]string{"a": "", "b": "garbage\n", "c": `{"head":{"version":99}}` + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, "sessions", name+".log"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if found, errs := s.Recover(); len(found) != 0 || len(errs) != 3 {
		t.Errorf("found %d, %d errors: %v", len(found), len(errs), errs)
	}
}

// served gives the pieces of a file and counts how many are asked for at once.
type served struct {
	body     []byte
	size     int
	secret   bool
	now, max atomic.Int32
	n        atomic.Int32
}

func (s *served) piece(_ context.Context, offset int64) (Piece, error) {
	s.n.Add(1)
	now := s.now.Add(1)
	defer s.now.Add(-1)
	for {
		m := s.max.Load()
		if now <= m || s.max.CompareAndSwap(m, now) {
			break
		}
	}
	from := min(offset, int64(len(s.body)))
	to := min(from+int64(s.size), int64(len(s.body)))
	return Piece{Data: s.body[from:to], Last: to == int64(len(s.body)), Secret: s.secret}, nil
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func TestBlobsArePulledOnceWhole(t *testing.T) {
	b, err := OpenBlobs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 999, 1000, 1001, 5000, 123_456} {
		body := make([]byte, n)
		for i := range body {
			body[i] = byte(i * 31 >> 4)
		}
		src := &served{body: body, size: 1000}
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				f, err := b.Open(t.Context(), digestOf(body), src.piece)
				if err != nil {
					t.Error(err)
					return
				}
				defer f.Close()
				if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, body) {
					t.Errorf("%d bytes came as %d, %v", n, len(got), err)
				}
			})
		}
		wg.Wait()
		if limit := int32(n/1000 + 1 + InFlight); src.n.Load() > limit {
			t.Errorf("%d bytes took %d pieces", n, src.n.Load())
		}
		if src.max.Load() > InFlight {
			t.Errorf("%d pieces were on their way at once", src.max.Load())
		}
	}
}

// TestSecretsAreNotKept: what came out of a vault is read whole, by all who want it, and no file has it at any time.
func TestSecretsAreNotKept(t *testing.T) {
	dir := t.TempDir()
	b, err := OpenBlobs(dir)
	if err != nil {
		t.Fatal(err)
	}
	body := bytes.Repeat([]byte("secret"), 1000)
	src := &served{body: body, size: 1000, secret: true}
	seen := func(ctx context.Context, offset int64) (Piece, error) {
		if list, _ := os.ReadDir(dir); len(list) != 0 {
			t.Errorf("while it is pulled there is %v", list)
		}
		return src.piece(ctx, offset)
	}
	for range 2 {
		f, err := b.Open(t.Context(), digestOf(body), seen)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, body) {
			t.Errorf("it came as %d bytes, %v", len(got), err)
		}
		if list, _ := os.ReadDir(dir); len(list) != 0 {
			t.Errorf("there is %v", list)
		}
		f.Close()
	}
	if src.n.Load() < 12 {
		t.Errorf("it was pulled with %d pieces: the second time it came from somewhere else", src.n.Load())
	}
	if _, err := b.Open(t.Context(), digestOf([]byte("other")), src.piece); err == nil ||
		!strings.Contains(err.Error(), "its sha256 is") {
		t.Errorf("another file: %v", err)
	}
}

func TestBlobsThatAreNotWhatTheyShouldBeAreNotKept(t *testing.T) {
	dir := t.TempDir()
	b, err := OpenBlobs(dir)
	if err != nil {
		t.Fatal(err)
	}
	digest := digestOf([]byte("right"))
	failing := func(context.Context, int64) (Piece, error) {
		return Piece{}, errors.New("the controller is gone")
	}
	for want, piece := range map[string]Pull{
		"its sha256 is":          (&served{body: []byte("wrong"), size: 10}).piece,
		"the controller is gone": failing,
		"its first piece is empty": func(context.Context, int64) (Piece, error) {
			return Piece{}, nil
		},
		"a piece has 1 bytes and not 2": func(_ context.Context, offset int64) (Piece, error) {
			return Piece{Data: []byte("xx")[:2-min(offset, 1)]}, nil
		},
	} {
		if _, err := b.Open(t.Context(), digest, piece); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("err = %v, want %q", err, want)
		}
	}
	if _, err := b.Open(t.Context(), "../../etc/passwd", failing); err == nil ||
		!strings.Contains(err.Error(), "that is not a sha256") {
		t.Errorf("err = %v", err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 0 {
		t.Errorf("%d files are left: %v", len(list), list)
	}
}

func TestHostsMayHaveTheLongestNames(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	for _, host := range []string{strings.Repeat("a", 253), strings.Repeat("b", 253)} {
		l, err := s.Begin(Head{Run: strings.Repeat("r", 26), Host: host})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if all, errs := s.Recover(); len(all) != 2 || len(errs) > 0 {
		t.Errorf("%d sessions are found again (%v)", len(all), errs)
	}
}
