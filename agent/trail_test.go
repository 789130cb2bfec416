package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"hark/agent/internal/runner"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// hostLog keeps what an agent logs.
type hostLog struct {
	mu    sync.Mutex
	text  bytes.Buffer  // guarded by mu
	wrote chan struct{} // one slot
}

func (l *hostLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	poke(l.wrote)
	return l.text.Write(p)
}

// until gives the lines so far when one of them has the message.
func (l *hostLog) until(t *testing.T, message string) (lines []map[string]any, text string) {
	t.Helper()
	limit := time.After(20 * time.Second)
	for {
		l.mu.Lock()
		text = l.text.String()
		l.mu.Unlock()
		lines = nil
		for d := json.NewDecoder(strings.NewReader(text)); d.More(); {
			var line map[string]any
			if err := d.Decode(&line); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, line)
		}
		if strings.Contains(text, `"message":"`+message+`"`) {
			return lines, text
		}
		select {
		case <-l.wrote:
		case <-limit:
			t.Fatalf("nothing says %q:\n%s", message, text)
		}
	}
}

type endsArgs struct {
	How    string `arg:"how"`
	Secret string `arg:"secret"`
}

// ends is a module that ends as it is told.
var ends = modules.Define("test.t.ends", "Ends.", func(_ context.Context, _ *modules.Env, a endsArgs) (modules.Result, error) {
	return modules.Result{Changed: a.How == "changed", Failed: a.How == "failed", Msg: "says " + a.Secret}, nil
})

// ending is a task that ends so.
func ending(id plan.ID, name, how string) *plan.Step {
	args := value.NewDict()
	args.Set("how", value.Str(how))
	args.Set("secret", value.Str("hunter2"))
	return &plan.Step{ID: id, Kind: plan.Task, Name: name, Action: "test.t.ends", Written: "ends", Args: plan.Dict{Dict: args}}
}

func newLogged(t *testing.T) (*target, *hostLog) {
	t.Helper()
	g, log := newTarget(t), &hostLog{wrote: make(chan struct{}, 1)}
	g.agent.cfg.Logger, g.agent.cfg.Modules = zerolog.New(log), modules.NewRegistry(ends)
	return g, log
}

// play has the target do a play of the steps and gives the lines of its log.
func (g *target) play(log *hostLog, play plan.Play, steps ...*plan.Step) (lines []map[string]any, text string) {
	g.t.Helper()
	play.ID = "0.0"
	p := &plan.Plan{Version: plan.VersionOf(play.Level), Play: play, Blocks: []plan.Block{{ID: "1"}}}
	for _, s := range steps {
		p.Blocks[0].Body = append(p.Blocks[0].Body, plan.Node{Step: s})
	}
	digest, body, err := p.Digest()
	if err != nil {
		g.t.Fatal(err)
	}
	in := g.opening("r")
	in.Start.Digest, in.Start.Plan = digest, body
	if ack := g.open(in); ack.Err != "" {
		g.t.Fatal(ack.Err)
	}
	return log.until(g.t, "play ended")
}

func TestTrailHasALineForEachTaskThatChangedOrFailed(t *testing.T) {
	g, log := newLogged(t)
	skipped, hidden, quiet, ignored := ending("1.1", "skipped", "changed"), ending("1.2", "set hunter2", "changed"), ending("1.4", "quiet", "changed"), ending("1.5", "bad", "failed")
	skipped.When = []plan.Expr{{V: value.Bool(false)}}
	hidden.NoLog = plan.Expr{V: value.Bool(true)}
	quiet.ChangedWhen = []plan.Expr{{V: value.Bool(false)}}
	ignored.IgnoreErrors = plan.Expr{V: value.Bool(true)}
	got, text := g.play(log, plan.Play{Name: "site"}, ending("1.0", "fine", "ok"), skipped, hidden,
		ending("1.3", strings.Repeat("n", 300), "changed"), quiet, ignored)
	line := func(more map[string]any) map[string]any {
		out := map[string]any{"level": "info", "run": "r", "operator": g.operator.Key, "host": "web1", "play": "0.0"}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	task := func(step, name, outcome string) map[string]any {
		return line(map[string]any{"step": step, "name": name, "module": "test.t.ends", "user": userName(""), "outcome": outcome, "message": "task " + outcome})
	}
	want := []map[string]any{
		line(map[string]any{"name": "site", "check": false, "message": "play began"}),
		line(map[string]any{"step": "1.2", "no_log": true, "message": "task ran"}),
		task("1.3", strings.Repeat("n", longestName)+"...", "changed"),
		task("1.4", "quiet", "changed"), // changed_when hides nothing from the host
		task("1.5", "bad", "failed"),
		line(map[string]any{"state": "finished", "ok": 2.0, "changed": 2.0, "failed": 1.0, "unreachable": 0.0, "skipped": 1.0, "message": "play ended"}),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if strings.Contains(text, "hunter2") {
		t.Errorf("arguments, results or what is hidden are in the log:\n%s", text)
	}
}

// Where secrets are hidden the log has names of tasks as the playbook has them: the agent does not know what a vault
// holds.
func TestTrailHasNoSecretsInNamesOfTasks(t *testing.T) {
	for level, want := range map[plan.Level][]any{
		dialect.SecretsRedacted.Level(): {"set {{ pw }}", nil, "ask {{ pw }}"},
		plan.Level219:                   {"set S3CRET", "S3CRET", "ask S3CRET"},
	} {
		t.Run(string(level), func(t *testing.T) {
			g, log := newLogged(t)
			vars := value.NewDict()
			vars.Set("pw", value.OpenedVault("cipher", "S3CRET", nil))
			failing, sealed := ending("1.2", "ask {{ pw }}", "failed"), ending("1.1", "S3CRET", "changed")
			sealed.Sealed = true
			lines, text := g.play(log, plan.Play{Level: level, Vars: plan.Dict{Dict: vars}},
				ending("1.0", "set {{ pw }}", "changed"), sealed, failing)
			var got []any
			for _, line := range lines {
				if line["step"] != nil {
					got = append(got, line["name"])
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s\n%s", diff, text)
			}
		})
	}
}

// A task whose controller goes away in its midst is named too.
func TestTrailNamesATaskThatWasInterrupted(t *testing.T) {
	log := &hostLog{wrote: make(chan struct{}, 1)}
	l := newControllerLink(&Agent{cfg: &Config{Logger: zerolog.New(log), Now: time.Now}}, "UA", "r", "web1", wire.Key{}, terms{})
	tr := newAuditLog(l, "0.0")
	tr.take(wire.Event{Kind: wire.Started, Step: "1.0", Name: "set S3CRET", Kept: "set {{ pw }}"})
	tr.begin(runner.Invocation{Module: ends})
	tr.take(wire.Event{
		Kind: wire.Done, Step: "1.0", Name: "set S3CRET", Outcome: &wire.Outcome{Status: wire.StatusUnreachable},
	})
	lines, text := log.until(t, "task unreachable")
	if len(lines) != 1 || lines[0]["name"] != "set {{ pw }}" {
		t.Errorf("got\n%s", text)
	}
}

func TestTrailOfCheckModeHasThePlayAlone(t *testing.T) {
	g, log := newLogged(t)
	s := ending("1.0", "x", "failed")
	s.CheckMode = plan.Expr{V: value.Bool(true)}
	got, text := g.play(log, plan.Play{Check: true}, s)
	if len(got) != 2 || got[0]["check"] != true || got[1]["state"] != "failed" {
		t.Errorf("got\n%s", text)
	}
}

func TestTrailHasDelegatedCalls(t *testing.T) {
	g, log := newLogged(t)
	for id, c := range map[string]struct{ how, message string }{
		"1": {"changed", "call changed"}, "2": {"failed", "call failed"}, "3": {"hidden", "call ran"},
	} {
		hidden := c.how == "hidden"
		how := c.how
		if hidden {
			how = "changed"
		}
		e := wire.Exec{Run: "r" + id, ID: "x", Host: "web1", Play: "2.0", Step: "1.7",
			Call: wire.Call{Module: "test.t.ends", Args: json.RawMessage(`{"how":"` + how + `","secret":"hunter2"}`), NoLog: hidden}}
		order := wire.Order{Exec: e, HostKey: g.key(), Lease: time.Minute}
		frame := g.pack(g.header(wire.KindExec, e.Run), order, wire.Packing{Sign: g.operator, To: g.identity.XKey, Box: g.operator})
		if ack := g.request(wire.KindExec, frame); ack.Err != "" {
			t.Fatal(ack.Err)
		}
		lines, text := log.until(t, c.message)
		want := map[string]any{"level": "info", "run": e.Run, "operator": g.operator.Key, "host": "web1", "play": "2.0", "step": "1.7", "message": c.message}
		if hidden {
			want["no_log"] = true
		} else {
			want["module"], want["user"], want["outcome"] = "test.t.ends", userName(""), how
		}
		at := slices.IndexFunc(lines, func(l map[string]any) bool { return l["message"] == c.message })
		if diff := cmp.Diff(want, lines[at]); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.how, diff)
		}
		if strings.Contains(text, "hunter2") {
			t.Errorf("arguments or results are in the log:\n%s", text)
		}
	}
}

func TestTrailNamesTheJob(t *testing.T) {
	log := &hostLog{wrote: make(chan struct{}, 1)}
	l := newControllerLink(&Agent{cfg: &Config{Logger: zerolog.New(log), Now: time.Now}}, "UA", "r", "web1", wire.Key{}, terms{})
	tr := newAuditLog(l, "0.0")
	c := tr.watch(runner.Config{Jobs: runner.Jobs{Start: func(context.Context, runner.Invocation) (*value.Dict, error) {
		return value.DictOf("started", 1, "ansible_job_id", "j12.34"), nil
	}}})
	if _, err := c.Jobs.Start(t.Context(), runner.Invocation{Module: &modules.Module{Name: "a.b.c"}, Call: wire.Call{User: wire.RunAs{User: "deploy"}}}); err != nil {
		t.Fatal(err)
	}
	tr.take(wire.Event{Kind: wire.Done, Step: "1.0", Name: "long", Outcome: &wire.Outcome{Status: wire.Changed}})
	lines, text := log.until(t, "task changed")
	if len(lines) != 1 || lines[0]["job"] != "j12.34" || lines[0]["user"] != "deploy" || lines[0]["module"] != "a.b.c" {
		t.Errorf("got\n%s", text)
	}
}
