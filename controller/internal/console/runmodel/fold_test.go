package runmodel_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/console/runmodel"
	"hark/controller/internal/ui/view"
	"hark/playbook/plan"
)

// told is a run that results are told to.
type told struct {
	*runmodel.Run
	line int
}

func begin() *told {
	r := &told{Run: runmodel.New()}
	r.At = func() (int, time.Time) {
		r.line++
		return r.line, time.Unix(int64(r.line), 0)
	}
	r.PlayStart(view.Play{Name: "web"})
	return r
}

func (r *told) done(task, host string, s wire.Status, result string) {
	t := view.Task{ID: plan.ID(task), Name: task, Action: "command"}
	r.Done(view.Result{Task: t, Host: host, Outcome: &wire.Outcome{Status: s, Result: json.RawMessage(result)}})
}

// groups are those of the last task, a line each.
func (r *told) groups() string {
	var b strings.Builder
	seen := r.See(100)
	tasks := seen.Plays[len(seen.Plays)-1].Tasks
	for _, g := range tasks[len(tasks)-1].Groups {
		fmt.Fprintf(&b, "%d %s %s: %s\n", g.Count, g.State, g.Names, strings.ReplaceAll(g.Text, "\n", "|"))
	}
	return b.String()
}

func TestEqualResultsAreOneGroup(t *testing.T) {
	r := begin()
	for i := range 300 {
		host := fmt.Sprintf("web%d", 300-i)
		switch i {
		case 5, 6:
			r.done("migrate", host, wire.StatusFailed,
				`{"rc":1,"msg":"non-zero return code","stdout":"","stderr":"no column\nx"}`)
		case 7, 9:
			r.done("migrate", host, wire.StatusUnreachable, `{"msg":"cannot reach `+host+`: no route"}`)
		case 11:
			r.done("migrate", host, wire.StatusUnreachable, `{"msg":"cannot reach `+host+`: refused"}`)
		default:
			r.done("migrate", host, wire.OK, `{"changed":false}`)
		}
	}
	want := `2 failed web294 web295: non-zero return code (rc 1)|no column|x
2 unreachable web291 web293: cannot reach ‹host›: no route
1 unreachable web289: cannot reach web289: refused
295 ok web[1:288] web290 web292 web[296:300]: ` + "\n"
	if got := r.groups(); got != want {
		t.Errorf("groups are\n%swant\n%s", got, want)
	}
}

func TestSecretsStayHidden(t *testing.T) {
	r := begin()
	r.Done(view.Result{Task: view.Task{ID: "1", NoLog: true}, Host: "a", Outcome: &wire.Outcome{Status: wire.StatusFailed,
		Result: json.RawMessage(`{"msg":"s3cret"}`)}})
	r.Done(view.Result{Task: view.Task{ID: "1"}, Host: "b", Outcome: &wire.Outcome{Status: wire.StatusFailed, NoLog: true,
		Result: json.RawMessage(`{"msg":"s3cret"}`)}})
	if got := r.groups(); strings.Contains(got, "s3cret") {
		t.Error(got)
	}
}

func TestDifferencesAreFoldedToo(t *testing.T) {
	r := begin()
	for _, h := range []string{"one", "two"} {
		r.done("conf", h, wire.Changed, `{"changed":true,"diff":[{"before":"a\nb\n","after":"a\nc\n"}]}`)
	}
	if got := r.groups(); !strings.Contains(got, "2 changed one two: ") || !strings.Contains(got, "|-b|+c") {
		t.Error(got)
	}
}

func TestItemsOfLoopsAreTold(t *testing.T) {
	r := begin()
	task := view.Task{ID: "1", Action: "command"}
	r.ItemDone(view.Result{Task: task, Host: "a", Outcome: &wire.Outcome{Status: wire.OK, Item: json.RawMessage(`"one"`),
		Result: json.RawMessage(`{}`)}})
	r.ItemDone(view.Result{Task: task, Host: "a", Outcome: &wire.Outcome{Status: wire.StatusFailed,
		Item: json.RawMessage(`"two"`), Result: json.RawMessage(`{"msg":"no"}`)}})
	r.Done(view.Result{Task: task, Host: "a", Outcome: &wire.Outcome{Status: wire.StatusFailed, Loop: true,
		Result: json.RawMessage(`{"msg":"One or more items failed"}`)}})
	if got, want := r.groups(), "1 failed a: item two: no|One or more items failed\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestChangesSinceALineAreAllOfThem: who has the run as it was at a line and takes what changed since has the run.
func TestChangesSinceALineAreAllOfThem(t *testing.T) {
	r := begin()
	have := map[int]string{}
	at := -1
	take := func() {
		seen := r.Since(at, 10)
		for _, p := range seen.Plays {
			for _, x := range p.Tasks {
				have[x.N] = fmt.Sprint(x.Counts)
			}
		}
		at = seen.Line
	}
	for i := range 500 {
		r.done(fmt.Sprintf("task %d", i%7), fmt.Sprintf("h%d", i), wire.OK, `{}`)
		if i%11 == 3 {
			take()
		}
	}
	take()
	all := map[int]string{}
	for _, x := range r.See(10).Plays[0].Tasks {
		all[x.N] = fmt.Sprint(x.Counts)
	}
	if fmt.Sprint(have) != fmt.Sprint(all) {
		t.Errorf("taken in pieces: %v, whole: %v", have, all)
	}
}

func TestNamesAreInTheOrderOfPeople(t *testing.T) {
	r := begin()
	for _, h := range []string{"db10", "db9", "db2", "a.example", "db1", "db3", "web07", "web08", "web09", "x"} {
		r.done("t", h, wire.OK, `{"msg":"said"}`)
	}
	if got, want := r.groups(), "10 ok a.example db[1:3] db9 db10 web07 web08 web09 x: said\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestComparisonTellsWhatChanged(t *testing.T) {
	then, now := begin(), begin()
	for i := range 20 {
		h := fmt.Sprintf("web%d", i+1)
		then.done("install", h, wire.OK, `{}`)
		then.done("old", h, wire.OK, `{}`)
		then.done("restart", h, wire.OK, `{}`)
		s := wire.OK
		if i < 9 {
			s = wire.Changed
		}
		if i == 12 {
			now.done("install", h, wire.StatusFailed, `{"msg":"no space"}`)
			continue // it is in no later task, and that is no news
		}
		now.done("install", h, s, `{}`)
		now.done("restart", h, wire.OK, `{}`)
	}
	c := now.Compare(then.Run)
	var b strings.Builder
	for _, d := range c.Rows {
		word := func(s *runmodel.State) string {
			if s == nil {
				return "-"
			}
			return s.String()
		}
		fmt.Fprintf(&b, "%s %s: %s -> %s %s\n", d.Title, d.Names, word(d.Then), word(d.Now), d.NowText)
	}
	want := `install web13: ok -> failed no space
install web[1:9]: ok -> changed ` + `
old web[1:12] web[14:20]: ok -> - ` + "\n"
	if b.String() != want || c.Same != 0 || c.Others != 20 {
		t.Errorf("%s(%d the same, %d not), want\n%s", b.String(), c.Same, c.Others, want)
	}
}
