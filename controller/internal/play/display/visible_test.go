package display

import (
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/play/steps"
	"hark/controller/internal/ui/view"
	"hark/playbook/plan"
)

// watcher is a view that counts results and those of them that came with effects.
type watcher struct {
	view.Silent
	seen, effects int
}

func (w *watcher) look(r view.Result) {
	if r.Outcome != nil {
		w.seen++
		w.effects += len(r.Outcome.Effects)
	}
}

func (w *watcher) ItemDone(r view.Result)  { w.look(r) }
func (w *watcher) Retry(r view.Result)     { w.look(r) }
func (w *watcher) Done(r view.Result)      { w.look(r) }
func (w *watcher) Progress(r view.Result)  { w.look(r) }
func (w *watcher) AsyncDone(r view.Result) { w.look(r) }

func TestViewsGetNoEffects(t *testing.T) {
	for _, free := range []bool{false, true} {
		w := &watcher{}
		of := plan.Plan{Blocks: []plan.Block{{Body: []plan.Node{{Step: &plan.Step{ID: "1", Name: "secret",
			Action: "command"}}}}}}
		o := New(Config{View: w, Warn: func(string) {}, Recap: NewRecap(), Steps: steps.Of(&of), Free: free,
			Hosts: []string{"web1"}})
		event := func(k wire.EventKind, text string) wire.Event {
			return wire.Event{Kind: k, Host: "web1", Step: "1", Text: text, Outcome: &wire.Outcome{
				Status: wire.OK, NoLog: true, Result: []byte(`{"censored":"hidden"}`), Effects: []wire.Effect{{Layer: "set"}},
			}}
		}
		o.Enter("web1")
		o.Halt(event(wire.Done, ""))
		o.Resume()
		for _, e := range []wire.Event{
			event(wire.Started, ""), event(wire.Item, ""), event(wire.Retry, ""), event(wire.Progress, ""),
			event(wire.Progress, "over"), event(wire.Done, ""),
		} {
			o.Add(e)
		}
		o.Add(wire.Event{Kind: wire.Ended, Host: "web1", State: wire.Finished})
		if w.seen < 6 || w.effects != 0 {
			t.Errorf("free %v: %d results were shown, with %d effects", free, w.seen, w.effects)
		}
	}
}
