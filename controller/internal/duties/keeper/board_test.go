package keeper

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/controller/internal/duties/duty"
	"hark/controller/internal/duties/dutystate"
	"hark/playbook/syntax"
)

// world is a fleet, a keeper's store and a clock that the test moves.
type world struct {
	t      *testing.T
	now    time.Time
	board  *Duties
	plan   Plan
	took   time.Duration // a turn
	states map[string]dutystate.State
	defs   map[string]dutystate.Definition
	going  []going
	starts []start
	// begun are the nonces that hosts have begun, as their journals have them.
	begun map[string]bool
	// old are the duty in the commits that are still there.
	old map[string]duty.Duty
	// fate says what becomes of a turn on a host; nil is Done without changes.
	fate func(w *world, t Turn, h Host) Outcome
	most int // turns at a time
	told []Notice
}

type going struct {
	turn Turn
	ends time.Time
	out  map[string]Outcome
}

type start struct {
	host, commit, play string
	slot               int64
	at                 time.Time
	mode               duty.Mode
	push, looks        bool
}

func newWorld(t *testing.T, hosts int, text string) *world {
	t.Helper()
	l := &syntax.Loader{ReadFile: func(string) ([]byte, error) {
		return []byte("- {name: base, play: a.yml, hosts: all, " + text + "}"), nil
	}}
	all, err := duty.Read(l, "duties.yml")
	if err != nil {
		t.Fatal(err)
	}
	p := Planned{Duty: all.Duties[0]}
	for i := range hosts {
		p.Hosts = append(p.Hosts, Host{Name: fmt.Sprint("web", i), Agent: fmt.Sprintf("agent%05d", i)})
	}
	w := &world{
		t: t, now: time.Date(2026, 10, 12, 0, 0, 30, 0, time.UTC), took: 20 * time.Second,
		states: map[string]dutystate.State{}, defs: map[string]dutystate.Definition{},
		begun: map[string]bool{}, plan: Plan{Commit: "c1", Duties: []Planned{p}},
		old: map[string]duty.Duty{},
	}
	w.restart()
	return w
}

// restart is a keeper that begins with what the one before has written. What that one had going on is cut off.
func (w *world) restart() {
	w.board, w.going = NewDuties(), nil
	w.board.Restore(slices.Collect(maps.Values(w.states)), slices.Collect(maps.Values(w.defs)))
	w.load()
}

func (w *world) load() {
	for i := range w.plan.Duties {
		w.plan.Duties[i].At = func(commit string) (duty.Duty, bool) { d, ok := w.old[commit]; return d, ok }
		w.old[w.plan.Commit] = w.plan.Duties[i].Duty
	}
	w.keep(w.board.Load(w.now, w.plan))
}

func (w *world) commit(name string) {
	w.plan.Commit = name
	w.load()
}

func (w *world) keep(states []dutystate.State, defs []dutystate.Definition) {
	for _, s := range states {
		w.states[s.Duty+s.Agent] = s
	}
	for _, d := range defs {
		w.defs[d.Name] = d
	}
}

// step begins what is due and moves the clock to the next thing that happens, at most to a time.
func (w *world) step(until time.Time) {
	turns, states, defs := w.board.Due(w.now)
	w.keep(states, defs)
	for _, t := range turns {
		w.begin(t)
	}
	told, states, defs := w.board.Tell(w.now)
	w.keep(states, defs)
	w.told = append(w.told, told...)
	running := 0
	for _, g := range w.going {
		running += len(g.turn.Hosts)
	}
	w.most = max(w.most, running)
	next := until
	if at := w.board.Wake(w.now); !at.IsZero() && at.Before(next) {
		next = at
	}
	if at := w.board.tellWake(w.now); !at.IsZero() && at.Before(next) {
		next = at
	}
	for _, g := range w.going {
		if g.ends.Before(next) {
			next = g.ends
		}
	}
	if next.After(w.now) {
		w.now = next
	}
	rest := w.going[:0:0]
	for _, g := range w.going {
		if g.ends.After(w.now) {
			rest = append(rest, g)
			continue
		}
		w.keep(w.board.Done(w.now, g.turn, g.out))
	}
	w.going = rest
}

func (w *world) begin(t Turn) {
	out := map[string]Outcome{}
	for _, h := range t.Hosts {
		o := Outcome{Status: Done, Tasks: 3}
		if w.fate != nil {
			o = w.fate(w, t, h)
		}
		if o.Status != Away && o.Status != Busy && o.Status != OnHold {
			if w.begun[h.Agent+t.Nonce] {
				o = Outcome{Status: Twice}
			} else {
				w.begun[h.Agent+t.Nonce] = true
				w.starts = append(w.starts, start{h.Name, t.Commit, t.Duty.Play, t.Slot.ID(), w.now, t.Mode, t.Push, t.Looks})
			}
		}
		out[h.Agent] = o
	}
	w.going = append(w.going, going{t, w.now.Add(w.took), out})
}

func (w *world) run(d time.Duration) {
	for until := w.now.Add(d); w.now.Before(until); {
		w.step(until)
	}
}

func (w *world) of(host int) dutystate.State { return w.states[fmt.Sprintf("baseagent%05d", host)] }

// slots fails if a host had two turns in a slot, and gives how many each had.
func (w *world) slots() map[string]int {
	w.t.Helper()
	seen := map[string]time.Time{}
	n := map[string]int{}
	for _, s := range w.starts {
		key := fmt.Sprint(s.host, " ", s.slot)
		if at, twice := seen[key]; twice {
			w.t.Fatalf("%s had the slot of %v at %v and at %v", s.host, time.Unix(s.slot, 0).UTC(), at, s.at)
		}
		seen[key] = s.at
		n[s.host]++
	}
	return n
}

func TestEachHostGetsEachSlotOnceInAMonth(t *testing.T) {
	w := newWorld(t, 40, "mode: check, every: 2h, window: 'Mon-Fri 01:00-05:00 Europe/Berlin', at_once: 3")
	w.run(30 * 24 * time.Hour)
	// 22 nights of four hours, of which the slots of two hours, which begin at even hours of UTC, leave three pieces,
	// or two in winter.
	berlin, _ := time.LoadLocation("Europe/Berlin")
	for host, n := range w.slots() {
		if n < 22*2 || n > 22*3 {
			t.Errorf("%s had %d turns", host, n)
		}
	}
	for _, s := range w.starts {
		if at := s.at.In(berlin); at.Hour() < 1 || at.Hour() >= 5 || at.Weekday() == time.Saturday ||
			at.Weekday() == time.Sunday {
			t.Fatalf("%s was at it at %v", s.host, at)
		}
	}
	w.load() // as each look at the project
	sweeps := w.defs["base"].Sweeps
	for _, s := range sweeps[1:] {
		if s.Hosts[dutystate.Kept] != 40 {
			t.Errorf("the sweep of %v is %v", s.Slot, s.Hosts)
		}
	}
	if len(sweeps) != dutystate.MostPast {
		t.Errorf("%d sweeps", len(sweeps))
	}
	if len(w.slots()) != 40 || w.most > 3 {
		t.Errorf("%d hosts, at most %d at a time", len(w.slots()), w.most)
	}
	for i := range 40 {
		if s := w.of(i); s.Kind != dutystate.Kept || s.Missed != 0 || s.Past[0].Times < 44 || len(s.Past) != 1 {
			t.Fatalf("web%d: %+v", i, s)
		}
	}
}

func TestAHostThatWasAwayGetsWhatItMissedOnce(t *testing.T) {
	for _, x := range []struct {
		text string
		away time.Duration
		want int // turns within a second of coming back
	}{
		{"mode: check, every: 30m", 71 * time.Hour, 1},
		{"mode: check, every: 30m", 75 * time.Hour, 0},
		{"mode: check, every: 30m, catch_up: never", time.Hour, 0},
		{"mode: check, every: 30m, catch_up: 30d, window: '22:00-23:00 UTC'", 60 * time.Hour, 0}, // it comes back at noon
	} {
		w := newWorld(t, 1, x.text)
		w.run(23 * time.Hour)
		before := len(w.starts)
		away := w.now.Add(x.away)
		w.fate = func(w *world, _ Turn, _ Host) Outcome {
			if w.now.Before(away) {
				return Outcome{Status: Away, Why: "is not connected"}
			}
			return Outcome{Status: Done}
		}
		w.run(x.away)
		if s := w.of(0); s.Kind != dutystate.Absent || s.Why != "is not connected" {
			t.Errorf("%s: after %v it stands %+v", x.text, x.away, s)
		}
		back := w.now
		for range 5 { // hellos cost nothing more
			w.board.Hello(w.now, "agent00000")
		}
		w.run(time.Second)
		if got := len(w.starts) - before; got != x.want {
			t.Errorf("%s, away for %v: %d turns at once, want %d", x.text, x.away, got, x.want)
		}
		w.run(25 * time.Hour)
		w.slots()
		if s := w.of(0); s.Kind != dutystate.Kept || s.Past[1].Kind != dutystate.Absent || s.Past[1].Times < 2 {
			t.Errorf("%s: back since %v it stands %+v", x.text, back, s)
		}
	}
}

func TestAThousandThatReturnAreServedAtOnce(t *testing.T) {
	w := newWorld(t, 1000, "mode: enforce, every: 6h, at_once: 50")
	w.run(6 * time.Hour)
	dark := true
	w.fate = func(*world, Turn, Host) Outcome {
		if dark {
			return Outcome{Status: Away}
		}
		return Outcome{Status: Done}
	}
	w.run(24 * time.Hour)
	dark, w.most = false, 0
	began, before := w.now, len(w.starts)
	for i := range 1000 {
		w.board.Hello(w.now, fmt.Sprintf("agent%05d", i))
	}
	for len(w.starts)-before < 1000 && w.now.Before(began.Add(5*time.Hour)) {
		w.step(began.Add(5 * time.Hour))
	}
	if took := w.now.Sub(began); w.most > 50 || took > 21*w.took {
		t.Errorf("it took %v with %d at a time", took, w.most)
	}
	w.slots()
}

func TestAKeeperThatIsKilledDoesNoSlotTwiceAndTellsWhatItMissed(t *testing.T) {
	w := newWorld(t, 20, "mode: enforce, every: 10m, stop_at: 100%")
	for n := range 20 {
		w.run(time.Duration(3+n)*time.Minute + 7*time.Second)
		if n%4 == 3 {
			w.now = w.now.Add(25 * time.Minute) // systemd is slow
		}
		w.restart()
	}
	w.run(20 * time.Minute)
	unknown := 0
	for i := range 20 {
		s := w.of(i)
		told := s.Missed
		for _, p := range s.Past {
			told += p.Times
			if p.Kind == dutystate.Failed {
				unknown += p.Times
			}
		}
		if s.Kind != dutystate.Kept || !s.Begun.IsZero() {
			t.Errorf("web%d: %+v", i, s)
		}
	}
	done := 0
	for _, n := range w.slots() {
		done += n
	}
	if unknown == 0 || done < 200 {
		t.Errorf("%d turns, %d with an end that is not known", done, unknown)
	}
}

func TestTwoKeepersBeginNoSlotTwice(t *testing.T) {
	a := newWorld(t, 10, "mode: enforce, every: 10m")
	b := newWorld(t, 10, "mode: enforce, every: 10m")
	b.begun = a.begun // the hosts are the same
	b.took = 11 * time.Second
	for range 60 {
		a.run(time.Minute)
		b.run(time.Minute)
	}
	a.starts = append(a.starts, b.starts...)
	n := a.slots()
	for host, turns := range n {
		if turns < 5 {
			t.Errorf("%s had %d turns in an hour", host, turns)
		}
	}
}

func TestAHostThatSomebodyIsAtIsWaitedFor(t *testing.T) {
	w := newWorld(t, 1, "mode: check, every: 6h, splay: 1m")
	w.fate = func(_ *world, t Turn, _ Host) Outcome {
		if t.Push {
			return Outcome{Status: Done}
		}
		return Outcome{Status: Busy, Why: "anna is at it"}
	}
	w.run(time.Hour)
	if s := w.of(0); s.Why != "waits: anna is at it" {
		t.Errorf("it stands %+v", s)
	}
	w.run(2 * time.Hour)
	if len(w.starts) != 1 || !w.starts[0].push || w.of(0).Kind != dutystate.Kept {
		t.Errorf("after two hours: %+v, %+v", w.starts, w.of(0))
	}
}

func TestAHostThatIsHeldIsLeftAlone(t *testing.T) {
	w := newWorld(t, 1, "mode: enforce, every: 1h")
	until := w.now.Add(5 * time.Hour)
	w.fate = func(w *world, _ Turn, _ Host) Outcome {
		if w.now.Before(until) {
			return Outcome{Status: OnHold, Why: "disk swap", Until: until}
		}
		return Outcome{Status: Done}
	}
	w.run(4 * time.Hour)
	if s := w.of(0); s.Kind != dutystate.Held || s.Why != "disk swap" || !s.Until.Equal(until) || len(w.starts) != 0 {
		t.Errorf("it stands %+v", s)
	}
	w.run(3 * time.Hour)
	if s := w.of(0); s.Kind != dutystate.Kept || !s.Until.IsZero() {
		t.Errorf("afterwards it stands %+v", s)
	}
}

func TestADutyThatFailsTooOftenStopsUntilTheNextCommit(t *testing.T) {
	w := newWorld(t, 100, "mode: enforce, every: 1h, stop_at: 5%, at_once: 1000")
	w.run(time.Hour)
	w.fate = func(_ *world, t Turn, h Host) Outcome {
		if t.Commit == "c2" {
			return Outcome{Status: Broke, Why: "no space left", Failed: []string{"install"}}
		}
		return Outcome{Status: Done}
	}
	w.commit("c2")
	before := len(w.starts)
	w.run(6 * time.Hour)
	failed := len(w.starts) - before
	if d := w.defs["base"]; d.Paused == nil || d.Paused.Why != "5 of 100 hosts failed (stop_at 5%) with c2" ||
		failed < 5 || failed > 8 {
		t.Errorf("%d hosts were tried: %+v", failed, d.Paused)
	}
	w.restart()
	w.run(time.Hour)
	if len(w.starts)-before != failed {
		t.Error("a keeper that was started again went on")
	}
	w.commit("c3")
	w.run(2 * time.Hour)
	if d := w.defs["base"]; d.Paused != nil || w.of(7).Kind != dutystate.Kept || w.of(7).Commit != "c3" {
		t.Errorf("the next commit is not in force: %+v, %+v", d, w.of(7))
	}
}

func TestACommitGoesInStages(t *testing.T) {
	w := newWorld(t, 100, "mode: enforce, every: 1h, after_changes: '1,10%,100%', stop_at: 50%")
	w.run(2 * time.Hour)
	w.commit("c2")
	count := func() (n int) {
		for i := range 100 {
			if w.of(i).Commit == "c2" {
				n++
			}
		}
		return n
	}
	w.run(55 * time.Minute)
	if n := count(); n > 1 || w.of(3).At.Before(w.now.Add(-time.Hour)) {
		t.Errorf("in the first hour %d hosts have the commit", n)
	}
	w.run(65 * time.Minute)
	if n := count(); n < 2 || n > 10 {
		t.Errorf("in the second %d hosts have it", n)
	}
	w.restart()
	w.run(3 * time.Hour)
	if n, d := count(), w.defs["base"]; n != 100 || d.Before != "" {
		t.Errorf("in the end %d hosts have it: %+v", n, d)
	}
	w.fate = func(_ *world, t Turn, h Host) Outcome {
		if t.Commit == "c3" {
			return Outcome{Status: Broke}
		}
		return Outcome{Status: Done}
	}
	w.commit("c3")
	w.run(5 * time.Hour)
	tried := 0
	for _, s := range w.starts {
		if s.commit == "c3" {
			tried++
		}
	}
	if d := w.defs["base"]; d.Paused == nil || tried != 1 {
		t.Errorf("%d hosts were tried with a commit that fails on the first: %+v", tried, d)
	}
}

func TestAnEarlierCommitThatIsGoneMakesHostsWaitForTheirStage(t *testing.T) {
	w := newWorld(t, 10, "mode: enforce, every: 1h, after_changes: '1,100%'")
	w.run(2 * time.Hour)
	delete(w.old, "c1")
	w.commit("c2")
	before := len(w.starts)
	w.run(59 * time.Minute)
	if n := len(w.starts) - before; n > 1 {
		t.Errorf("%d hosts were played", n)
	}
	w.run(3 * time.Hour)
	if s := w.of(4); s.Commit != "c2" {
		t.Errorf("web4 stands %+v", s)
	}
}

func TestNoiseIsWhatChangesEachTime(t *testing.T) {
	w := newWorld(t, 1, "mode: enforce, every: 1h, ignore: ['cache']")
	w.fate = func(w *world, t Turn, _ Host) Outcome {
		o := Outcome{Status: Done, Tasks: 5, Changes: []dutystate.Change{{Task: "date"}, {Task: "cache"}}}
		if len(w.starts) == 0 {
			o.Changes = append(o.Changes, dutystate.Change{Task: "nginx.conf", Diff: "- a\n+ b"})
		}
		if t.Mode == duty.Check {
			o.Blind = []string{"shell"}
		}
		return o
	}
	w.run(62 * time.Minute)
	s := w.of(0)
	if len(w.starts) < 2 || !w.starts[1].looks || w.starts[1].mode != duty.Check || len(w.starts) > 3 {
		t.Fatalf("the turns are %+v", w.starts)
	}
	if !slices.Equal(s.Noise, []string{"date", "cache"}) || len(s.Blind) != 1 {
		t.Errorf("noise %v, blind %v", s.Noise, s.Blind)
	}
	if p := s.Past[len(s.Past)-1]; p.Kind != dutystate.Mended || !slices.Contains(p.Tasks, "nginx.conf") ||
		slices.Contains(p.Tasks, "cache") {
		t.Errorf("the first turn is %+v", p)
	}
	w.run(3 * time.Hour)
	if s := w.of(0); s.Kind != dutystate.Kept || len(s.Drift) != 0 {
		t.Errorf("noise counts: %+v", s)
	}
	w.slotsOf(duty.Enforce)
}

// TestALookHidesNoTurnThatMended: how a host stands names the run that changed it, although a check came after.
func TestALookHidesNoTurnThatMended(t *testing.T) {
	w := newWorld(t, 1, "mode: enforce, every: 1h")
	w.fate = func(_ *world, t Turn, _ Host) Outcome {
		if t.Mode == duty.Check {
			return Outcome{Status: Done, Tasks: 1}
		}
		return Outcome{Status: Done, Tasks: 1, Run: "r1", Changes: []dutystate.Change{{Task: "nginx.conf"}}}
	}
	for len(w.starts) < 2 {
		w.run(time.Minute)
	}
	w.run(time.Minute)
	if s := w.of(0); s.Kind != dutystate.Mended || s.Run != "r1" || s.Mode != duty.Enforce || s.NoiseCommit != "c1" {
		t.Errorf("the host stands %+v", s)
	}
}

// slotsOf is slots for the turns of a mode.
func (w *world) slotsOf(m duty.Mode) {
	w.t.Helper()
	w.starts = slices.DeleteFunc(w.starts, func(s start) bool { return s.mode != m })
	w.slots()
}

func TestABaselineMakesNoiseOfWhatACheckFinds(t *testing.T) {
	w := newWorld(t, 2, "mode: check, every: 1h")
	w.fate = func(*world, Turn, Host) Outcome {
		return Outcome{Status: Done, Changes: []dutystate.Change{{Task: "date", Diff: "x"}}}
	}
	w.run(2 * time.Hour)
	s := w.of(0)
	if s.Kind != dutystate.Drifted || s.Drift[0].Since.After(w.now.Add(-time.Hour)) {
		t.Errorf("it stands %+v", s)
	}
	if n, _, err := w.board.Apply(w.now, "anna",
		Request{What: RequestBaseline, Duty: "base", Hosts: []string{"web0"}}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	w.run(2 * time.Hour)
	if a, b := w.of(0), w.of(1); a.Kind != dutystate.Kept || b.Kind != dutystate.Drifted {
		t.Errorf("they stand %v and %v", a.Kind, b.Kind)
	}
	w.commit("c2") // another play may have other noise
	w.run(2 * time.Hour)
	if a := w.of(0); a.Kind != dutystate.Drifted {
		t.Errorf("it stands %v", a.Kind)
	}
}

func TestPeoplePauseResumeAndRun(t *testing.T) {
	w := newWorld(t, 3, "mode: check, every: 1h")
	take := func(a Request) (int, error) {
		n, d, err := w.board.Apply(w.now, "anna", a)
		if err == nil {
			w.keep(nil, []dutystate.Definition{d})
		}
		return n, err
	}
	if _, err := take(Request{What: AskPause, Duty: "base", Why: "holidays"}); err != nil {
		t.Fatal(err)
	}
	w.run(3 * time.Hour)
	w.restart()
	w.commit("c2")
	w.run(3 * time.Hour)
	if d := w.defs["base"]; len(w.starts) != 0 || d.Paused.Why != "holidays (anna)" {
		t.Errorf("%d turns of a duty that is paused: %+v", len(w.starts), d.Paused)
	}
	if n, err := take(Request{What: AskRun, Duty: "base", Hosts: []string{"web1"}}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	w.run(time.Minute)
	if len(w.starts) != 1 || w.starts[0].host != "web1" {
		t.Errorf("what was asked for is %+v", w.starts)
	}
	if _, err := take(Request{What: AskResume, Duty: "base"}); err != nil {
		t.Fatal(err)
	}
	w.run(2 * time.Hour)
	if w.of(0).Kind != dutystate.Kept {
		t.Errorf("it did not go on: %+v", w.of(0))
	}
	for _, a := range []Request{{What: AskRun, Duty: "none"}, {What: AskRun, Duty: "base", Hosts: []string{"web1", "db9"}},
		{What: "dance", Duty: "base"}} {
		if _, err := take(a); err == nil {
			t.Errorf("%+v was taken", a)
		}
	}
}

func TestADutyThatIsDoneTogetherIsOneRun(t *testing.T) {
	w := newWorld(t, 5, "mode: enforce, every: 1h, together: true, at_once: 1")
	w.run(2*time.Hour + time.Minute)
	at := map[time.Time]int{}
	for _, s := range w.starts {
		at[s.at]++
	}
	if len(at) < 2 || len(at) > 3 || w.most != 5 {
		t.Errorf("the turns began at %v", at)
	}
}

func TestACommitThatDoesNotCompileLeavesTheOldOneInForce(t *testing.T) {
	w := newWorld(t, 2, "mode: check, every: 1h")
	w.run(time.Hour)
	w.keep(nil, w.board.Stale(w.now, "site.yml:14:7: no module"))
	if again := w.board.Stale(w.now, "site.yml:14:7: no module"); len(again) != 0 {
		t.Error("it is said again and again")
	}
	before := len(w.starts)
	w.run(2 * time.Hour)
	if d := w.defs["base"]; d.Stale == "" || len(w.starts)-before < 3 {
		t.Errorf("%d turns, %+v", len(w.starts)-before, d)
	}
	w.commit("c2")
	if d := w.defs["base"]; d.Stale != "" {
		t.Errorf("still stale: %+v", d)
	}
}

func TestNothingIsDueBeforeThePlanIsRead(t *testing.T) {
	w := newWorld(t, 2, "mode: enforce, every: 1h")
	w.run(3 * time.Hour)
	b := NewDuties()
	b.Restore(slices.Collect(maps.Values(w.states)), slices.Collect(maps.Values(w.defs)))
	b.Hello(w.now, "agent00000")
	if turns, states, defs := b.Due(w.now.Add(5 * time.Hour)); len(turns)+len(states)+len(defs) > 0 ||
		!b.Wake(w.now).IsZero() {
		t.Errorf("%v, %v, %v", turns, states, defs)
	}
	if _, _, err := b.Apply(w.now, "anna", Request{What: AskRun, Duty: "base"}); err == nil ||
		!strings.Contains(err.Error(), "not read the project yet") {
		t.Error(err)
	}
	if defs := b.Stale(w.now, "site.yml:1:1: no"); len(defs) != 1 || defs[0].Stale == "" || defs[0].Commit != "c1" {
		t.Errorf("%+v", defs)
	}
}
