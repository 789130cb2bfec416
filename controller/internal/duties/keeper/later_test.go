package keeper

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hark/controller/internal/duties/dutystate"
)

// postponed is a world without duties in which a play was put off, for a week, and who is there.
func postponed(t *testing.T, hosts int) (w *world, there map[string]bool) {
	t.Helper()
	w = newWorld(t, hosts, "mode: enforce, every: 1h")
	p := NewDeferredPlay("base", "a.yml", "anna", &DeferredPlay{Until: w.now.Add(7 * 24 * time.Hour),
		Flags: []string{"--tags", "x"}})
	p.Hosts = w.plan.Duties[0].Hosts
	w.plan.Duties, w.states, w.defs = nil, map[string]dutystate.State{}, map[string]dutystate.Definition{}
	w.restart()
	states, d := w.board.PutOff(w.now, "c0", p)
	w.keep(states, []dutystate.Definition{d})
	there = map[string]bool{}
	w.fate = func(_ *world, turn Turn, h Host) Outcome {
		if turn.Commit != "c0" || !slices.Equal(turn.Flags, p.Later.Flags) {
			t.Errorf("it is played as %+v", turn)
		}
		if there[h.Name] {
			return Outcome{Status: Done}
		}
		return Outcome{Status: Away}
	}
	return w, there
}

func TestAPlayThatIsPutOffReachesHostsUntilItsTime(t *testing.T) {
	w, there := postponed(t, 4)
	there["web0"] = true
	w.run(24 * time.Hour)
	there["web1"], there["web3"] = true, true
	w.board.Hello(w.now, "agent00001")
	fate, until := w.fate, w.now.Add(5*time.Hour)
	w.fate = func(w *world, t Turn, h Host) Outcome {
		if h.Name == "web3" && w.now.Before(until) {
			return Outcome{Status: OnHold, Why: "disk swap", Until: until}
		}
		return fate(w, t, h)
	}
	w.board.Hello(w.now, "agent00003")
	w.run(time.Hour)
	if s := w.of(3); s.Kind != dutystate.Held {
		t.Errorf("web3 stands %+v", s)
	}
	w.commit("c7") // the project goes on, the play does not
	w.run(23 * time.Hour)
	w.restart()
	if c := w.board.Commits(); !slices.Equal(c, []string{"c0"}) {
		t.Errorf("it needs %v", c)
	}
	w.run(5*24*time.Hour + time.Minute)
	if d := w.defs["base"]; d.Gone || d.Later.Ended.IsZero() || !slices.Equal(d.Later.Expired, []string{"web2"}) {
		t.Errorf("it is %+v, %+v", d, d.Later)
	}
	there["web2"] = true
	w.board.Hello(w.now, "agent00002")
	w.restart()
	w.run(24 * time.Hour)
	n := w.slots()
	if n["web0"] != 1 || n["web1"] != 1 || n["web2"] != 0 || n["web3"] != 1 {
		t.Errorf("they had %v turns", n)
	}
	if s := w.of(2); s.Kind != dutystate.Absent || !strings.Contains(s.Why, "expired") {
		t.Errorf("web2 stands %+v", s)
	}
	if c := w.board.Commits(); len(c) != 0 {
		t.Errorf("it still needs %v", c)
	}
	w.run(7 * 24 * time.Hour)
	w.run(time.Minute)
	if !w.defs["base"].Gone {
		t.Error("it is listed for ever")
	}
}

func TestAPlayThatIsPutOffEndsWithItsLastHost(t *testing.T) {
	w, there := postponed(t, 2)
	w.run(time.Hour)
	for i := range 2 {
		if !w.defs["base"].Later.Ended.IsZero() {
			t.Errorf("it ended with %d hosts", i)
		}
		there[w.of(i).Host] = true
		w.board.Hello(w.now, w.of(i).Agent)
		w.run(time.Minute)
	}
	if d := w.defs["base"]; d.Later.Ended.IsZero() || len(d.Later.Expired) > 0 {
		t.Errorf("it is %+v", d.Later)
	}
}

func TestAPlayThatIsPutOffIsCancelled(t *testing.T) {
	w, there := postponed(t, 2)
	w.run(time.Hour)
	for _, a := range []Request{{What: RequestBaseline, Duty: "base"}, {What: AskCancel, Duty: "other"}} {
		if _, _, err := w.board.Apply(w.now, "anna", a); err == nil {
			t.Errorf("%+v was taken", a)
		}
	}
	n, d, err := w.board.Apply(w.now, "anna", Request{What: AskCancel, Duty: "base"})
	if n != 2 || err != nil || !d.Gone {
		t.Fatal(n, d, err)
	}
	w.keep(nil, []dutystate.Definition{d})
	there["web0"] = true
	w.board.Hello(w.now, "agent00000")
	w.run(time.Hour)
	w.restart()
	w.run(time.Hour)
	if len(w.starts) > 0 {
		t.Errorf("it was played: %v", w.starts)
	}
}

func TestADutyOfTheProjectIsNotCancelled(t *testing.T) {
	w := newWorld(t, 1, "mode: check, every: 1h")
	if _, _, err := w.board.Apply(w.now, "anna", Request{What: AskCancel, Duty: "base"}); err == nil ||
		!strings.Contains(err.Error(), "duties.yml") {
		t.Error(err)
	}
}

func TestAPlayThatIsPutOffIsDoneWhenSomebodyWantsIt(t *testing.T) {
	w, there := postponed(t, 1)
	w.run(time.Hour)
	there["web0"] = true
	if _, _, err := w.board.Apply(w.now, "anna", Request{What: AskRun, Duty: "base"}); err != nil {
		t.Fatal(err)
	}
	w.run(time.Hour)
	if len(w.starts) != 1 {
		t.Errorf("it was played %d times", len(w.starts))
	}
	if d := w.defs["base"]; d.Later.Ended.IsZero() {
		t.Errorf("it is %+v, %+v", d.Later, w.of(0))
	}
}
