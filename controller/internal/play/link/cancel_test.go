package link

import (
	"testing"
	"testing/synctest"
	"time"

	"hark/agent/wire"
)

// A linear play that is cancelled ends at once: one host is in a task, and the batches of the others, which stand at the
// next one, have not been answered.
func TestACancelledLinearPlayEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAfar(t, distance{gated: true}, 1)
		for name := range a.ways {
			task := "0s"
			if name == "h1" {
				task = "1h"
			}
			a.live[name] = ""
			if err := a.hub.Start(t.Context(), start(t, "r1", name, steps("0.0", true, "test.t.wait", task, "0s"))); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.hub.Advance(wire.Advance{Play: "0.0", Step: "1.0"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // less than for how long an answer is held back
		began := time.Now()
		if err := a.hub.Cancel(wire.Cancel{}); err != nil {
			t.Fatal(err)
		}
		for len(a.live) > 0 {
			select {
			case e := <-a.hub.Events():
				a.heed(e)
			case l := <-a.hub.Lost():
				t.Fatalf("%s is lost: %s", l.Host, l.Reason)
			case <-time.After(time.Minute):
				t.Fatalf("there is no end of %v", a.live)
			}
		}
		if took := time.Since(began); took > 500*time.Millisecond {
			t.Errorf("the end took %s", took)
		}
		_ = a.hub.End(t.Context())
		_ = a.hub.Close()
		for _, end := range a.ends {
			end()
		}
		time.Sleep(5 * time.Minute)
	})
}
