package strategy

import (
	"fmt"
	"testing"
)

func TestSplit(t *testing.T) {
	five := []string{"a", "b", "c", "d", "e"}
	for _, c := range []struct {
		serial []string
		want   string
	}{
		{nil, "[[a b c d e]]"},
		{[]string{"2"}, "[[a b] [c d] [e]]"},
		{[]string{"1", "3"}, "[[a] [b c d] [e]]"},
		{[]string{"30%"}, "[[a] [b] [c] [d] [e]]"},
		{[]string{"1", "50%"}, "[[a] [b c] [d e]]"},
		{[]string{"1%"}, "[[a] [b] [c] [d] [e]]"},
		{[]string{"0"}, "[[a b c d e]]"},
		{[]string{"2", "-1"}, "[[a b] [c d e]]"},
	} {
		got, err := split(five, c.serial)
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("split by %v is %v (%v), want %s", c.serial, got, err, c.want)
		}
	}
	if _, err := split(five, []string{"many"}); err == nil {
		t.Error("split by a word was no error")
	}
	if got, _ := split(nil, []string{"2"}); got != nil {
		t.Errorf("split of no hosts is %v", got)
	}
}

func TestThePlayEndsWithABatchOfWhichNobodyIsLeft(t *testing.T) {
	for _, c := range []struct {
		name  string
		done  func(f *HostStates, batch []string) (Balance, bool)
		turns int
		broke bool
	}{
		{"all are well", func(*HostStates, []string) (Balance, bool) { return Balance{}, false }, 3, false},
		// the last is of one host
		{"some have failed", func(f *HostStates, batch []string) (Balance, bool) {
			f.Fail(batch[0])
			return Balance{},
				false
		}, 3, true},
		{"all have failed", func(f *HostStates, batch []string) (Balance, bool) {
			for _, h := range batch {
				f.Fail(h)
			}
			return Balance{}, false
		}, 1, true},
		{"a failure was one of all", func(*HostStates, []string) (Balance, bool) { return Balance{Broken: true}, false }, 3,
			true},
		{"the play was ended", func(*HostStates, []string) (Balance, bool) { return Balance{EndPlay: true}, false }, 1,
			false},
		{"too many are lost", func(*HostStates, []string) (Balance, bool) { return Balance{}, true }, 1, true},
	} {
		fates := NewHostStates()
		b, err := NewBatches([]string{"a", "b", "c", "d", "e"}, []string{"2"}, fates)
		if err != nil {
			t.Fatal(err)
		}
		turns := 0
		for batch, ok := b.Next(); ok; batch, ok = b.Next() {
			turns++
			b.Done(c.done(fates, batch))
		}
		if turns != c.turns || b.Broke() != c.broke {
			t.Errorf("%s: %d batches, broke %v", c.name, turns, b.Broke())
		}
	}
}
