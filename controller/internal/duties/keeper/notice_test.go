package keeper

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/notify"
)

// texts are what was told since the call before.
func (w *world) texts() string {
	var all []string
	for _, n := range w.told {
		all = append(all, string(n.What)+" "+n.Text)
	}
	w.told = nil
	return strings.Join(all, "\n")
}

func (w *world) tells(want ...string) {
	w.t.Helper()
	if got := w.texts(); got != strings.Join(want, "\n") {
		w.t.Errorf("told:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

const toNats = `, notify: {to: "nats:", gather: 1m`

// Somebody is told when the state of hosts changes, once, with all hosts whose turns were at the same time, and when
// it is over.
func TestAChangeIsToldOnce(t *testing.T) {
	w := newWorld(t, 8, "mode: check, every: 10m, splay: 1s"+toNats+"}")
	bad := 3
	kind := Outcome{Status: Broke, Why: "no space left", Failed: []string{"install"}}
	w.fate = func(_ *world, _ Turn, h Host) Outcome {
		if h.Name < fmt.Sprint("web", bad) {
			return kind
		}
		return Outcome{Status: Done}
	}
	w.run(time.Hour)
	if len(w.told) != 1 || w.told[0].To[0] != "nats:" || w.told[0].Causes[0].Why != "no space left" || w.told[0].Of != 8 ||
		w.told[0].Key != "duty/base/failed" {
		t.Fatalf("%+v", w.told)
	}
	w.tells("failed base: 3 of 8 hosts failed: web[0:2]")
	w.restart() // and tells nothing again
	w.run(time.Hour)
	w.tells()
	bad = 1
	w.run(time.Hour)
	w.tells("fixed base: 2 of 8 hosts no longer fail: web1 web2; 1 are left")
	bad = 0
	w.run(time.Hour)
	if last := w.told[0]; last.Left != 0 || last.Key != "duty/base/failed" {
		t.Errorf("%+v", last)
	}
	w.tells("fixed base: 1 of 8 hosts no longer fail: web0")
	bad, kind = 2, Outcome{Status: Done, Changes: []dutystate.Change{{Task: "nginx : conf"}}}
	w.run(time.Hour)
	w.tells("drifted base: 2 of 8 hosts drift: web0 web1")
	kind = Outcome{Status: Broke, Why: "no"}
	w.run(2 * time.Hour)
	w.tells("fixed base: 2 of 8 hosts no longer drift: web0 web1", "failed base: 2 of 8 hosts failed: web0 web1")
}

// A host that was told of and leaves the duty, as one that the inventory no longer has or that gets an agent of its
// own, is no open matter any more.
func TestAHostThatLeavesTheDutyIsNoOpenMatter(t *testing.T) {
	w := newWorld(t, 3, "mode: check, every: 10m, splay: 1s"+toNats+"}")
	w.fate = func(_ *world, _ Turn, h Host) Outcome {
		if h.Name != "web0" {
			return Outcome{Status: Broke, Why: "no"}
		}
		return Outcome{Status: Done}
	}
	w.run(time.Hour)
	w.tells("failed base: 2 of 3 hosts failed: web1 web2")
	w.plan.Duties[0].Hosts = w.plan.Duties[0].Hosts[:2]
	w.commit("c2")
	w.run(time.Hour)
	if len(w.told) != 1 || w.told[0].Key != "duty/base/failed" || w.told[0].Left != 1 {
		t.Errorf("%+v", w.told)
	}
	w.tells("fixed base: no longer hosts of the duty: web2; 1 are left")
}

// Hosts whose turns are spread over the slot are told of in a few messages.
func TestHostsThatFollowAreGathered(t *testing.T) {
	w := newWorld(t, 120, "mode: check, every: 2h"+toNats+"}")
	w.run(2 * time.Hour)
	w.fate = func(*world, Turn, Host) Outcome { return Outcome{Status: Broke, Why: "no"} }
	w.run(2 * time.Hour)
	hosts := 0
	for _, n := range w.told {
		hosts += len(n.Hosts)
	}
	if len(w.told) > 13 || hosts < 100 {
		t.Errorf("%d messages of %d hosts", len(w.told), hosts)
	}
}

// What is told has thresholds: turns in a row, hosts, how long a host is away.
func TestThresholds(t *testing.T) {
	for _, x := range []struct {
		rule string
		fate func(w *world, h Host) Outcome
		want string
	}{
		{", after: 3", func(w *world, h Host) Outcome { return Outcome{Status: Broke} },
			"failed base: 4 of 4 hosts failed: web[0:3]"},
		{", after: 3", func(w *world, h Host) Outcome {
			if w.now.Minute() < 20 {
				return Outcome{Status: Broke}
			}
			return Outcome{Status: Done}
		}, ""},
		{", hosts: 3", func(w *world, h Host) Outcome {
			if h.Name < "web2" {
				return Outcome{Status: Broke}
			}
			return Outcome{Status: Done}
		}, ""},
		{", hosts: 50%", func(w *world, h Host) Outcome {
			if h.Name < "web2" {
				return Outcome{Status: Broke}
			}
			return Outcome{Status: Done}
		}, "failed base: 2 of 4 hosts failed: web0 web1"},
		{", absent_for: 30m", func(w *world, h Host) Outcome { return Outcome{Status: Away} },
			"absent base: 4 of 4 hosts have been away for 30m: web[0:3]"},
		{", absent_for: 2h", func(w *world, h Host) Outcome { return Outcome{Status: Away} }, ""},
		{", tell: [drifted]", func(w *world, h Host) Outcome { return Outcome{Status: Broke} }, ""},
	} {
		w := newWorld(t, 4, "mode: check, every: 10m, splay: 1s"+toNats+x.rule+"}")
		w.fate = func(w *world, _ Turn, h Host) Outcome { return x.fate(w, h) }
		for range 110 {
			w.run(time.Minute)
		}
		if got := w.texts(); got != x.want {
			t.Errorf("%s: told %q, want %q", x.rule, got, x.want)
		}
	}
}

// At night nobody is told; in the morning what still is so.
func TestNobodyIsToldInQuietHours(t *testing.T) {
	w := newWorld(t, 2, "mode: check, every: 10m, splay: 1s"+toNats+", quiet: '00:00-07:00 UTC'}")
	w.fate = func(w *world, _ Turn, h Host) Outcome {
		if h.Name == "web0" || w.now.Hour() == 3 {
			return Outcome{Status: Broke, Why: "no"}
		}
		return Outcome{Status: Done}
	}
	for w.now.Hour() < 7 {
		w.run(time.Minute)
		if len(w.told) > 0 {
			t.Fatalf("at %v: %s", w.now, w.texts())
		}
	}
	for range 10 {
		w.run(time.Minute)
	}
	w.tells("failed base: 1 of 2 hosts failed: web0")
}

// A duty that stops, and goes on, is told at once, to whom the project tells if the duty says nobody.
func TestAPauseIsTold(t *testing.T) {
	w := newWorld(t, 2, "mode: enforce, every: 10m, splay: 1s, notify: nobody")
	w.fate = breaks("c2")
	w.commit("c2")
	w.run(time.Hour)
	if len(w.told) == 0 || w.told[0].What != notify.Paused || len(w.told[0].To) != 0 {
		t.Errorf("%+v", w.told)
	}
	w = newWorld(t, 2, "mode: enforce, every: 10m, splay: 1s")
	w.fate = breaks("c2")
	w.commit("c2")
	w.run(time.Minute)
	w.tells("paused base: the duty is paused: 1 of 2 hosts failed (stop_at 5%) with c2",
		"failed base: 2 of 2 hosts failed: web0 web1")
	w.restart()
	w.commit("c3")
	w.run(time.Hour)
	w.tells("resumed base: the duty goes on", "fixed base: 2 of 2 hosts no longer fail: web0 web1")
}
