package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"hark/agent/wire"
	"hark/controller/internal/runs/record"
)

// shelf is a sink that keeps what it is given.
type shelf struct {
	frames [][]byte
	parts  []record.Part
	foot   *record.Foot
	closed int
	fail   error
}

func (s *shelf) Begin(_ record.Head, data []byte) error {
	s.frames = append(s.frames, data)
	return s.fail
}

func (s *shelf) Part(p record.Part) error {
	s.parts, s.frames = append(s.parts, p), append(s.frames, p.Data)
	return nil
}

func (s *shelf) End(f record.Foot, data []byte) error {
	s.foot, s.frames = &f, append(s.frames, data)
	return nil
}

func (s *shelf) Close() error {
	s.closed++
	return nil
}

// lines are the lines of all frames.
func (s *shelf) lines(t *testing.T) []record.Line {
	t.Helper()
	dec, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	var out []record.Line
	for _, frame := range s.frames {
		text, err := dec.DecodeAll(frame, nil)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			l, err := record.DecodeLine(line)
			if err != nil {
				t.Fatal(err)
			}
			l.N = int64(len(out))
			out = append(out, l)
		}
	}
	return out
}

// ticking is a clock that goes on by 5 µs with each look.
func ticking() func() time.Time {
	var mu sync.Mutex
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(5 * time.Microsecond)
		return now
	}
}

func noFailure(t *testing.T) func(error) {
	return func(err error) { t.Errorf("a sink failed: %v", err) }
}

func TestPartsHaveAllLinesInOrder(t *testing.T) {
	kept := &shelf{}
	now := ticking()
	w := record.NewWriter(record.WriterOptions{Now: now, Failed: noFailure(t)}, kept)
	w.Begin(record.Head{Run: "r1", At: now(), Line: []string{"hark"}})
	const n = 300
	for i := range n {
		status := wire.OK
		if i == 7 {
			status = wire.StatusFailed
		}
		w.Tell(&record.Line{Kind: record.KindDone, Task: 1, Host: i + 1, Status: status, Text: strings.Repeat("x", 10_000)})
	}
	w.End(record.Foot{Status: record.OK})
	lines := kept.lines(t)
	if len(lines) != n+2 || lines[0].Kind != record.KindHead || lines[n+1].Kind != record.KindFoot {
		t.Fatalf("%d lines, %v first, %v last", len(lines), lines[0].Kind, lines[len(lines)-1].Kind)
	}
	for i, l := range lines[1 : n+1] {
		if l.Host != i+1 {
			t.Fatalf("line %d is of host %d", i+1, l.Host)
		}
	}
	first, bad := int64(1), 0
	for i, p := range kept.parts {
		if p.N != i+1 || p.First != first || p.Raw > record.PartSize+20_000 || len(kept.foot.Parts) <= i ||
			kept.foot.Parts[i] != p.PartSum {
			t.Errorf("part %d: %+v", i+1, p.PartSum)
		}
		first += int64(p.Lines)
		bad += p.Bad
	}
	if len(kept.parts) < 3 || first != n+1 || bad != 1 || kept.foot.Lines != n+2 || kept.closed != 1 {
		t.Errorf("%d parts up to line %d, %d bad, %d lines, closed %d times", len(kept.parts), first, bad, kept.foot.Lines,
			kept.closed)
	}
}

func TestFailedSinkIsToldOnceAndOthersGoOn(t *testing.T) {
	broken, kept := &shelf{fail: errors.New("no space left")}, &shelf{}
	var told []error
	now := ticking()
	w := record.NewWriter(record.WriterOptions{Now: now, Failed: func(err error) { told = append(told, err) }}, broken,
		kept)
	w.Begin(record.Head{Run: "r1", At: now()})
	w.Tell(&record.Line{Kind: record.KindSaid, Text: "hello"})
	w.End(record.Foot{Status: record.OK})
	if len(told) != 1 || broken.closed != 1 || len(broken.parts) != 0 || broken.foot != nil {
		t.Errorf("told %v, closed %d times, %d parts", told, broken.closed, len(broken.parts))
	}
	if got := kept.lines(t); len(got) != 3 {
		t.Errorf("the other sink has %d lines", len(got))
	}
}

// TestBegunRunCanBeFound: from then on the sinks have the head, also beside one that fails.
func TestBegunRunCanBeFound(t *testing.T) {
	broken, kept := &shelf{fail: errors.New("no space left")}, &shelf{}
	now := ticking()
	w := record.NewWriter(record.WriterOptions{Now: now, Failed: func(error) {}}, broken, kept)
	w.Begin(record.Head{Run: "r1", At: now()})
	w.Begun()
	if len(kept.frames) != 1 {
		t.Errorf("the sink has %d frames, want the head", len(kept.frames))
	}
	w.End(record.Foot{Status: record.OK})
}

// stuck is a sink that waits.
type stuck struct {
	shelf
	let chan struct{}
}

func (s *stuck) Part(p record.Part) error {
	<-s.let
	return s.shelf.Part(p)
}

func TestSlowSinkLosesLinesAndSaysSo(t *testing.T) {
	slow := &stuck{let: make(chan struct{})}
	now := ticking()
	w := record.NewWriter(record.WriterOptions{Now: now, Failed: noFailure(t)}, slow)
	w.Begin(record.Head{Run: "r1", At: now()})
	big := strings.Repeat("x", record.PartSize)
	for i := range 60 {
		w.Tell(&record.Line{Kind: record.KindSaid, Text: big, Level: i})
	}
	close(slow.let)
	w.End(record.Foot{Status: record.OK})
	if slow.foot.Incomplete == "" {
		t.Error("the foot does not say that lines are missing")
	}
	if n := len(slow.parts); n < 16 || n > 40 {
		t.Errorf("%d parts were kept", n)
	}
	if got := slow.lines(t); int64(len(got)) != slow.foot.Lines {
		t.Errorf("%d lines, the foot says %d", len(got), slow.foot.Lines)
	}
}

func TestNewerRecordIsRefused(t *testing.T) {
	text, err := record.AppendLine(nil,
		&record.Line{Kind: record.KindHead, Head: &record.Head{V: record.Version + 1, Run: "r1"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = record.DecodeLine(text)
	var newer *record.NewerError
	if !errors.As(err, &newer) || newer.Version != record.Version+1 {
		t.Errorf("%v", err)
	}
}

func TestFootCountsFoldedHosts(t *testing.T) {
	f := record.Foot{Hosts: map[record.HostState][]string{record.StateOK: {"web[1:300]", "db1"},
		record.StateFailed: {"web[x]"}}}
	if f.Count(record.StateOK) != 301 || !slices.Equal(f.Names(record.StateFailed), []string{"web[x]"}) {
		t.Error(fmt.Sprint(f.Count(record.StateOK), f.Names(record.StateFailed)))
	}
}
