package play

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/agent/wire"
	"hark/controller/internal/view"
	"hark/playbook/plan"
)

var update = flag.Bool("update", false, "rewrite the expectations")

// script is a view that writes down what it is shown.
type script struct {
	view.Silent
	lines []string
}

func (s *script) add(format string, a ...any) { s.lines = append(s.lines, fmt.Sprintf(format, a...)) }

func (s *script) PlayStart(p view.Play) { s.add("PLAY %s: %s", p.Name, strings.Join(p.Hosts, " ")) }
func (s *script) NoHostsMatched()       { s.add("no hosts matched") }
func (s *script) NoHostsRemaining()     { s.add("NO MORE HOSTS LEFT") }
func (s *script) TaskStart(t view.Task) { s.add("TASK %s", t.Name) }
func (s *script) ItemDone(r view.Result) {
	s.add("  %s: %s (item %s)", r.Host, r.Outcome.Status, r.Outcome.Label)
}
func (s *script) Retry(r view.Result) { s.add("  %s: retry", r.Host) }
func (s *script) Done(r view.Result)  { s.add("  %s: %s%s", r.Host, r.Outcome.Status, mark(r.Outcome)) }
func (s *script) Included(t view.Task, in view.Include) {
	s.add("included: %s for %s", in.Path, strings.Join(in.Hosts, ", "))
}
func (s *script) Progress(r view.Result) { s.add("  %s: progress", r.Host) }
func (s *script) Notified(handler, host string) {
	s.add("  notified %s for %s", handler, host)
}
func (s *script) Stats(st view.Stats) {
	for _, h := range st.Hosts {
		c := st.Counts[h]
		s.add("%s: ok=%d changed=%d unreachable=%d failed=%d skipped=%d rescued=%d ignored=%d",
			h, c.OK, c.Changed, c.Unreachable, c.Failed, c.Skipped, c.Rescued, c.Ignored)
	}
}

func mark(o *wire.Outcome) string {
	switch {
	case o.Ignored:
		return " ignored"
	case o.Rescued:
		return " rescued"
	}
	return ""
}

// TestOrder feeds events and compares the screen. A file has the steps of a plan, the events in the order in which
// they arrive, and what the screen shows after each of them.
func TestOrder(t *testing.T) {
	eachCase(t, "testdata/order/*.txt", replay)
}

// eachCase holds what a file says against what comes of it. A case is input and, indented by a tab, the expectations, which again writes
// anew.
func eachCase(t *testing.T, pattern string, again func(t *testing.T, text string) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := again(t, string(raw))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(raw), got); diff != "" {
				t.Errorf("came out differently (-want +got):\n%s", diff)
			}
		})
	}
}

// replay writes a case again, with the screen as it is now.
func replay(t *testing.T, text string) string {
	var out strings.Builder
	screen := &script{}
	rec := newRecap()
	var o *order
	p := &plan.Plan{}
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if strings.HasPrefix(line, "\t") {
			continue // the expectation: written anew
		}
		out.WriteString(line + "\n")
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		switch f[0] {
		case "steps:":
			p.Blocks = []plan.Block{{Body: testSteps(f[1:])}}
		case "hosts:", "free:":
			tasks := newTasks(p)
			o = newOrder(screen, func(w string) { screen.add("warning: %s", w) }, rec, tasks, f[0] == "free:", f[1:])
			for _, h := range f[1:] {
				o.enter(h)
			}
		case "stats":
			screen.Stats(rec.stats())
		case "settle":
			o.settle()
		default:
			o.add(testEvent(t, f))
		}
		for _, l := range screen.lines {
			out.WriteString("\t" + l + "\n")
		}
		screen.lines = nil
	}
	return out.String()
}

// testSteps makes steps of words such as "4", "4!" (gated), "4:include", "4!:meta".
func testSteps(words []string) []plan.Node {
	var nodes []plan.Node
	for _, w := range words {
		id, kind, _ := strings.Cut(w, ":")
		s := &plan.Step{ID: plan.ID(strings.TrimSuffix(id, "!")), Kind: plan.Task, Gate: strings.HasSuffix(id, "!")}
		if kind != "" {
			s.Kind = plan.Kind(kind)
		}
		s.Name = "t" + string(s.ID)
		nodes = append(nodes, plan.Node{Step: s})
	}
	return nodes
}

// testEvent reads "HOST KIND [STEP [STATUS]] [next=ID] [included=FILE,...] ...".
func testEvent(t *testing.T, f []string) wire.Event {
	e := wire.Event{Host: f[0], Kind: wire.EventKind(f[1])}
	o := &wire.Outcome{Status: wire.OK, Result: []byte("{}")}
	for i, w := range f[2:] {
		key, v, ok := strings.Cut(w, "=")
		switch {
		case !ok && i == 0:
			e.Step = plan.ID(w)
		case !ok && w == "adopted":
			e.Adopted = true
		case !ok && w == "ignored":
			o.Ignored = true
		case !ok && w == "rescued":
			o.Rescued = true
		case !ok:
			o.Status = wire.Status(w)
		case key == "next":
			e.Next = plan.ID(v)
		case key == "label":
			o.Label = v
		case key == "included":
			for n, path := range strings.Split(v, ",") {
				o.Included = append(o.Included, wire.Included{Path: path, Index: n})
			}
		case key == "at":
			o.Included[0].Index = int(v[0] - '0')
		case key == "text":
			e.Text = v
		default:
			t.Fatalf("bad event: %v", f)
		}
	}
	switch e.Kind {
	case wire.Done, wire.Item, wire.Retry, wire.Progress:
		e.Outcome = o
	}
	return e
}

// What waits for its place on the screen has a bound, whoever has the screen: beyond it all is shown, and nothing is lost.
func TestWhatWaitsForTheScreenHasABound(t *testing.T) {
	for _, paused := range []bool{false, true} {
		p := &plan.Plan{Blocks: []plan.Block{{Body: testSteps([]string{"1", "2"})}}}
		screen := &script{}
		o := newOrder(screen, func(string) {}, newRecap(), newTasks(p), false, []string{"a", "b"})
		o.enter("a")
		o.enter("b")
		o.paused = paused
		result, shown := []byte(`{"msg":"`+strings.Repeat("x", 1<<20)+`"}`), 0
		for range 3 * mostHeld >> 20 {
			o.add(wire.Event{Host: "b", Kind: wire.Item, Step: "2", Outcome: &wire.Outcome{Status: wire.OK, Result: result}})
			if o.held > mostHeld {
				t.Fatalf("%d bytes wait", o.held)
			}
		}
		if o.paused != paused {
			t.Error("the debugger has lost the screen")
		}
		o.drain()
		for _, l := range screen.lines {
			if strings.Contains(l, "b: ok") {
				shown++
			}
		}
		if shown != 3*mostHeld>>20 || o.held != 0 {
			t.Errorf("%d results are shown, %d bytes are left", shown, o.held)
		}
	}
}
