package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestNoPageIsWrittenOnABusyMachine(t *testing.T) {
	for _, tt := range []struct {
		name    string
		loads   []float64 // the last one stays
		pauses  int
		refused bool
	}{
		{"idle", []float64{0.2}, 0, false},
		{"just idle", []float64{1}, 0, false},
		{"after a build", []float64{3, 2, 0.9}, 2, false},
		{"busy", []float64{1.01}, tries - 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pauses := 0
			load := func() (float64, error) { return tt.loads[min(pauses, len(tt.loads)-1)], nil }
			err := quiet(t.Context(), load, func(context.Context) error { pauses++; return nil })
			if pauses != tt.pauses || (err != nil) != tt.refused || tt.refused && !strings.Contains(err.Error(), "1.01") {
				t.Errorf("%d pauses, %v", pauses, err)
			}
		})
	}
	stop := errors.New("stop")
	if err := quiet(t.Context(), func() (float64, error) { return 2, nil }, func(context.Context) error { return stop }); err != stop {
		t.Errorf("interrupted: %v", err)
	}
	if now, err := load(); err != nil || now < 0 {
		t.Errorf("the load is %v, %v", now, err)
	}
}

func TestTheMedianCounts(t *testing.T) {
	for want, walls := range map[time.Duration][]time.Duration{3: {9, 1, 3, 2, 8}, 7: {7}, 6: {6, 5}} {
		var costs []cost
		for _, wall := range walls {
			costs = append(costs, cost{Wall: wall})
		}
		if got := median(costs).Wall; got != want {
			t.Errorf("of %v it is %d", walls, got)
		}
	}
}
