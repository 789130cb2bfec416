package stall

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
)

func TestWhoKeepsTheOthersWaitingIsLeftBehind(t *testing.T) {
	now := time.Unix(1700000000, 0)
	s := NewSlowHosts(time.Minute, func() time.Time { return now })
	s.Released([]string{"a", "b"})
	three := func() []string { return []string{"a", "b", "new"} }
	now = now.Add(40 * time.Second)
	s.Heed(wire.Event{Host: "b", Kind: wire.Started})
	s.Heed(wire.Event{Host: "a", Kind: wire.Warning}) // is no move
	if d, waits := s.Wake(three); !waits || d != 20*time.Second {
		t.Errorf("the next look is in %s, %v", d, waits)
	}
	now = now.Add(20 * time.Second)
	if got := s.Behind(three); !slices.Equal(got, []string{"a"}) {
		t.Errorf("left behind are %v", got)
	}
	if _, waits := s.Wake(func() []string { return nil }); waits {
		t.Error("nobody is waited for, and the clock runs")
	}
	none := NewSlowHosts(0, func() time.Time { return now })
	none.Released([]string{"a"})
	if now = now.Add(time.Hour); none.Behind(three) != nil {
		t.Error("a host is left behind without a limit")
	}
}

func TestItIsSaidOnceWhomTheRunWaitsFor(t *testing.T) {
	now := time.Unix(1700000000, 0)
	v := NewDetector(time.Minute, func() time.Time { return now })
	hosts := func() []string { return []string{"a", "b", "c", "d", "e"} }
	at := func(host string) string { return "task [of " + host + "]" }
	if got := v.Text(hosts, at); got != "" {
		t.Errorf("said too early: %s", got)
	}
	now = now.Add(time.Minute)
	if got := v.Text(hosts, at); !strings.HasSuffix(got, "for 1m0s: the run waits for a, b, c and 2 more at task [of a]") {
		t.Errorf("said: %s", got)
	}
	if _, waits := v.Wake(); waits {
		t.Error("it is looked again although nothing has come")
	}
	v.Stir()
	now = now.Add(time.Minute)
	if got := v.Text(hosts, at); got != "" {
		t.Errorf("said again of the same place: %s", got)
	}
	v.Stir()
	now = now.Add(time.Minute)
	if got := v.Text(func() []string { return nil }, at); got != "" {
		t.Errorf("said of nobody: %s", got)
	}
}
