package console_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/controller/internal/console"
	"hark/controller/internal/console/auth"
	"hark/controller/internal/console/consoletest"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/runs/files"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
)

// site is a console before a directory of records.
type site struct {
	t     testing.TB
	store *files.Store
	http  *httptest.Server
	in    http.Cookie
}

func serve(t testing.TB, store *files.Store, fleet func(context.Context) ([]roster.Agent, error)) *site {
	t.Helper()
	return serveAs(t, store, func(c *console.Config) { c.Fleet = fleet })
}

// serveAs serves a console with more than records.
func serveAs(t testing.TB, store *files.Store, more func(c *console.Config)) *site {
	t.Helper()
	c := console.Config{
		Store: store, Play: console.Screen(nil), Dir: t.TempDir(), Version: "1.0", Now: time.Now, Log: zerolog.Nop(),
		Gate: auth.Config{Secret: bytes.Repeat([]byte{3}, 32), Key: "k", Token: "scrape", Port: "1", Now: time.Now},
	}
	more(&c)
	s, err := console.New(c)
	if err != nil {
		t.Fatal(err)
	}
	x := &site{t: t, store: store, http: httptest.NewServer(s.Handler())}
	t.Cleanup(func() {
		s.Close()
		x.http.Close()
	})
	a, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).
		Get(x.http.URL + "/?k=k")
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	x.in = *a.Cookies()[0]
	return x
}

// ask gets a page; headers are pairs of name and value.
func (x *site) ask(path string, headers ...string) *http.Response {
	x.t.Helper()
	r, err := http.NewRequest(http.MethodGet, x.http.URL+path, nil)
	if err != nil {
		x.t.Fatal(err)
	}
	r.AddCookie(&x.in)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { a.Body.Close() })
	return a
}

func (x *site) page(path string, headers ...string) string {
	x.t.Helper()
	a := x.ask(path, headers...)
	text, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != http.StatusOK {
		x.t.Fatalf("%s: %s %v\n%s", path, a.Status, err, text)
	}
	return string(text)
}

func (x *site) json(path string, into any) {
	x.t.Helper()
	if err := json.Unmarshal([]byte(x.page(path, "Accept", "application/json")), into); err != nil {
		x.t.Fatal(err)
	}
}

func head(run string) record.Head {
	return record.Head{Run: run, At: time.Now().Add(-time.Minute), Name: "anna", From: "anna@deploy1",
		Line: []string{"hark", "play", "site.yml"}, Hosts: 3}
}

// small is a run of three hosts, of which one fails.
func small(store *files.Store, run string) {
	r := consoletest.Begin(store, head(run))
	hosts := []string{"web1", "web2", "db.example"}
	r.PlaybookStart("site.yml")
	r.Play("servers", hosts...)
	for n, name := range []string{"first", "second"} {
		task := r.Task(n, name, "ansible.builtin.command")
		for i, h := range hosts {
			r.Tick(time.Second)
			if i == 2 && n == 1 {
				r.Came(task, h, wire.StatusFailed, map[string]any{"msg": "no space left on <device>", "rc": 28})
			} else {
				r.Came(task, h, wire.Changed, nil)
			}
		}
	}
	r.Warn("a thing is old")
	r.Over(record.Failed, 2)
}

func TestPagesShowWhatTheRecordHas(t *testing.T) {
	store := &files.Store{Dir: t.TempDir()}
	small(store, "k3f9aaaa")
	small(store, "c81abbbb")
	x := serve(t, store, nil)
	for path, wants := range map[string][]string{
		"/runs": {"play site.yml", "/runs/k3f9aaaa", "<b>1</b> failed", "<b>2</b> changed",
			"2 runs"},
		"/runs?state=running": {"No run is like that"},
		"/runs/k3f9aaaa": {"first", "second", "no space left on &lt;device&gt; (rc 28)", `id="t2.g2"`,
			"hark runs retry k3f9aa", `<details class="task bad" id="t2" open>`},
		"/runs/k3f9":                      {"k3f9aaaa"},
		"/runs/k3f9aaaa/tasks/2":          {"second", "web1 web2", "db.example"},
		"/runs/k3f9aaaa/tasks/2/g/2":      {"no space left on &lt;device&gt;", "/hosts/db.example"},
		"/runs/k3f9aaaa/hosts":            {"db.example", "web1"},
		"/runs/k3f9aaaa/hosts/db.example": {"no space left", "failed"},
		"/runs/k3f9aaaa/output":           {"PLAY [servers]", "changed: [web1]", "PLAY RECAP", `id="L1"`},
		"/runs/k3f9aaaa/search?q=SPACE":   {"<mark>space</mark>", "1 place in 1 line"},
		"/runs/k3f9aaaa/search?q=nowhere": {"Nothing that this run showed"},
		"/runs/k3f9aaaa/compare":          {"3 hosts came out the same"},
		"/runs/k3f9aaaa/notices":          {"a thing is old"},
		"/hosts":                          {"web1", "no agent", "/hosts/db.example"},
		"/hosts/web1":                     {"play site.yml"},
		"/warnings":                       {"Nothing is wrong"},
		"/find?q=site":                    {"2 runs"},
	} {
		text := x.page(path)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %q", path, want)
			}
		}
	}
	for path, status := range map[string]int{
		"/runs/nosuchrun": 404, "/runs/k3f9aaaa/tasks/9": 404, "/runs/k3f9aaaa/tasks/x": 404,
		"/runs/k3f9aaaa/tasks/1/g/7": 404, "/runs/k3f9aaaa/hosts/nobody": 404,
		"/runs/k3f9aaaa/output?page=99": 404, "/hosts/nobody": 404, "/nothing": 404, "/static/": 404,
		"/runs/k3f9aaaa/output.txt": 200, "/static/console.js": 200,
		"/runs/..%2f..%2fetc": 404, "/runs/%00": 404,
	} {
		if got := x.ask(path).StatusCode; got != status {
			t.Errorf("%s: %d, want %d", path, got, status)
		}
	}
}

func TestARunWithStagesShowsThem(t *testing.T) {
	store := &files.Store{Dir: t.TempDir()}
	r := consoletest.Begin(store, head("staged"))
	for n, hosts := range [][]string{{"web1"}, {"web2", "db.example"}} {
		r.StageStart(record.Stage{N: n + 1, Of: 3, Name: []string{"1", "50%"}[n], Hosts: hosts})
		r.Play("servers", hosts...)
		task := r.Task(n, "first", "ansible.builtin.command")
		for _, h := range hosts {
			status := wire.Changed
			if h == "db.example" {
				status = wire.StatusFailed
			}
			r.Came(task, h, status, nil)
		}
	}
	r.Over(record.Failed, 2)
	x := serve(t, store, nil)
	if list := x.page("/runs"); !strings.Contains(list, "stage 2 of 3") {
		t.Error("the list does not tell the stage")
	}
	type count struct {
		N     int
		State string
	}
	var run struct {
		Summary struct {
			Stages []struct {
				N, Of int
				UpTo  string `json:"up_to"`
				Hosts []count
			}
		}
		Plays []struct{ Stage string }
	}
	x.json("/runs/staged", &run)
	stages := run.Summary.Stages
	if len(stages) != 2 || stages[1].N != 2 || stages[1].Of != 3 || stages[1].UpTo != "50%" ||
		!slices.Equal(stages[0].Hosts, []count{{1, "changed"}}) ||
		!slices.Equal(stages[1].Hosts, []count{{1, "failed"}, {1, "changed"}}) {
		t.Errorf("%+v", stages)
	}
	if len(run.Plays) != 2 || run.Plays[1].Stage != "stage 2 of 3" {
		t.Errorf("%+v", run.Plays)
	}
	if page := x.page("/runs/staged"); !strings.Contains(page, "<td>2 of 3</td><td>50%</td>") {
		t.Error("the page has no stages")
	}
}

// A rescued failure is none: the run ended well, and nobody needs to look.
func TestRescuedFailuresAreNoneOfTheHosts(t *testing.T) {
	store := &files.Store{Dir: t.TempDir()}
	r := consoletest.Begin(store, head("rescued"))
	r.Play("servers", "web1")
	task := r.Task(1, "first", "ansible.builtin.command")
	r.Done(view.Result{Task: task, Host: "web1", Outcome: &wire.Outcome{Status: wire.StatusFailed, Rescued: true,
		Result: []byte(`{"msg":"no space"}`)}})
	r.Over(record.OK, 0)
	page := serve(t, store, nil).page("/runs/rescued")
	if strings.Contains(page, "hark runs retry") || strings.Contains(page, "failed:") ||
		!strings.Contains(page, "rescued") {
		t.Error("a rescued failure is shown as one")
	}
}

func TestProgramsGetTheSameAsJSON(t *testing.T) {
	store := &files.Store{Dir: t.TempDir()}
	small(store, "k3f9")
	x := serve(t, store, nil)
	var list struct {
		Runs []struct{ Run, What string }
	}
	x.json("/runs", &list)
	if len(list.Runs) != 1 || list.Runs[0].Run != "k3f9" || list.Runs[0].What != "play site.yml" {
		t.Errorf("%+v", list)
	}
	var run struct {
		Plays []struct {
			Tasks []struct {
				Title  string
				Groups []struct{ State, Hosts, Text string }
			}
		}
	}
	x.json("/runs/k3f9", &run)
	if g := run.Plays[0].Tasks[1].Groups; len(g) != 2 || g[0].State != "FAILED" || g[0].Hosts != "db.example" {
		t.Errorf("%+v", g)
	}
	var refused struct{ Error string }
	if err := json.NewDecoder(x.ask("/runs/none", "Accept", "application/json").Body).Decode(&refused); err != nil ||
		refused.Error == "" {
		t.Errorf("%+v, %v", refused, err)
	}
}

func TestMetricsAreForPrometheus(t *testing.T) {
	store := &files.Store{Dir: t.TempDir()}
	small(store, "k3f9")
	x := serve(t, store, func(context.Context) ([]roster.Agent, error) {
		a := roster.Agent{Present: true}
		a.Name, a.Version = "web1", `1"2`
		return []roster.Agent{a}, nil
	})
	x.in = http.Cookie{Name: "none", Value: "x"}
	text := x.page("/metrics", "Authorization", "Bearer scrape")
	for _, want := range []string{`hark_runs{state="failed"} 1`, `hark_runs{state="running"} 0`,
		`hark_agents{state="present"} 1`, `hark_agents_by_version{version="1\"2"} 1`, "hark_run_duration_seconds_count 1"} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	line := regexp.MustCompile(`^(#.*|[a-zA-Z_:][a-zA-Z0-9_:]*(\{[^}]*\})? [-+0-9.eE]+(Inf|NaN)?)$`)
	for l := range strings.Lines(text) {
		if !line.MatchString(strings.TrimSpace(l)) {
			t.Errorf("not a line of metrics: %q", l)
		}
	}
}

// text is what a page's lines of output read.
func text(page string) string {
	var b strings.Builder
	for _, m := range regexp.MustCompile(`(?s)<div class="l" id="L\d+"><a [^>]*></a><code>(.*?)</code></div>`).
		FindAllStringSubmatch(page, -1) {
		b.WriteString(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(m[1], "")) + "\n")
	}
	return b.String()
}

// differ is where two texts part.
func differ(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("%.80q, not %.80q", a[i:], b[i:])
}

func TestOutputComesInPages(t *testing.T) {
	store := &files.Store{Dir: t.TempDir()}
	r := consoletest.Begin(store, head("long"))
	r.Play("p", "web1")
	for n := range 1500 {
		r.Came(r.Task(n, fmt.Sprintf("task %d", n), "ping"), "web1", wire.OK, nil)
	}
	r.Over(record.OK, 0)
	x := serve(t, store, nil)
	whole := x.page("/runs/long/output.txt")
	lines := strings.Count(whole, "\n")
	var all strings.Builder
	pages := (lines + 1999) / 2000
	for n := 1; n <= pages; n++ {
		all.WriteString(text(x.page(fmt.Sprintf("/runs/long/output?page=%d", n))))
	}
	if all.String() != whole {
		t.Errorf("%d pages hold %d bytes, the download has %d: %s", pages, all.Len(), len(whole), differ(all.String(), whole))
	}
	if page := x.page("/runs/long/output?line=4001"); !strings.Contains(page, `id="L4001"`) ||
		strings.Contains(page, `id="L4000"`) {
		t.Error("the address of a line leads to another page")
	}
}

// TestHostileOutputRunsNothing: whatever hosts say and are called, a page has no elements of their making, and none
// is long.
func TestHostileOutputRunsNothing(t *testing.T) {
	evil := consoletest.Hostile()
	names := slices.DeleteFunc(slices.Clone(evil), func(name string) bool {
		return len(name) > 200 || !utf8.ValidString(name)
	})[:8]
	store := &files.Store{Dir: t.TempDir()}
	h := head("evil")
	h.Name, h.Commit, h.Line, h.Dir = evil[0], evil[1], []string{"hark", evil[0], evil[20]}, evil[4]
	r := consoletest.Begin(store, h)
	r.Play(evil[0], names...)
	for n, text := range evil {
		task := r.Task(n, text[:min(len(text), 10<<10)], "debug")
		r.Came(task, names[n%len(names)], wire.StatusFailed,
			map[string]any{"msg": text, "stdout": text[:min(len(text), 10<<10)], "stderr": evil[1]})
		r.Warn(text[:min(len(text), 10<<10)])
	}
	r.Over(record.Failed, 2)
	x := serve(t, store, func(context.Context) ([]roster.Agent, error) {
		a := roster.Agent{Present: true}
		a.Name, a.Version, a.Trouble = evil[1], evil[0], evil[4]
		return []roster.Agent{a}, nil
	})
	paths := []string{"/runs", "/runs/evil", "/runs/evil/output", "/runs/evil/hosts", "/runs/evil/notices",
		"/runs/evil/search?q=%3Cscript%3E", "/runs/evil/compare",
		"/hosts", "/warnings", "/find?q=%3Cscript%3Ewindow", "/runs/%3Cscript%3E",
		"/hosts/%3Cscript%3Ewindow.hacked=1%3C%2Fscript%3E"}
	for n := range evil {
		paths = append(paths, fmt.Sprintf("/runs/evil/tasks/%d", n+1), fmt.Sprintf("/runs/evil/tasks/%d/g/1", n+1))
	}
	made := regexp.MustCompile(`<[a-z]+ [^>]* on[a-z]+=`)
	for _, path := range paths {
		a := x.ask(path)
		body, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		page := string(body)
		for _, bad := range []string{"<script>", "<img", "<iframe", "<style", "<plaintext", "<textarea", "<!--", "<base",
			"<svg onload", "\x1b", "\u202e", "\u2067", `href="javascript:`} {
			if i := strings.Index(page, bad); i >= 0 {
				t.Errorf("%s has %q: %.200s", path, bad, page[max(0, i-100):])
			}
		}
		if m := made.FindString(page); m != "" {
			t.Errorf("%s has an attribute of a host's making: %s", path, m)
		}
		const most = 4 << 20
		if len(page) > most {
			t.Errorf("%s has %d bytes", path, len(page))
		}
		if p := a.Header.Get("Content-Security-Policy"); !strings.Contains(p, "default-src 'self'") {
			t.Errorf("%s may run scripts: %q", path, p)
		}
	}
}

// event is one that a live page got.
type event struct{ name, id, data string }

// listen reads the events of an address until f says that it has enough.
func (x *site) listen(path string, after string, f func(event) bool) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, x.http.URL+path, nil)
	if err != nil {
		x.t.Fatal(err)
	}
	r.AddCookie(&x.in)
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		x.t.Fatal(err)
	}
	defer a.Body.Close()
	var e event
	lines := bufio.NewReader(a.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "event":
			e.name = value
		case "id":
			e.id = value
		case "data":
			e.data = value
		case "":
			if e.name != "" && !f(e) {
				return
			}
			e = event{}
		}
	}
}

// TestLiveGoesOnAfterABreak: a page that is followed by watchers who are cut off again and again, also because the
// console is another process, has in the end every line once.
func TestLiveGoesOnAfterABreak(t *testing.T) {
	store := &files.Store{Dir: t.TempDir(), Poll: 10 * time.Millisecond}
	run := consoletest.Begin(store, head("live"))
	run.Play("p", "web1", "web2")
	over := make(chan struct{})
	go func() {
		defer close(over)
		for n := range 300 {
			task := run.Task(n, fmt.Sprintf("task %d", n), "ping")
			run.Came(task, "web1", wire.OK, nil)
			run.Came(task, "web2", wire.OK, nil)
			time.Sleep(5 * time.Millisecond) // the run takes its time: what is tried is to watch it meanwhile
		}
		run.Over(record.OK, 0)
	}()
	var got strings.Builder
	tasks := map[string]string{}
	lastLine, lastPiece, ended, breaks := "0", "0", false, 0
	for !ended {
		x := serve(t, store, nil) // another process each time
		n := 0
		x.listen("/runs/live/output/live", lastLine, func(e event) bool {
			switch e.name {
			case "over":
				ended = true
				return false
			case "lines":
				var part string
				if err := json.Unmarshal([]byte(e.data), &part); err != nil {
					t.Fatal(err)
				}
				got.WriteString(text(part))
				lastLine = e.id
				n++
			}
			return n < 1
		})
		x.listen("/runs/live/live", lastPiece, func(e event) bool {
			if e.name == "pieces" {
				var pieces []struct{ ID, HTML string }
				if err := json.Unmarshal([]byte(e.data), &pieces); err != nil {
					t.Fatal(err)
				}
				for _, p := range pieces {
					tasks[p.ID] = p.HTML
				}
				lastPiece = e.id
			}
			return false
		})
		breaks++
	}
	<-over
	x := serve(t, store, nil)
	if want := x.page("/runs/live/output.txt"); got.String() != want || breaks < 3 {
		t.Errorf("after %d breaks the page has %d lines, the run showed %d", breaks, strings.Count(got.String(), "\n"),
			strings.Count(want, "\n"))
	}
	x.listen("/runs/live/live", lastPiece, func(e event) bool {
		var pieces []struct{ ID, HTML string }
		if e.name == "pieces" && json.Unmarshal([]byte(e.data), &pieces) == nil {
			for _, p := range pieces {
				tasks[p.ID] = p.HTML
			}
		}
		return e.name != "over"
	})
	for n := 1; n <= 300; n++ {
		if !strings.Contains(tasks["t"+strconv.Itoa(n)], `<b class="ok">2</b>&nbsp;ok`) {
			t.Fatalf("task %d reads %q", n, tasks["t"+strconv.Itoa(n)])
		}
	}
}
