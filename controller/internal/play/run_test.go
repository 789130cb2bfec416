package play

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/play/link"
	"hark/controller/internal/play/playtest"
	"hark/controller/internal/play/steps"
	"hark/controller/internal/runs/rollout"
	"hark/modules"
	"hark/modules/all"
	"hark/modules/py/value"
	"hark/playbook/compile"
	"hark/playbook/inventory"
	"hark/playbook/plan"
	"hark/playbook/syntax"
)

// company is a link whose agents are puppets that play whatever plan they are given. What comes out of a task is said
// in its arguments: debug with "fail=a,b" fails on the hosts a and b, "lose=c" loses c.
type company struct {
	theatre
	asks link.Asks
}

func (c *company) Start(ctx context.Context, s wire.Start) error {
	raw := s.Plan
	if raw == nil {
		got := c.asks.Answer(ctx, wire.Ask{Run: s.Run, Play: s.Play, Host: s.Host, Kind: wire.AskPlan, Digest: s.Digest})
		raw = got.Data
	}
	p := &plan.Plan{}
	if err := json.Unmarshal(raw, p); err != nil {
		return err
	}
	t := &theatre{plan: p, events: c.events, outcome: outcomes(p), absent: c.absent, room: c.room}
	return t.enter(s, func(advances chan wire.Advance) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.sessions[s.Play+" "+s.Host] = advances
	})
}

// outcomes reads from the tasks' arguments how they come out.
func outcomes(p *plan.Plan) func(string, plan.ID) wire.Outcome {
	x := plan.NewIndex(p)
	return func(host string, id plan.ID) wire.Outcome {
		s := x.Step(id)
		arg := func(name string) []string {
			v, _ := s.Args.Get(name)
			text, _ := value.Text(v)
			return strings.Split(text, ",")
		}
		o := wire.Outcome{Status: wire.OK}
		switch {
		case s.Kind == plan.Meta:
			o.Meta = steps.RawText(s, "_raw_params")
		case slices.Contains(arg("fail"), host):
			o.Status = wire.StatusFailed
			section, ok := x.Refuge(id)
			o.Rescued = ok && section == plan.InRescue
			o.FailAll = steps.Constant(s.AnyErrorsFatal, false) || steps.Constant(s.RunOnce, false)
		}
		return o
	}
}

// TestRuns plays playbooks with puppets and compares the screen, the recap and the status. A file holds the
// hosts, the settings, the playbook and, indented by a tab, what came of it.
func TestRuns(t *testing.T) {
	playtest.Cases(t, "testdata/runs/*.txt", playCase)
}

func playCase(t *testing.T, text string) string {
	head, book, ok := strings.Cut(text, "---\n")
	if !ok {
		t.Fatal("a case has its settings before a line of ---")
	}
	var play strings.Builder
	for _, line := range strings.SplitAfter(book, "\n") {
		if !strings.HasPrefix(line, "\t") {
			play.WriteString(line)
		}
	}
	in, absent := caseInput(t, head, play.String())
	screen := &playtest.Script{}
	msgs := &notes{}
	in.View, in.Messages = screen, msgs
	if in.Stages != nil {
		in.Stages.Tell = func(at Stage) { tell(screen, at) }
	}
	var c *company
	in.Connect = func(_ context.Context, s Serve) (link.Link, error) {
		c = &company{theatre: *newTheatre(nil), asks: s.Asks}
		c.absent = absent
		return c, nil
	}
	res := runOrFail(t, in)
	if c != nil {
		for _, a := range c.sessions {
			close(a)
		}
	}
	out := head + "---\n" + play.String()
	for _, l := range slices.Concat(sorted(screen.Lines), msgs.lines) {
		out += "\t" + l + "\n"
	}
	return out + fmt.Sprintf("\tstatus %d\n", res.Status)
}

// tell shows a stage as it begins and as it is over.
func tell(s *playtest.Script, at Stage) {
	switch {
	case !at.Over:
		s.Add("STAGE %d of %d (%s): %s", at.N, at.Of, at.Name, strings.Join(at.Hosts, " "))
	default:
		s.Add("stage over: %d of %d lost, %d left, stop %v", at.Lost, at.SoFar, at.Left, at.Stop)
	}
}

// sorted puts the results of one task into the order of hosts: they arrive in any order.
func sorted(lines []string) []string {
	lines = slices.Clone(lines)
	for i := 0; i < len(lines); {
		j := i
		for j < len(lines) && strings.HasPrefix(lines[j], "  ") {
			j++
		}
		slices.Sort(lines[i:j])
		i = max(i+1, j)
	}
	return lines
}

func runOrFail(t *testing.T, in Input) Result {
	t.Helper()
	done := make(chan struct{})
	var res Result
	var err error
	go func() {
		defer close(done)
		res, err = Run(context.Background(), in)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("the run does not end")
	}
	if err != nil {
		in.Messages.Error(err.Error())
	}
	return res
}

// caseInput reads the lines before the playbook: "hosts: a b c", "absent: b", "start-at: NAME", "answers: x y",
// "tags: x".
func caseInput(t *testing.T, head, book string) (Input, map[string]string) {
	dir := t.TempDir()
	path := filepath.Join(dir, "site.yml")
	if err := os.WriteFile(path, []byte(book), 0o644); err != nil {
		t.Fatal(err)
	}
	loader := &syntax.Loader{}
	in := Input{Run: "test", Prompt: &answers{}}
	in.Gathering, in.InjectFacts = "explicit", true
	absent := map[string]string{}
	source := ""
	cfg := compile.Config{Modules: modules.NewRegistry(all.Modules()...), Keywords: value.NewDict(), InjectFacts: true}
	for _, line := range strings.Split(strings.TrimSpace(head), "\n") {
		key, v, _ := strings.Cut(line, ": ")
		switch key {
		case "hosts":
			source = strings.Join(strings.Fields(v), ",") + ","
		case "absent":
			for _, h := range strings.Fields(v) {
				absent[h] = "no agent is there"
			}
		case "start-at":
			in.StartAt = v
		case "answers":
			in.Prompt = &answers{list: strings.Fields(v)}
		case "tags":
			cfg.Tags = strings.Fields(v)
		case "step":
			in.Step = true
		case "stages", "stop-at":
			if in.Stages == nil {
				in.Stages = &Staging{StopAt: rollout.Share{Count: 1}}
			}
			var err error
			if key == "stages" {
				in.Stages.Stages, err = rollout.Parse(v)
			} else {
				in.Stages.StopAt, err = rollout.ParseShare(v)
			}
			if err != nil {
				t.Fatal(err)
			}
		default:
			if !strings.HasPrefix(line, "#") {
				t.Fatalf("bad setting %q", line)
			}
		}
	}
	inv, err := inventory.Load(context.Background(), inventory.Options{Sources: []string{source}, Loader: loader})
	if err != nil {
		t.Fatal(err)
	}
	in.Inventory = inv
	in.Project = compile.New(loader, cfg)
	pb, err := in.Project.Playbook(path)
	if err != nil {
		t.Fatal(err)
	}
	in.Playbooks = []*compile.Playbook{pb}
	return in, absent
}

// answers are what the user says at prompts, one after the other.
type answers struct {
	mu   sync.Mutex
	list []string
}

func (a *answers) next() (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.list) == 0 {
		return "", ErrAborted
	}
	said := a.list[0]
	a.list = a.list[1:]
	return said, nil
}

func (a *answers) Variable(context.Context, VarPrompt) (string, error) { return a.next() }
func (a *answers) Pause(context.Context, wire.Prompt) (string, error)  { return a.next() }
func (a *answers) Step(context.Context, string) (string, error)        { return a.next() }
func (a *answers) Line(context.Context, string) (string, error)        { return a.next() }
func (a *answers) Print(string)                                        {}
