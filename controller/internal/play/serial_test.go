package play

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
