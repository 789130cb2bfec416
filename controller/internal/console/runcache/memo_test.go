package runcache

import (
	"errors"
	"fmt"
	"testing"
)

// TestWhatWasMadeIsGivenAgain to those who ask for the same, the last eight things of all.
func TestWhatWasMadeIsGivenAgain(t *testing.T) {
	var m Memo
	made := 0
	ask := func(state string, after int) string {
		data, to, err := m.Make(state, after, func() ([]byte, int, error) {
			made++
			return fmt.Appendf(nil, "%s-%d", state, after), after + 1, nil
		})
		if err != nil || to != after+1 {
			t.Fatal(to, err)
		}
		return string(data)
	}
	for range 3 {
		if got := ask("run", 1); got != "run-1" {
			t.Error(got)
		}
	}
	if ask("run", 2); ask("other", 1) != "other-1" || made != 3 {
		t.Errorf("made %d times, want 3", made)
	}
	for i := range kept {
		ask("more", i)
	}
	if ask("more", 0); made != 3+kept {
		t.Errorf("made %d times, want %d: the last ones are kept", made, 3+kept)
	}
	if ask("run", 1); made != 4+kept || len(m.kept) != kept || len(m.keys) != kept {
		t.Errorf("made %d times, want %d: the oldest are not; %d and %d kept", made, 4+kept, len(m.kept), len(m.keys))
	}
}

// TestWhatCouldNotBeMadeIsTriedAgain: a failure is no answer for others.
func TestWhatCouldNotBeMadeIsTriedAgain(t *testing.T) {
	var m Memo
	broken := errors.New("broken")
	if _, _, err := m.Make("run", 1, func() ([]byte, int, error) { return nil, 0, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	if data, to, err := m.Make("run", 1, func() ([]byte, int, error) { return []byte("x"), 7, nil }); string(
		data) != "x" || to != 7 || err != nil {
		t.Error(data, to, err)
	}
}
