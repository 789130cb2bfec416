package cli

import (
	"strings"
	"testing"

	"hark/controller/internal/runs/record"
)

// Turns of a keeper are one row for each duty, until somebody's run lies between them.
func TestTurnsOfKeepersAreFolded(t *testing.T) {
	entry := func(text string) record.Entry {
		run, duty, _ := strings.Cut(text, " ")
		e := record.Entry{Head: record.Head{Run: run, Duty: duty, Hosts: 1}, State: record.Ended, Foot: &record.Foot{Status: record.OK}, Counts: map[record.HostState]int{record.StateOK: 1}}
		if strings.HasPrefix(run, "x") {
			e.Foot.Status, e.Counts = record.Failed, map[record.HostState]int{record.StateFailed: 1}
		}
		return e
	}
	var all []record.Entry
	for _, text := range []string{"1 base", "2 ntp", "x3 base", "4", "5 base", "6 base", "7"} {
		all = append(all, entry(text))
	}
	var got []string
	for _, folded := range record.MergeTurns(all, false) {
		s, text := turns{folded}, folded.Newest.Head.Run
		if s.N > 1 {
			text += " " + s.text() + " " + s.counts() + " " + s.state()
		}
		got = append(got, text)
	}
	want := "1 2 turns of base 1/0/1/0 1 failed|2|4|5 2 turns of base 2/0/0/0 ok|7"
	if strings.Join(got, "|") != want {
		t.Errorf("%s, want %s", strings.Join(got, "|"), want)
	}
	if n := len(record.MergeTurns(all, true)); n != len(all) {
		t.Errorf("%d rows of %d", n, len(all))
	}
}
