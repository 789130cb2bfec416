package main

import "testing"

// What is in use and much is not doubled; little may grow before it is collected.
func TestLittleIsNotCollectedAllTheTime(t *testing.T) {
	for _, tt := range []struct {
		live uint64
		want int
	}{{0, 200}, {3 << 20, 200}, {8 << 20, 100}, {16 << 20, 50}, {60 << 20, 50}} {
		if got := percentFor(tt.live); got != tt.want {
			t.Errorf("%d MB in use: %d %%, want %d", tt.live>>20, got, tt.want)
		}
	}
}
