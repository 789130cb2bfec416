package ledger

import (
	"context"
	"strconv"
	"testing"

	"hark/controller/internal/runs/record"
)

// BenchmarkList reads a list of 10,000 runs from a broker, as a reader who comes for the first time.
func BenchmarkList(b *testing.B) {
	r := newRig(b)
	anna := r.person()
	s := newShelf()
	s.make("r0", 50, "")
	one := s.runs["r0"]
	const many = 10_000
	for i := range many {
		w := *one
		w.head.Run = "r" + strconv.Itoa(i)
		text, err := record.AppendLine(nil, &record.Line{Kind: record.KindHead, Head: &w.head})
		if err != nil {
			b.Fatal(err)
		}
		w.headData = packed(text)
		parts := &reading{shelf: s, w: &w}
		if err := Note(anna.home, w.head.Run); err != nil {
			b.Fatal(err)
		}
		m, err := openCheckpoint(anna.home, w.head.Run)
		if err == nil {
			err = anna.Push(context.Background(), parts, m)
		}
		if err != nil {
			b.Fatal(err)
		}
		m.release()
	}
	b.ResetTimer()
	for b.Loop() {
		list, err := r.as(anna).Store().List(b.Context(), record.Filter{})
		if err != nil || len(list.Entries) != many {
			b.Fatal(len(list.Entries), err)
		}
	}
}
