package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/console"
	"hark/controller/internal/console/consoletest"
	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/runs/files"
	"hark/controller/internal/runs/record"
)

// figures are those of the front page and of /metrics, which have to be the same.
func (x *site) figures() (fine, whole bool, figures map[string]int) {
	x.t.Helper()
	var page struct {
		Fine, Whole bool
		Figures     map[string]int
	}
	x.json("/", &page)
	text := x.page("/metrics", "Authorization", "Bearer scrape")
	for kind, n := range page.Figures {
		if line := fmt.Sprintf("hark_needs{kind=%q} %d\n", kind, n); !strings.Contains(text, line) {
			x.t.Errorf("the front page says %d of %s, and the metrics do not", n, kind)
		}
	}
	if line := fmt.Sprintf("hark_fine %d\n", map[bool]int{true: 1}[page.Fine]); !strings.Contains(text, line) {
		x.t.Errorf("fine is %v on the front page, and the metrics do not have it", page.Fine)
	}
	return page.Fine, page.Whole, page.Figures
}

// spoiled is a fleet of which nothing is wrong, for a test to spoil.
type spoiled struct {
	c      *console.Config
	agents []roster.Agent
	words  *dutystate.Words
	idle   map[string]time.Time
	store  *files.Store
}

// The front page says whether everything is fine, and what is not, whatever is wrong.
func TestTheFrontPageSaysWhatIsWrong(t *testing.T) {
	calm := func(now time.Time) ([]roster.Agent, dutystate.Words) {
		agents, words := said(now), cached(now)
		agents[2].Present = true
		words.Definitions, words.States = words.Definitions[:1], words.States[:0]
		for _, a := range agents {
			words.States = append(words.States, dutystate.State{Duty: "base", Host: a.Name, Kind: dutystate.Kept,
				At: now})
		}
		return agents, words
	}
	for name, tt := range map[string]struct {
		spoil func(x *spoiled)
		want  map[string]int
		says  string
	}{
		"nothing": {func(*spoiled) {}, nil, "Everything is fine"},
		"absent":  {func(x *spoiled) { x.agents[0].Present = false }, map[string]int{"absent": 1}, "host absent"},
		"trouble": {func(x *spoiled) { x.agents[0].Trouble = "no space left" }, map[string]int{"trouble": 1},
			"no space left"},
		"failed": {func(x *spoiled) {
			x.words.States[0].Kind, x.words.States[0].Why = dutystate.Failed, "it broke"
		}, map[string]int{"failed": 1}, "it broke"},
		"drifted": {func(x *spoiled) { x.words.States[1].Kind = dutystate.Drifted }, map[string]int{"drifted": 1},
			"drifted"},
		"paused": {func(x *spoiled) {
			x.words.Definitions[0].Paused = &dutystate.Pause{Why: "holidays"}
		}, map[string]int{"paused": 1}, "holidays"},
		"stale": {func(x *spoiled) { x.words.Definitions[0].Stale = "site.yml:3" }, map[string]int{"stale": 1},
			"site.yml:3"},
		"silent": {func(x *spoiled) { x.words.Definitions[0].At = time.Now().Add(-5 * time.Hour) },
			map[string]int{"silent": 1}, "is it running?"},
		"a keeper that nobody runs": {func(x *spoiled) { x.idle["UKEEPER"] = time.Now().Add(-3 * time.Minute) },
			map[string]int{"silent": 1}, "the keeper UKEEPER"},
		"a keeper that is started again": {func(x *spoiled) { x.idle["UKEEPER"] = time.Now().Add(-time.Minute) }, nil,
			"Everything is fine"},
		"expiring": {func(x *spoiled) {
			x.c.Endings = func() []console.Ending {
				return []console.Ending{{What: "the certificate", At: time.Now().Add(time.Hour)},
					{What: "x", At: time.Now().Add(9000 * time.Hour)}}
			}
		}, map[string]int{"expiring": 1}, "the certificate"},
		"a run": {func(x *spoiled) { small(x.store, "k3f9aaaa") }, map[string]int{"failed_runs": 1}, "play site.yml"},
		"a broker that is away": {func(x *spoiled) {
			x.c.Fleet = func(context.Context) ([]roster.Agent, error) { return nil, errors.New("it is away") }
		}, map[string]int{"unread": 1}, "it is away"},
	} {
		t.Run(name, func(t *testing.T) {
			store, now := &files.Store{Dir: t.TempDir()}, time.Now()
			agents, words := calm(now)
			idle := map[string]time.Time{}
			x := serveAs(t, store, func(c *console.Config) {
				c.Fleet = func(context.Context) ([]roster.Agent, error) { return agents, nil }
				c.Duties = func(context.Context) (console.Words,
					error) {
					return console.Words{All: []dutystate.Words{words}, Idle: idle}, nil
				}
				tt.spoil(&spoiled{c, agents, &words, idle, store})
			})
			fine, _, figures := x.figures()
			if fine != (tt.want == nil) {
				t.Errorf("fine: %v", fine)
			}
			for kind, n := range figures {
				if n != tt.want[kind] {
					t.Errorf("%d of %s, want %d", n, kind, tt.want[kind])
				}
			}
			if text := x.page("/"); !strings.Contains(text, tt.says) {
				t.Errorf("the page does not say %q\n%s", tt.says, text)
			}
		})
	}
}

// A run that failed is wrong until the same command does well, and the tabs say how much is wrong where.
func TestTheFrontPageForgetsWhatWasMended(t *testing.T) {
	store := &files.Store{Dir: t.TempDir()}
	small(store, "k3f9aaaa")
	x := whole(t, store)
	_, _, f := x.figures()
	for _, kind := range []string{"failed_runs", "drifted", "failed", "paused", "absent", "unread"} {
		if f[kind] != 1 {
			t.Errorf("%s: %v", kind, f)
		}
	}
	if text := x.page("/jobs"); !regexp.MustCompile(`>Runs <span class="badge need">1</span>`).MatchString(text) ||
		!strings.Contains(text, `>Duties <span class="badge need">3</span>`) {
		t.Errorf("no counts on the tabs\n%s", text[:1500])
	}
	h := head("m4nd3dxx")
	h.At = time.Now()
	r := consoletest.Begin(store, h)
	r.Play("servers", "web1")
	r.Came(r.Task(1, "first", "command"), "web1", wire.OK, nil)
	r.Over(record.OK, 0)
	again := whole(t, store)
	if _, _, f := again.figures(); f["failed_runs"] != 0 {
		t.Errorf("%v", f)
	}
}

// Without a broker nothing is known of the fleet, and the page does not say that it is fine.
func TestTheFrontPageDoesNotGuess(t *testing.T) {
	x := serve(t, &files.Store{Dir: t.TempDir()}, nil)
	if _, whole, _ := x.figures(); whole {
		t.Error("all is known without a broker")
	}
	if text := x.page("/"); strings.Contains(text, "Everything is fine") ||
		!strings.Contains(text, "nothing is known") {
		t.Error(text)
	}
}

// The rules of promtool: each family has HELP and TYPE before its samples, which stand together, counters end in
// _total and others do not.
func TestMetricsAreTyped(t *testing.T) {
	store := &files.Store{Dir: t.TempDir()}
	small(store, "k3f9aaaa")
	x := whole(t, store)
	text := x.page("/metrics", "Authorization", "Bearer scrape")
	kinds, helped := map[string]string{}, map[string]bool{}
	last := ""
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		words := strings.SplitN(line, " ", 4)
		switch {
		case strings.HasPrefix(line, "# HELP "):
			if helped[words[2]] || len(words) < 4 || words[3] == "" {
				t.Errorf("a second or empty HELP: %s", line)
			}
			helped[words[2]], last = true, words[2]
		case strings.HasPrefix(line, "# TYPE "):
			if words[2] != last {
				t.Errorf("a TYPE without its HELP: %s", line)
			}
			kinds[words[2]] = words[3]
		default:
			name := line[:strings.IndexAny(line, "{ ")]
			if kinds[last] == "summary" {
				name = strings.TrimSuffix(strings.TrimSuffix(name, "_sum"), "_count")
			}
			if name != last {
				t.Errorf("a sample of %s among those of %s", name, last)
			}
		}
	}
	for name, kind := range kinds {
		if strings.HasSuffix(name, "_total") != (kind == "counter") || strings.HasSuffix(name, "_count") {
			t.Errorf("%s is a %s", name, kind)
		}
		if strings.HasPrefix(name, "hark_") && strings.Contains(text, "# HELP "+name+" Of the console's process") {
			t.Errorf("%s has no help of its own", name)
		}
	}
	for name, kind := range map[string]string{
		"hark_runs_ended_total": "counter", "hark_needs": "gauge", "hark_run_duration_seconds": "summary", "process_cpu_seconds_total": "counter",
	} {
		if kinds[name] != kind {
			t.Errorf("%s is %q", name, kinds[name])
		}
	}
	if !strings.Contains(text, "hark_runs_ended_total{state=\"failed\"} 1\n") {
		t.Error("the run that failed is not counted")
	}
}

func TestHealthIsToldToEverybody(t *testing.T) {
	x := serve(t, &files.Store{Dir: t.TempDir()}, nil)
	a, err := http.Get(x.http.URL + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	if text, _ := io.ReadAll(a.Body); a.StatusCode != http.StatusOK || string(text) != "ok\n" {
		t.Errorf("%s %s", a.Status, text)
	}
}

// A host's page leads to when each task last changed it, and runs in check mode changed nothing.
func TestChangesOfAHostAreFound(t *testing.T) {
	store := &files.Store{Dir: t.TempDir()}
	for i, run := range []string{"aaaa0001", "aaaa0002", "aaaa0003"} {
		h := head(run)
		h.At, h.Check = time.Now().Add(time.Duration(i-10)*time.Hour), i == 2
		r := consoletest.Begin(store, h)
		r.Play("servers", "web1", "web2")
		r.Came(r.Task(1, "conf", "template"), "web1", wire.Changed, nil)
		second := r.Task(2, "once", "copy")
		r.Came(second, "web2", wire.Changed, nil)
		if i == 0 {
			r.Came(second, "web1", wire.Changed, nil)
		} else {
			r.Came(second, "web1", wire.OK, nil)
		}
		r.Over(record.OK, 0)
	}
	x := serve(t, store, nil)
	var page struct {
		Changes []struct {
			Task, Run string
			Times     int
		}
	}
	x.json("/hosts/web1/changes", &page)
	if got := fmt.Sprint(page.Changes); got != "[{conf aaaa0002 2} {once aaaa0001 1}]" {
		t.Error(got)
	}
	var all struct {
		Changes []struct {
			Task, Run string
			Hosts     []string
			Times     int
		}
	}
	x.json("/changes", &all)
	if got := fmt.Sprint(all.Changes); got != "[{once aaaa0002 [web1 web2] 3} {conf aaaa0002 [web1] 2}]" &&
		got != "[{conf aaaa0002 [web1] 2} {once aaaa0002 [web1 web2] 3}]" {
		t.Error(got)
	}
	if x.json("/changes?since=1h", &all); len(all.Changes) > 0 {
		t.Errorf("within the last hour: %v", all.Changes)
	}
	if text := x.page("/changes"); !strings.Contains(text, "web1 web2") || !strings.Contains(text, "2 runs read") {
		t.Error(text)
	}
	if text := x.page("/hosts/web1"); !strings.Contains(text, "/hosts/web1/changes") {
		t.Error("the host's page does not lead there")
	}
	if status := x.ask("/hosts/nobody/changes").StatusCode; status != http.StatusNotFound {
		t.Error(status)
	}
}

func TestTheTimelineHasALaneForEachCommand(t *testing.T) {
	store := &files.Store{Dir: t.TempDir()}
	small(store, "k3f9aaaa")
	small(store, "k3f9bbbb")
	old := head("old00000")
	old.At = time.Now().Add(-3 * 24 * time.Hour)
	consoletest.Begin(store, old).Over(record.OK, 0)
	x := serve(t, store, nil)
	for path, want := range map[string]string{"/timeline": "[{play site.yml 2}]",
		"/timeline?since=7d": "[{play site.yml 2}]"} {
		var page struct {
			Lanes []struct {
				What   string
				Failed int
			}
		}
		x.json(path, &page)
		if got := fmt.Sprint(page.Lanes); got != want {
			t.Errorf("%s: %s", path, got)
		}
		if n := strings.Count(x.page(path), "<rect "); n != map[string]int{"/timeline": 2,
			"/timeline?since=7d": 3}[path] {
			t.Errorf("%s has %d runs", path, n)
		}
	}
}

// What is said of many hosts is one row.
func TestWarningsAreFoldedByTheirCause(t *testing.T) {
	now := time.Now()
	var agents []roster.Agent
	for i := range 300 {
		a := roster.Agent{Seen: now, Present: true}
		a.Name, a.Version, a.Trouble = fmt.Sprintf("h%d", i+1), "1", "its disk is full"
		agents = append(agents, a)
	}
	agents[7].Trouble = "another"
	x := serve(t, &files.Store{Dir: t.TempDir()}, func(context.Context) ([]roster.Agent, error) { return agents, nil })
	var page struct {
		Warnings []struct {
			Text string
			N    int
		}
	}
	x.json("/warnings", &page)
	if got := fmt.Sprint(page.Warnings); got != "[{its disk is full 299} {another 1}]" {
		t.Error(got)
	}
	if text := x.page("/warnings"); !strings.Contains(text, "and 278 more") {
		t.Error("the rest is not counted")
	}
}

// A live page ends as the page that is loaded again: also its head, its tabs, and the word that a record is being read.
func TestLiveHeadsEndAsThePageDoes(t *testing.T) {
	store := &files.Store{Dir: t.TempDir(), Poll: 10 * time.Millisecond}
	run := consoletest.Begin(store, head("livehead"))
	run.Play("p", "web1", "web2")
	x := serve(t, store, nil)
	begun, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		<-begun
		for n := range 20 {
			run.Came(run.Task(n, fmt.Sprintf("task %d", n), "ping"), "web1", wire.OK, nil)
		}
		run.Warn("a thing is old")
		run.Over(record.Failed, 2)
	}()
	for _, page := range []string{"/runs/livehead", "/runs/livehead/output"} {
		pieces := map[string]string{}
		first := true
		x.listen(page+"/live", "0", func(e event) bool {
			var some []struct{ ID, HTML string }
			if e.name == "pieces" && json.Unmarshal([]byte(e.data), &some) == nil {
				for _, p := range some {
					pieces[p.ID] = p.HTML
				}
			}
			if first && page == "/runs/livehead" {
				close(begun)
			}
			first = false
			return e.name != "over"
		})
		again := x.page(page)
		for _, id := range []string{"state", "facts", "tabs", "ends"} {
			if !strings.Contains(again, strings.TrimSpace(pieces[id])) || pieces[id] == "" && id != "ends" {
				t.Errorf("%s of %s is %q on the live page, and otherwise on\n%s", id, page, pieces[id], again)
			}
		}
		if !strings.Contains(pieces["reading"], "hidden") {
			t.Errorf("%s says that it reads: %q", page, pieces["reading"])
		}
	}
	<-over
}

// Turns of keepers are one row, which leads to each of them; a person's run is not lost among them.
func TestTurnsAreFoldedOnThePageOfRuns(t *testing.T) {
	store := &files.Store{Dir: t.TempDir()}
	for i, duty := range []string{"base", "base", "base", "", "base"} {
		h := head(fmt.Sprintf("aaaa000%d", i))
		h.Duty, h.At = duty, time.Now().Add(time.Duration(i-10)*time.Minute)
		r := consoletest.Begin(store, h)
		r.Play("p", "web1")
		r.Came(r.Task(1, "first", "command"), "web1", wire.Changed, nil)
		r.Over(record.OK, 0)
	}
	x := serve(t, store, nil)
	for path, want := range map[string]string{"/runs": "[0 0 3]", "/runs?turns": "[0 0 0 0 0]",
		"/runs?duty=base": "[0 0 0 0]"} {
		var page struct{ Runs []struct{ Turns int } }
		x.json(path, &page)
		var turns []int
		for _, r := range page.Runs {
			turns = append(turns, r.Turns)
		}
		if got := fmt.Sprint(turns); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if text := x.page("/runs"); !strings.Contains(text, `href="/runs?duty=base"`) ||
		!strings.Contains(text, "<b>3</b> changed") {
		t.Error(text)
	}
}

// A run that did nothing on any host is green nowhere: not in the list, at its own head, on the front page, nor in the
// timeline. One that did something is.
func TestARunThatDidNothingIsGreenNowhere(t *testing.T) {
	for word, hosts := range map[string][]string{"no hosts": nil, "ok": {"web1"}} {
		store := &files.Store{Dir: t.TempDir()}
		r := consoletest.Begin(store, record.Head{Run: "aaaa0001", At: time.Now().Add(-time.Minute),
			Line: []string{"hark", "play", "site.yml"}, Hosts: 3})
		r.Play("all", hosts...)
		for _, h := range hosts {
			r.Came(r.Task(1, "say", "command"), h, wire.OK, nil)
		}
		r.Over(record.OK, 0)
		x := serveAs(t, store, func(*console.Config) {})
		for _, path := range []string{"/runs", "/runs/aaaa0001", "/timeline", "/"} {
			text := x.page(path)
			if i := strings.Index(text, "<main"); i >= 0 {
				text = text[i:]
			}
			if green := strings.Contains(text, "✓"); green != (word == "ok") && path != "/timeline" {
				t.Errorf("%s of a run with %s is green: %t\n%s", path, word, green, text)
			}
			if !strings.Contains(text, word) {
				t.Errorf("%s does not say %s", path, word)
			}
		}
	}
}
