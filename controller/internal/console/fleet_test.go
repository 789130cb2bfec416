package console_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/console"
	"hark/controller/internal/console/consoletest"
	"hark/controller/internal/duties/duty"
	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/fleet/streams"
	"hark/controller/internal/runs/files"
	"hark/controller/internal/runs/record"
	"hark/modules/py/value"
)

// said is what a fleet of three hosts says of itself.
func said(now time.Time) []roster.Agent {
	named := func(name string) roster.Agent {
		a := roster.Agent{Present: true, Seen: now, Since: now}
		a.Name, a.Version, a.OS, a.Arch = name, "1.4.2", "linux", "amd64"
		return a
	}
	web1, web2, db := named("web1"), named("web2"), named("db.example")
	web1.RefusedLastHour, web1.Refused = map[wire.Reason]uint64{wire.Untrusted: 3, wire.Replayed: 1},
		map[wire.Reason]uint64{wire.Untrusted: 1200}
	web1.Jobs, web1.JobCount = []wire.BeatJob{{ID: "j1.2", Run: "k3f9aaaa", State: "running", Began: now.Add(-time.Hour)}}, 3
	web2.Hold = &wire.Hold{Until: now.Add(time.Hour), Why: "disk swap"}
	db.Present, db.Version = false, "1.4.1"
	return []roster.Agent{web1, web2, db}
}

// kept are the words of one keeper: one host drifts, one failed, and another duty is paused.
func cached(now time.Time) dutystate.Words {
	st := func(duty, host string, k dutystate.Kind) dutystate.State {
		return dutystate.State{V: dutystate.Version, Duty: duty, Host: host, Kind: k, Since: now.Add(-time.Hour), At: now,
			Commit: "9f31c2", Run: "k3f9aaaa", Tasks: 9, Blind: []string{"migrate"}}
	}
	drifts, failed := st("base", "web1", dutystate.Drifted), st("base", "db.example", dutystate.Failed)
	drifts.Drift = []dutystate.Change{{Task: "nginx : conf", Diff: "-old <b>\n+new\n", Since: now.Add(-time.Hour)}}
	drifts.Past = []dutystate.Past{{From: now.Add(-time.Hour), To: now, Times: 7, Kind: dutystate.Drifted,
		Run: "k3f9aaaa", Tasks: []string{"nginx : conf"}}}
	drifts.Noise, drifts.NoiseCommit = []string{"apt : update"}, "9f31c2"
	failed.Why = "no space left"
	return dutystate.Words{
		Keeper: "UKEEPER",
		Definitions: []dutystate.Definition{
			{Name: "base", Keeper: "UKEEPER", Mode: duty.Check, Play: "site.yml", Hosts: "all", Every: "30m", Period: time.Hour,
				Count: 3, Commit: "9f31c2", Next: now.Add(time.Minute), At: now},
			{Name: "ntp", Keeper: "UKEEPER", Mode: duty.Enforce, Period: time.Hour, At: now,
				Paused: &dutystate.Pause{Why: "holidays"}},
			{Name: "old", Keeper: "UKEEPER", Gone: true},
		},
		States: []dutystate.State{drifts, st("base", "web2", dutystate.Kept), failed},
	}
}

func whole(t *testing.T, store *files.Store) *site {
	now := time.Now()
	return serveAs(t, store, func(c *console.Config) {
		c.Fleet = func(context.Context) ([]roster.Agent, error) { return said(now), nil }
		c.Duties = func(context.Context) (console.Words, error) {
			return console.Words{All: []dutystate.Words{cached(now)},
				Warnings: []string{"the keeper UOTHER is not believed here"}}, nil
		}
		c.Streams = func(context.Context) ([]streams.Size, error) {
			return []streams.Size{{Stream: "HARK_RUNS", Bytes: 4711, Messages: 12}}, nil
		}
		c.Facts = func(_ context.Context, host string) (*value.Dict, time.Time, bool) {
			v, err := value.Decode([]byte(`{"ansible_distribution": "Debian", "ansible_distribution_version": "12.4", "ansible_memtotal_mb": 2048, "ansible_local": {"password": "s3cret"},
				"password": "s3cret", "ansible_default_ipv4": {"address": "192.0.2.7"}, "ansible_kernel": null, "ansible_fqdn": {"a": "s3cret"}}`), value.KindUnsafe)
			if err != nil {
				t.Error(err)
			}
			facts, _ := v.(*value.Dict)
			return facts, now.Add(-time.Hour), host == "web1"
		}
	})
}

func TestFleetIsShownAsItSaysOfItself(t *testing.T) {
	store := &files.Store{Dir: t.TempDir()}
	small(store, "k3f9aaaa")
	jobs := consoletest.Begin(store, record.Head{Run: "jobs0000", At: time.Now().Add(-time.Second),
		Line: []string{"hark", "play", "jobs.yml"}, Groups: map[string][]string{"web": {"web[1:2]"}}})
	jobs.Play("p", "web1", "web2")
	start := jobs.Task(1, "begin it", "command")
	jobs.Came(start, "web1", wire.Changed, map[string]any{"ansible_job_id": "j1.2", "started": 1, "finished": 0,
		"failed": 0})
	jobs.Came(start, "web2", wire.Changed, map[string]any{"ansible_job_id": "j3.4", "started": 1, "finished": 0,
		"failed": 0})
	jobs.Came(jobs.Task(2, "await it", "async_status"), "web2", wire.OK,
		map[string]any{"ansible_job_id": "j3.4", "started": 1, "finished": 1})
	jobs.Over(record.OK, 0)
	x := whole(t, store)
	for path, wants := range map[string][]string{
		"/hosts": {"3 jobs", "held", "refused lately: 3 untrusted, 1 replayed", "Debian 12.4",
			"web (2)", ">2</b><span>present", "of another version than 1.4.2"},
		"/hosts?state=absent":     {"db.example"},
		"/hosts?group=web&with=2": {"web2"},
		"/hosts/web1": {"Debian 12.4", "2048 MB", "192.0.2.7",
			`class="tag" href="/hosts?group=web"`, "j1.2", "/duties/base/hosts/web1?keeper=UKEEPER", "3 untrusted, 1 replayed",
			"untrusted", "drifted"},
		"/hosts/web2": {"Keepers leave this host alone until", "disk swap"},
		"/duties": {"base", "<b>1</b> failed", "<b>1</b> drifted", "<b>1</b> kept",
			"checks cannot look at 1 of 9 tasks", "paused: holidays", "UOTHER is not believed"},
		"/duties/base": {"nginx : conf", `<span class="del">-old &lt;b&gt;</span>`,
			`<span class="add">&#43;new</span>`, "1 host", "no space left", "apt : update", "migrate", "/runs/k3f9aaaa"},
		"/duties/base?state=failed":             {"db.example"},
		"/duties/base?keeper=UKEEP":             {"nginx : conf"},
		"/duties/base/hosts/web1?keeper=UKEEPE": {"<td>7</td>", "nginx : conf", "9f31c2"},
		"/jobs": {"3 jobs on 1 host", "2 of them are not named", "j1.2",
			"/runs/k3f9aaaa/jobs#j1.2"},
		"/jobs?with=web2": {"No job is like that"},
		"/warnings": {"in the last hour it refused messages: 3 untrusted, 1 replayed",
			"went without a word", "paused: holidays", "refused 1", "UOTHER"},
		"/warnings?kind=duty": {"holidays"},
		"/runs/jobs0000/jobs": {`id="j1.2"`, "left running", "finished", "begin it", "/runs/jobs0000#t1"},
		"/runs/jobs0000":      {"/runs/jobs0000/jobs"},
	} {
		text := strings.ReplaceAll(x.page(path), "+new", "&#43;new")
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %q", path, want)
			}
		}
		if strings.Contains(text, "s3cret") {
			t.Errorf("%s shows a fact that is nobody's business", path)
		}
	}
	for path, not := range map[string]string{"/hosts?state=absent": "/hosts/web1",
		"/hosts?group=web&with=2": "/hosts/web1", "/duties": "/duties/old", "/duties/base?state=failed": "/hosts/web2",
		"/warnings?kind=duty": "untrusted"} {
		if strings.Contains(x.page(path), not) {
			t.Errorf("%s has %q", path, not)
		}
	}
	for _, path := range []string{"/duties/old", "/duties/none", "/duties/base?keeper=UOTHER",
		"/duties/base/hosts/nobody"} {
		if status := x.ask(path).StatusCode; status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}

// TestSealedDutiesAreNotTakenForNone: a console that cannot read a keeper's words does not say that there is no keeper.
func TestSealedDutiesAreNotTakenForNone(t *testing.T) {
	for warning, wants := range map[string]string{"": "No keeper holds hosts", "they are sealed": "No duties that can be read"} {
		x := serveAs(t, &files.Store{Dir: t.TempDir()}, func(c *console.Config) {
			c.Duties = func(context.Context) (console.Words, error) {
				if warning == "" {
					return console.Words{}, nil
				}
				return console.Words{Warnings: []string{warning}}, nil
			}
		})
		if text := x.page("/duties"); !strings.Contains(text, wants) || !strings.Contains(text, warning) {
			t.Errorf("with the warning %q the page has no %q:\n%s", warning, wants, text)
		}
	}
}

func TestFleetIsInTheMetrics(t *testing.T) {
	x := whole(t, &files.Store{Dir: t.TempDir()})
	text := x.page("/metrics", "Authorization", "Bearer scrape")
	for _, want := range []string{
		`hark_agents_refused_lately{reason="untrusted"} 3`, `hark_jobs 3`, `hark_stream_bytes{stream="HARK_RUNS"} 4711`,
		`hark_stream_messages{stream="HARK_RUNS"} 12`,
		`hark_duty_hosts{duty="base",keeper="UKEEPER",state="drifted"} 1`, `hark_duty_paused{duty="ntp",keeper="UKEEPER"} 1`,
		`hark_duty_paused{duty="base",keeper="UKEEPER"} 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// TestBrokerThatIsAwayIsSaid: pages that need it say so, the others show what there is.
func TestBrokerThatIsAwayIsSaid(t *testing.T) {
	store := &files.Store{Dir: t.TempDir()}
	small(store, "k3f9aaaa")
	away := errors.New("the broker at nats://broker.example is away")
	x := serveAs(t, store, func(c *console.Config) {
		c.Fleet = func(context.Context) ([]roster.Agent, error) { return nil, away }
		c.Duties = func(context.Context) (console.Words, error) { return console.Words{}, away }
		c.Streams = func(context.Context) ([]streams.Size, error) { return nil, away }
	})
	for path, status := range map[string]int{"/runs": 200, "/hosts": 200, "/hosts/web1": 200, "/warnings": 200,
		"/metrics": 200, "/duties": 502, "/jobs": 502, "/duties/base": 502} {
		a := x.ask(path)
		if a.StatusCode != status {
			t.Errorf("%s: %s, want %d", path, a.Status, status)
		}
		if path == "/runs" || path == "/metrics" {
			continue
		}
		var b strings.Builder
		if err := a.Write(&b); err != nil || !strings.Contains(b.String(), away.Error()) {
			t.Errorf("%s does not say why: %v", path, err)
		}
	}
}

// TestEmptyConsoleSaysWhatToDo: each page of a console before anything was done leads to the next step.
func TestEmptyConsoleSaysWhatToDo(t *testing.T) {
	x := serve(t, &files.Store{Dir: t.TempDir()}, nil)
	for path, want := range map[string]string{
		"/runs": "hark run all -m ping", "/hosts": "hark console use access.json", "/duties": "hark console use access.json",
		"/jobs": "hark console use access.json", "/warnings": "Nothing is wrong", "/find?q=x": "0 runs",
	} {
		if text := x.page(path); !strings.Contains(text, want) {
			t.Errorf("%s has no %q", path, want)
		}
	}
	none := whole(t, &files.Store{Dir: t.TempDir()})
	if text := none.page("/jobs?with=nothing"); !strings.Contains(text, "No job is like that") {
		t.Errorf("%.300s", text)
	}
}
