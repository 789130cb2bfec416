package store

import "testing"

func TestSizeOfTheFleetIsKept(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := s.FleetSize(); n != 0 {
		t.Errorf("nobody said anything, and there are %d", n)
	}
	for _, c := range [][2]int{{10, 10}, {11, 10}, {10_000, 10_000}, {6000, 10_000}, {40, 40}} {
		if err := s.KeepFleetSize(c[0]); err != nil || s.FleetSize() != c[1] {
			t.Errorf("%d agents are kept as %d (%v), want %d", c[0], s.FleetSize(), err, c[1])
		}
	}
}
