package link

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// steps is a plan of calls of a module with one argument, one after the other.
func steps(id string, gated bool, module string, args ...string) *plan.Plan {
	p := &plan.Plan{Version: plan.Version, Play: plan.Play{Name: "test", ID: id, Strategy: "linear", Gated: gated}}
	b := plan.Block{ID: "1"}
	for i, a := range args {
		d := value.NewDict()
		d.Set("text", value.SourceText(a))
		b.Body = append(b.Body, plan.Node{Step: &plan.Step{
			ID: plan.ID("1").Under(i), Kind: plan.Task, Name: a, Action: module, Written: module, Args: plan.Dict{Dict: d}, Gate: gated,
		}})
	}
	p.Blocks = []plan.Block{b}
	return p
}

type echoArgs struct {
	Text string `arg:"text"`
}

// world is what the modules of a test do and count.
type world struct {
	mu    sync.Mutex
	calls map[string]int // by text

	began   chan string   // texts of "hang" that have begun
	release chan struct{} // closed to let "hang" end
}

func newWorld() *world {
	return &world{calls: map[string]int{}, began: make(chan string, 100), release: make(chan struct{})}
}

func (w *world) count(text string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[text]
}

func (w *world) registry() *modules.Registry {
	note := func(a echoArgs) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.calls[a.Text]++
	}
	echo := modules.Define("test.t.echo", "Returns its text.", func(_ context.Context, _ *modules.Env, a echoArgs) (modules.Result, error) {
		note(a)
		return modules.Result{Changed: true, Msg: a.Text}, nil
	})
	hang := modules.Define("test.t.hang", "Waits until it is let go.", func(ctx context.Context, _ *modules.Env, a echoArgs) (modules.Result, error) {
		note(a)
		w.began <- a.Text
		select {
		case <-w.release:
			return modules.Result{Msg: a.Text}, nil
		case <-ctx.Done():
			return modules.Result{}, errors.New("it was ended")
		}
	})
	boom := modules.Define("test.t.boom", "Panics.", func(context.Context, *modules.Env, echoArgs) (modules.Result, error) {
		panic("boom")
	})
	return modules.NewRegistry(echo, hang, boom)
}

// results are the messages of the Done events, by host.
func results(t *testing.T, events []wire.Event) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, e := range events {
		if e.Kind != wire.Done {
			continue
		}
		var r struct{ Msg string }
		if err := json.Unmarshal(e.Outcome.Result, &r); err != nil {
			t.Fatal(err)
		}
		out[e.Host] = append(out[e.Host], r.Msg)
	}
	return out
}
