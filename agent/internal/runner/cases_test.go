package runner

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// TestPlays runs the plays of testdata/*.txt and compares what they tell. A case is a title, the play, == and further
// sections: advance (what the gate says, a line each), answer (what the controller says to asks, in order), resume
// (the step to begin at), remote (yes: the calls go to the host's own agent; or names of variables: they say how it
// is reached), cancel (the step at whose beginning, or gate, the run is cancelled) and want.
func TestPlays(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	engine := templar.NewEngine()
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var rewritten []string
		for _, text := range strings.Split(strings.TrimSpace(string(raw)), "\n---\n") {
			c := readCase(t, text)
			t.Run(strings.TrimSuffix(filepath.Base(path), ".txt")+"/"+c.title, func(t *testing.T) {
				got := c.run(t, engine)
				if !*update && got != c.want {
					t.Errorf("got\n%s\nwant\n%s", got, c.want)
				}
				c.want = got
			})
			rewritten = append(rewritten, c.String())
		}
		if *update {
			if err := os.WriteFile(path, []byte(strings.Join(rewritten, "\n---\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

type testCase struct {
	title, play     string
	resume, cancel  plan.ID
	remote          string
	agent           bool // the session is on its host, and not the controller's own
	advance, answer []string
	want            string
}

func readCase(t *testing.T, text string) *testCase {
	title, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	c := &testCase{title: strings.TrimPrefix(title, "# ")}
	parts := strings.Split("\n"+rest, "\n== ")
	c.play = strings.TrimSpace(parts[0])
	for _, part := range parts[1:] {
		name, body, _ := strings.Cut(part, "\n")
		body = strings.TrimSpace(body)
		switch name {
		case "advance":
			c.advance = strings.Split(body, "\n")
		case "answer":
			c.answer = strings.Split(body, "\n")
		case "agent":
			c.agent = true
		case "remote":
			c.remote = body
		case "resume":
			c.resume = plan.ID(body)
		case "cancel":
			c.cancel = plan.ID(body)
		case "want":
			c.want = body
		default:
			t.Fatalf("%s: unknown section %q", c.title, name)
		}
	}
	return c
}

func (c *testCase) String() string {
	out := "# " + c.title + "\n" + c.play + "\n"
	if c.advance != nil {
		out += "== advance\n" + strings.Join(c.advance, "\n") + "\n"
	}
	if c.answer != nil {
		out += "== answer\n" + strings.Join(c.answer, "\n") + "\n"
	}
	if c.remote != "" {
		out += "== remote\n" + c.remote + "\n"
	}
	if c.agent {
		out += "== agent\n"
	}
	if c.resume != "" {
		out += "== resume\n" + string(c.resume) + "\n"
	}
	if c.cancel != "" {
		out += "== cancel\n" + string(c.cancel) + "\n"
	}
	return out + "== want\n" + c.want
}

// run runs the play on host h1 and gives the transcript.
func (c *testCase) run(t *testing.T, engine *templar.Engine) string {
	t.Helper()
	var log transcript
	advance, answer := c.advance, c.answer
	seq := uint64(0)
	ctx := context.Background()
	cancelled, cancel := context.WithCancel(ctx)
	defer cancel()
	cfg := Config{
		Own:       !c.agent,
		Cancelled: cancelled,
		Modules:   testModules(),
		Engine:    engine,
		Now:       func() time.Time { return time.Unix(1700000000, 0).UTC() },
		Sleep:     func(_ context.Context, d time.Duration) error { log.line("sleep %s", d); return nil },
		Emit: func(e wire.Event) {
			log.event(e)
			if c.cancel != "" && (e.Kind == wire.Started && e.Step == c.cancel || e.Next == c.cancel) {
				cancel()
			}
		},
		Jobs:    testJobs(&log),
		Environ: func(user string) ([]string, error) { return []string{"USER=" + user}, nil },
		Ask: func(_ context.Context, a wire.Ask) (wire.Answer, error) {
			log.line("ask %s", askText(a))
			if len(answer) == 0 {
				return wire.Answer{}, nil
			}
			var out wire.Answer
			if err := json.Unmarshal([]byte(answer[0]), &out); err != nil {
				return out, fmt.Errorf("bad answer in the case: %w", err)
			}
			answer = answer[1:]
			return out, nil
		},
		Gate: func(ctx context.Context, at plan.ID) (wire.Advance, error) {
			if ctx.Err() != nil {
				return wire.Advance{}, context.Cause(ctx)
			}
			seq++
			if at == "" {
				return wire.Advance{}, nil
			}
			if len(advance) == 0 {
				return wire.Advance{}, errors.New("the controller is gone")
			}
			a := wire.Advance{Play: "0.0"}
			if err := json.Unmarshal([]byte(advance[0]), &a); err != nil {
				return a, fmt.Errorf("bad advance in the case: %w", err)
			}
			advance = advance[1:]
			a.Seq = seq
			return a, nil
		},
	}
	vars := wire.HostVars{Inventory: argsOf("inventory_hostname", "h1")}
	p := planOf(t, c.play)
	start := wire.Start{Run: "r", Host: "h1", Vars: vars, Resume: c.resume, Remote: c.remote != ""}
	if c.remote != "yes" {
		start.Reach = strings.Fields(c.remote)
	}
	if err := New(cfg).Run(ctx, p, start); err != nil {
		log.line("broken: %v", err)
	}
	return strings.TrimSpace(strings.Join(log.lines, "\n"))
}

// testJobs finish at once, except those that may take less than two seconds.
func testJobs(log *transcript) Jobs {
	return Jobs{
		Start: func(_ context.Context, inv Invocation) (*value.Dict, error) {
			log.line("job of %s for %s", inv.Module.Name, inv.Call.Async)
			return value.DictOf("started", 1, "finished", 0, "ansible_job_id", fmt.Sprint("j", inv.Call.Async), "results_file",
				"/j"), nil
		},
		Wait: func(_ context.Context, _, id string) (*value.Dict, error) {
			log.line("wait for %s", id)
			if id == "j1s" {
				return value.DictOf("started", 1, "finished", 0, "ansible_job_id", id), nil
			}
			return value.DictOf("finished", 1, "ansible_job_id", id, "rc", 0, "changed", true), nil
		},
		Status: func(_ context.Context, q modules.JobQuery) (*value.Dict, error) {
			return value.DictOf("ansible_job_id", q.ID, "finished", 1, "mode", q.Mode), nil
		},
	}
}

type transcript struct{ lines []string }

func (l *transcript) line(format string, a ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, a...))
}

// event writes an event as a line: kind, step, status and what is set.
func (l *transcript) event(e wire.Event) {
	words := []string{string(e.Kind)}
	add := func(name, text string) {
		if text != "" {
			words = append(words, name+text)
		}
	}
	add("", string(e.Step))
	add("name=", e.Name)
	if o := e.Outcome; o != nil {
		add("", string(o.Status))
		for _, flag := range []struct {
			name string
			on   bool
		}{
			{"ignored", o.Ignored}, {"rescued", o.Rescued}, {"no_log", o.NoLog}, {"loop", o.Loop}, {"fail_all", o.FailAll},
			{"adopted", e.Adopted},
		} {
			if flag.on {
				words = append(words, flag.name)
			}
		}
		add("meta=", o.Meta)
		add("delegated=", o.Delegated)
		add("label=", o.Label)
		add("notify=", strings.Join(o.Notify, ","))
		for _, in := range o.Included {
			add("included=", in.Path+"("+in.Label+")")
		}
		if o.Retries > 0 {
			add("", fmt.Sprintf("attempt %d of %d", o.Attempts, o.Retries))
		}
		add("", string(sortedJSON(o.Result)))
		for _, ef := range o.Effects {
			var raw []byte
			if ef.Vars.Dict != nil {
				raw, _ = value.Encode(ef.Vars.Dict)
			}
			name := ef.Layer
			if ef.Host != "" {
				name = ef.Host + "." + name
			}
			if ef.Clear {
				name += " cleared"
			}
			add("\n    "+name+" ", string(sortedJSON(raw))+" ")
		}
	}
	if e.Every > 0 {
		add("every ", e.Every.String())
	}
	add("next=", string(e.Next))
	add("", string(e.State))
	add("", e.Text)
	l.line("%s", strings.TrimRight(strings.Join(words, " "), " "))
}

// sortedJSON has its keys in order, and nothing that changes from run to run.
func sortedJSON(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return nil
	}
	var x any
	if json.Unmarshal(raw, &x) != nil {
		return raw
	}
	if d, ok := x.(map[string]any); ok && d["exception"] != nil {
		d["exception"] = "..."
	}
	out, _ := json.Marshal(x)
	return out
}

// namesText are names, with one word for the variables of all become methods.
func namesText(names []string) string {
	short, become := []string{}, dialect.AllBecomeVariables()
	for _, name := range names {
		if !slices.Contains(become, name) {
			short = append(short, name)
		}
	}
	if len(names)-len(short) == len(become) {
		return strings.Join(append(short, "become*"), ",")
	}
	return strings.Join(names, ",")
}

func askText(a wire.Ask) string {
	words := []string{string(a.Kind)}
	for _, w := range []string{string(a.Step), a.Name, strings.Join(a.Hosts, ","), namesText(a.Names)} {
		if w != "" {
			words = append(words, w)
		}
	}
	if a.Call != nil {
		raw, _ := json.Marshal(a.Call)
		words = append(words, string(raw))
	}
	for _, in := range a.Includes {
		args, _ := value.Encode(in.Args.Dict)
		vars, _ := value.Encode(in.Vars.Dict)
		words = append(words, string(args), string(vars))
	}
	if a.Failing {
		words = append(words, "failing")
	}
	if a.Kw.Dict != nil {
		raw, _ := value.Encode(a.Kw.Dict)
		words = append(words, string(raw))
	}
	return strings.Join(words, " ")
}

// The modules of the cases. probe returns its arguments, except those that say what becomes of it.
type probeArgs struct {
	Changed bool        `arg:"changed"`
	Failed  bool        `arg:"failed"`
	Skipped bool        `arg:"skipped"`
	Msg     string      `arg:"msg"`
	Facts   *value.Dict `arg:"facts"`
	Warn    string      `arg:"warn"`
	Env     bool        `arg:"env"`
	Hang    bool        `arg:"hang"`
	Boom    bool        `arg:"boom"`
	Extra   *value.Dict `arg:"*"`
}

func probe(ctx context.Context, env *modules.Env, a probeArgs) (modules.Result, error) {
	if a.Boom {
		panic("boom")
	}
	if a.Hang {
		<-ctx.Done()
		return modules.Result{}, ctx.Err()
	}
	if a.Warn != "" {
		env.Warn("%s", a.Warn)
	}
	if a.Env {
		a.Extra.Put("environ", env.Environ)
		a.Extra.Put("user", env.User)
		a.Extra.Put("check", env.Check)
	}
	return modules.Result{Changed: a.Changed, Failed: a.Failed, Skipped: a.Skipped, Msg: a.Msg, Facts: a.Facts,
		Data: a.Extra}, nil
}

type strictArgs struct {
	Path string `arg:"path,required"`
}

type factArgs struct {
	Cacheable bool        `arg:"cacheable"`
	Facts     *value.Dict `arg:"*"`
}

func testModules() *modules.Registry {
	anyArgs := modules.With(func(m *modules.Module) { m.AnyArgs = true })
	return modules.NewRegistry(
		modules.Define("ansible.builtin.probe", "", probe, anyArgs),
		modules.Define("ansible.builtin.nocheck", "", probe, anyArgs,
			modules.With(func(m *modules.Module) { m.NoCheck = true })),
		modules.Define("ansible.builtin.debug", "", probe, anyArgs, modules.IsPure, modules.Is(modules.ShowsOnly)),
		modules.Define("ansible.builtin.strict", "",
			func(_ context.Context, _ *modules.Env, a strictArgs) (modules.Result, error) {
				return modules.Result{Data: value.DictOf("path", a.Path)}, nil
			}),
		modules.Define("ansible.builtin.set_fact", "",
			func(_ context.Context, _ *modules.Env, a factArgs) (modules.Result, error) {
				return modules.Result{Facts: a.Facts, Data: value.DictOf("changed", modules.Here),
					Marks: result.Marks{Cacheable: result.FlagOf(a.Cacheable)}}, nil
			}, anyArgs, modules.IsPure, modules.Is(modules.SetsVariables)),
		modules.Define("ansible.builtin.include_vars", "",
			func(ctx context.Context, env *modules.Env, a probeArgs) (modules.Result, error) {
				got, err := env.Asks.VarsFile(ctx, modules.VarsQuery{Name: a.Msg})
				if err != nil {
					return modules.Result{}, err
				}
				return modules.Result{Facts: value.DictOf("file", got.Vars)}, nil
			}, anyArgs, modules.IsPure, modules.Is(modules.LoadsVariables)),
		modules.Define("ansible.builtin.async_status", "",
			func(ctx context.Context, env *modules.Env, a probeArgs) (modules.Result, error) {
				status, err := env.Asks.Job(ctx, modules.JobQuery{ID: a.Msg, Mode: "status"})
				return modules.Result{Data: status}, err
			}, modules.Is(modules.AsksForJobs)),
		modules.Define("ansible.builtin.add_host", "",
			func(_ context.Context, env *modules.Env, a probeArgs) (modules.Result, error) {
				env.Asks.AddHost(modules.NewHost{Name: a.Extra.Text("name"), Groups: []string{"g"}})
				return modules.Result{Data: value.DictOf("add_host", a.Extra)}, nil
			}, anyArgs, modules.InSession, modules.Is(modules.ForAllHosts|modules.ChangesInventory)),
	)
}
