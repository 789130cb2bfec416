package display

import (
	"strings"
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/play/playtest"
	"hark/controller/internal/play/steps"
	"hark/playbook/plan"
)

// TestOrder feeds events and compares the screen. A file has the steps of a plan, the events in the order in which
// they arrive, and what the screen shows after each of them.
func TestOrder(t *testing.T) {
	playtest.Cases(t, "testdata/order/*.txt", replay)
}

// replay writes a case again, with the screen as it is now.
func replay(t *testing.T, text string) string {
	var out strings.Builder
	screen := &playtest.Script{}
	rec := NewRecap()
	var o *Order
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
			p.Blocks = []plan.Block{{Body: playtest.Steps(f[1:])}}
		case "hosts:", "free:":
			tasks := steps.Of(p)
			o = New(Config{View: screen, Warn: func(w string) { screen.Add("warning: %s", w) }, Recap: rec, Steps: tasks,
				Free: f[0] == "free:", Hosts: f[1:]})
			for _, h := range f[1:] {
				o.Enter(h)
			}
		case "stats":
			screen.Stats(rec.Stats())
		case "settle":
			o.PassAll()
		default:
			o.Add(testEvent(t, f))
		}
		for _, l := range screen.Lines {
			out.WriteString("\t" + l + "\n")
		}
		screen.Lines = nil
	}
	return out.String()
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

// What waits for its place on the screen has a bound, whoever has the screen: beyond it all is shown, and nothing is
// lost.
func TestWhatWaitsForTheScreenHasABound(t *testing.T) {
	for _, paused := range []bool{false, true} {
		p := &plan.Plan{Blocks: []plan.Block{{Body: playtest.Steps([]string{"1", "2"})}}}
		screen := &playtest.Script{}
		o := New(Config{View: screen, Warn: func(string) {}, Recap: NewRecap(), Steps: steps.Of(p),
			Hosts: []string{"a", "b"}})
		o.Enter("a")
		o.Enter("b")
		o.paused = paused
		result, shown := []byte(`{"msg":"`+strings.Repeat("x", 1<<20)+`"}`), 0
		for range 3 * mostHeld >> 20 {
			o.Add(wire.Event{Host: "b", Kind: wire.Item, Step: "2", Outcome: &wire.Outcome{Status: wire.OK, Result: result}})
			if o.held > mostHeld {
				t.Fatalf("%d bytes wait", o.held)
			}
		}
		if o.paused != paused {
			t.Error("the debugger has lost the screen")
		}
		o.Drain()
		for _, l := range screen.Lines {
			if strings.Contains(l, "b: ok") {
				shown++
			}
		}
		if shown != 3*mostHeld>>20 || o.held != 0 {
			t.Errorf("%d results are shown, %d bytes are left", shown, o.held)
		}
	}
}
