package keeper

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"hark/controller/internal/duties/duty"
	"hark/controller/internal/duties/dutystate"
)

// breaks makes some commits fail.
func breaks(commits ...string) func(*world, Turn, Host) Outcome {
	return func(_ *world, t Turn, _ Host) Outcome {
		if slices.Contains(commits, t.Commit) {
			return Outcome{Status: Broke, Why: "no", Failed: []string{"install"}}
		}
		return Outcome{Status: Done}
	}
}

// with is how many turns had a commit.
func (w *world) with(commit string) int {
	n := 0
	for _, s := range w.starts {
		if s.commit == commit {
			n++
		}
	}
	return n
}

// wellWith fails if not all hosts are well with a commit, or the duty is paused.
func (w *world) wellWith(commit string, hosts int) {
	w.t.Helper()
	for i := range hosts {
		if s := w.of(i); s.Commit != commit || s.Kind == dutystate.Failed {
			w.t.Errorf("web%d is %s with %s: %s", i, s.Kind, s.Commit, s.Why)
		}
	}
	if d := w.defs["base"]; d.Paused != nil || d.Before != "" || d.Commit != commit {
		w.t.Errorf("the duty stands %+v, paused %+v", d, d.Paused)
	}
}

// The first commit fails everywhere and the duty stops. The next one mends it: it goes out in stages by itself, and
// nobody is played the broken one again.
func TestTheFixGoesOutThoughAllHostsHaveTheBrokenCommit(t *testing.T) {
	for _, stages := range []string{"", ", after_changes: '1,10%,100%'", ", after_changes: '1,50%,100%'"} {
		w := newWorld(t, 20, "mode: enforce, every: 1h, stop_at: 5%"+stages)
		w.fate = breaks("c1")
		w.run(2 * time.Hour)
		if w.defs["base"].Paused == nil {
			t.Fatal("it goes on with the broken commit")
		}
		had := w.with("c1")
		w.commit("c2")
		w.run(8 * time.Hour)
		w.wellWith("c2", 20)
		if n := w.with("c1"); n != had {
			t.Errorf("%q: the broken commit was played %d times more", stages, n-had)
		}
	}
}

// A commit was good on all hosts until something broke: its failures are not those of the fix, which reaches the
// hosts that fail at their next turn.
func TestTheFixGoesOutThoughWhatWasGoodFailsMeanwhile(t *testing.T) {
	w := newWorld(t, 4, "mode: enforce, every: 10m, stop_at: 2, after_changes: '1,50%,100%'")
	w.run(20 * time.Minute)
	w.fate = breaks("c1")
	w.run(10 * time.Minute)
	if p := w.defs["base"].Paused; p == nil || p.Commit != "c1" {
		t.Fatalf("%+v", p)
	}
	w.commit("c2")
	for range 12 {
		w.run(5 * time.Minute)
		if p := w.defs["base"].Paused; p != nil {
			t.Fatalf("the fix is stopped: %s", p.Why)
		}
	}
	w.wellWith("c2", 4)
}

// A bad commit goes to one host, and the fix follows: the others go on with the commit that was good.
func TestOnlyTheFirstStageGetsABadCommit(t *testing.T) {
	w := newWorld(t, 10, "mode: enforce, every: 10m, after_changes: '1,100%'")
	w.run(20 * time.Minute)
	w.fate = breaks("c2")
	w.commit("c2")
	w.run(time.Hour)
	if n := w.with("c2"); n != 1 {
		t.Errorf("%d hosts had the bad commit", n)
	}
	w.commit("c3")
	before := len(w.starts)
	w.run(9 * time.Minute)
	if n := len(w.starts) - before; n < 8 || w.with("c3") != 1 {
		t.Errorf("in the first stage %d hosts were played, %d of them the fix", n, w.with("c3"))
	}
	w.run(time.Hour)
	w.wellWith("c3", 10)
	if n := w.with("c2"); n != 1 {
		t.Errorf("%d turns had the bad commit", n)
	}
}

// A failure in the slot counts against the commit that it was with, and not against the good one after it.
func TestAFailureIsThatOfItsCommitAndSlot(t *testing.T) {
	w := newWorld(t, 2, "mode: enforce, every: 30m, splay: 1m")
	w.fate = breaks("c1")
	w.run(5 * time.Minute)
	if p := w.defs["base"].Paused; p == nil || p.Commit != "c1" {
		t.Fatalf("%+v", p)
	}
	w.commit("c2")
	w.run(10 * time.Minute) // in the same slot
	if p := w.defs["base"].Paused; p != nil {
		t.Fatalf("%s", p.Why)
	}
	w.run(time.Hour)
	w.wellWith("c2", 2)
	// A turn with the old commit that ends when the new one is in force is none of it.
	w.took = 2 * time.Minute
	w.fate = breaks("c2")
	for w.now.Minute()%30 != 0 || len(w.going) == 0 {
		w.run(30 * time.Second)
	}
	w.commit("c3")
	w.run(5 * time.Minute)
	if p := w.defs["base"].Paused; p != nil {
		t.Errorf("%s", p.Why)
	}
}

// Hosts whose stage has not come are played what the duty was in their commit: its play, its mode, its variables.
func TestADutyIsReadFromTheCommitThatIsPlayed(t *testing.T) {
	w := newWorld(t, 10, "mode: check, every: 10m, tags: old, after_changes: '1,100%'")
	w.run(20 * time.Minute)
	d := &w.plan.Duties[0].Duty
	d.Play, d.Mode, d.Tags = "b.yml", duty.Enforce, nil
	before := len(w.starts)
	w.commit("c2")
	w.run(3 * time.Hour)
	if w.with("c1") <= 10 || w.with("c2") <= 10 {
		t.Errorf("%d turns of the old, %d of the new", w.with("c1"), w.with("c2"))
	}
	for _, s := range w.starts[before:] {
		if want := map[string]string{"c1": "a.yml check", "c2": "b.yml enforce"}[s.commit]; s.play+" "+
			string(s.mode) != want && !s.looks {
			t.Fatalf("%s at %s is played %s, %s", s.host, s.commit, s.play, s.mode)
		}
	}
	// A duty that the commit before does not have waits for its stage.
	w.plan.Duties[0].Play = "c.yml"
	delete(w.old, "c2")
	before = len(w.starts)
	w.commit("c3")
	w.run(9 * time.Minute)
	for _, s := range w.starts[before:] {
		if s.commit != "c3" {
			t.Errorf("%s was played %s of %s", s.host, s.play, s.commit)
		}
	}
}

// A command that says each time that it has changed something is noise from the second enforcing turn on, though no
// check can see it.
func TestACommandThatChangesEachTimeIsNoise(t *testing.T) {
	w := newWorld(t, 1, "mode: enforce, every: 10m")
	w.fate = func(w *world, t Turn, _ Host) Outcome {
		if t.Mode == duty.Check {
			return Outcome{Status: Done, Tasks: 2, Blind: []string{"stamp"}}
		}
		o := Outcome{Status: Done, Tasks: 2, Changes: []dutystate.Change{{Task: "stamp"}}}
		if len(w.starts) == 12 {
			o.Changes = append(o.Changes, dutystate.Change{Task: "conf"})
		}
		return o
	}
	w.run(5 * time.Minute)
	if s := w.of(0); s.Kind != dutystate.Mended {
		t.Errorf("at first it is %s", s.Kind)
	}
	w.run(25 * time.Minute)
	if s := w.of(0); s.Kind != dutystate.Kept || !slices.Contains(s.Noise, "stamp") {
		t.Errorf("it is %s, noise %v", s.Kind, s.Noise)
	}
	w.restart()
	w.run(3 * time.Hour)
	s := w.of(0)
	if s.Past[0].Kind != dutystate.Kept || s.Past[1].Kind != dutystate.Mended ||
		!slices.Equal(s.Past[1].Tasks, []string{"conf"}) {
		t.Errorf("%+v", s.Past)
	}
	w.commit("c2") // which may have another command of this name
	w.run(5 * time.Minute)
	if s := w.of(0); s.Commit == "c2" && s.Kind == dutystate.Kept {
		t.Errorf("noise of another commit counts: %+v", s)
	}
}

// The tasks that are noise go along with a turn, so that one that finds nothing else leaves no record.
func TestATurnKnowsItsNoise(t *testing.T) {
	a := NewTurnResult()
	a.hosts["web1"] = &tally{Outcome: Outcome{Changes: []dutystate.Change{{Task: "stamp"}}}}
	j := &Job{Hosts: []Host{{Name: "web1", Agent: "a1"}}}
	if a.Clean(j) {
		t.Error("a change is clean")
	}
	j.Noise = map[string][]string{"a1": {"stamp"}}
	if !a.Clean(j) {
		t.Error("noise is not")
	}
	a.hosts["web1"].Failed = []string{"stamp"}
	if a.Clean(j) {
		t.Error("a failure is")
	}
	w := newWorld(t, 1, "mode: check, every: 10m, ignore: [cache]")
	var got []string
	w.fate = func(_ *world, t Turn, h Host) Outcome {
		got = t.Noise[h.Agent]
		return Outcome{Status: Done, Changes: []dutystate.Change{{Task: "date"}}}
	}
	if _, _, err := w.board.Apply(w.now, "anna", Request{What: RequestBaseline, Duty: "base"}); err != nil {
		t.Fatal(err)
	}
	w.run(time.Hour)
	if want := []string{"cache", "date"}; !slices.Equal(got, want) {
		t.Errorf("noise %v, want %v", got, want)
	}
}

// A duty with `once` is done once on each host, also where it was away for a while or the keeper was started again;
// not long after, and not again.
func TestADutyThatIsDoneOnceIsDoneOnce(t *testing.T) {
	w := newWorld(t, 3, "mode: enforce, once: '2026-10-12 02:00 UTC', splay: 10m, catch_up: 6h")
	away := true
	w.fate = func(_ *world, _ Turn, h Host) Outcome {
		if h.Name == "web2" && away {
			return Outcome{Status: Away}
		}
		return Outcome{Status: Done}
	}
	w.run(time.Hour)
	if len(w.starts) != 0 || w.defs["base"].Next.IsZero() {
		t.Fatalf("%+v, next %v", w.starts, w.defs["base"].Next)
	}
	w.run(2 * time.Hour)
	w.restart()
	w.run(time.Hour)
	if len(w.starts) != 2 || w.of(2).Kind != dutystate.Absent {
		t.Fatalf("%+v, %+v", w.starts, w.of(2))
	}
	away = false
	w.board.Hello(w.now, "agent00002")
	w.run(time.Minute)
	w.restart()
	w.commit("c2")
	w.run(300 * 24 * time.Hour)
	if len(w.starts) != 3 || w.of(2).Kind != dutystate.Kept {
		t.Errorf("%+v", w.starts)
	}
	d := w.defs["base"]
	if d.Late(w.now) || !d.Next.IsZero() || d.Every != "once 2026-10-12 02:00 UTC" {
		t.Errorf("%+v", d)
	}
	late := newWorld(t, 2, "mode: enforce, once: '2026-10-01 02:00 UTC'") // as a keeper that has lost all it knew
	late.run(24 * time.Hour)
	if len(late.starts) != 0 {
		t.Errorf("%+v", late.starts)
	}
}

// A host that is no longer one of a duty is counted no more.
func TestHostsThatLeaveADutyAreGone(t *testing.T) {
	w := newWorld(t, 3, "mode: check, every: 10m")
	w.run(20 * time.Minute)
	w.plan.Duties[0].Hosts = w.plan.Duties[0].Hosts[:2]
	w.commit("c2")
	w.run(10 * time.Minute)
	if w.of(0).Gone || !w.of(2).Gone || w.defs["base"].Count != 2 {
		t.Errorf("%+v, %+v", w.of(2), w.defs["base"])
	}
	w.plan.Duties[0].Hosts = append(w.plan.Duties[0].Hosts, Host{Name: "web2", Agent: fmt.Sprintf("agent%05d", 2)})
	w.commit("c3")
	w.run(20 * time.Minute)
	if s := w.of(2); s.Gone || s.Kind != dutystate.Kept {
		t.Errorf("%+v", s)
	}
}
