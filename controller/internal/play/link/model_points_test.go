package link

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hark/controller/internal/fleet/roster"
)

// TestAFaultAtAnyMessageOfAPlay makes trouble at each message between a host and the controller: when it is sent,
// taken or answered. No step is done twice, no report is false, and a restart costs the play nothing.
func TestAFaultAtAnyMessageOfAPlay(t *testing.T) {
	for name, f := range map[string]struct {
		trouble func(*model, *modelHost)
		costs   bool // the host may be lost
	}{
		"restart":          {trouble: (*model).restart},
		"two restarts":     {trouble: func(m *model, h *modelHost) { m.restart(h); m.restart(h) }},
		"killed":           {func(m *model, h *modelHost) { m.kill(h, whole); m.boot(h) }, true},
		"killed, restart":  {func(m *model, h *modelHost) { m.kill(h, whole); m.boot(h); m.restart(h) }, true},
		"restart, killed":  {func(m *model, h *modelHost) { m.restart(h); m.kill(h, whole); m.boot(h) }, true},
		"power":            {func(m *model, h *modelHost) { m.cutPower(h); m.boot(h) }, true},
		"power, restart":   {func(m *model, h *modelHost) { m.cutPower(h); m.boot(h); m.restart(h) }, true},
		"line cut for 1 s": {func(_ *model, h *modelHost) { h.process.line.cutFor(time.Second) }, false},
	} {
		for _, gated := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, gated=%v", name, gated), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					count := int(playWithFault(t, 0, gated, false, nil))
					if count < modelSteps {
						t.Fatalf("a play had %d messages", count)
					}
					for at := range count {
						if playWithFault(t, at+1, gated, f.costs, f.trouble); t.Failed() {
							t.Fatalf("at message %d of %d", at+1, count)
						}
					}
				})
			})
		}
	}
}

func whole(text []byte) []byte { return text }

// playWithFault plays, and makes trouble on the first host at its message number at. It returns how many messages
// that host had.
func playWithFault(t *testing.T, at int, gated, costs bool, trouble func(*model, *modelHost)) int64 {
	m := newCalmModel(t)
	defer m.close()
	m.gated, m.patience = gated, roster.Restart
	h := m.hosts["h1"]
	var count atomic.Int64
	point := make(chan struct{})
	passes := func() {
		if count.Add(1) == int64(at) {
			close(point)
		}
	}
	h.passes.Store(&passes)
	m.mischief = func(ctx context.Context, x *modelHost) {
		if x != h {
			return
		}
		select {
		case <-point:
			trouble(m, h)
		case <-ctx.Done():
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	m.drive(ctx)
	if ctx.Err() != nil {
		t.Error("the run does not end")
	}
	m.settle()
	m.check()
	for name, x := range m.hosts {
		if lost := !x.lost.IsZero(); (lost || !x.finished) && !(costs && lost && x == h) {
			t.Errorf("%s: lost at %v (%s), finished %v", name, x.lost, x.why, x.finished)
		}
	}
	return count.Load()
}
