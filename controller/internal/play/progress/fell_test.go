package progress

import (
	"slices"
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/play/steps"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// TestWhereAHostFell: the first failure that nobody rescues counts, whatever always sections do after it, and a handler
// is its flush.
func TestWhereAHostFell(t *testing.T) {
	step := func(id plan.ID, kind plan.Kind) plan.Node {
		return plan.Node{Step: &plan.Step{ID: id, Kind: kind, Name: string(id)}}
	}
	block := plan.Block{ID: "b", Body: []plan.Node{step("2", plan.Task)}, Rescue: []plan.Node{step("3", plan.Task)},
		Always: []plan.Node{step("4", plan.Task)}}
	p := &plan.Plan{Blocks: []plan.Block{{ID: "a", Body: []plan.Node{step("1", plan.Task), {Block: &block},
		step("5", plan.Meta)}}}, Handlers: []plan.Handler{
		{Step: &plan.Step{ID: "0.1", Kind: plan.Task, Name: "h", Handler: true}},
		{Step: &plan.Step{ID: "0.2", Kind: plan.Task, Name: "i", Handler: true}}}}
	for name, tc := range map[string]struct {
		failed, well []plan.ID
		want         plan.ID
		after        int
	}{
		"at a task":                {failed: []plan.ID{"1"}, want: "1"},
		"rescued":                  {failed: []plan.ID{"2"}, well: []plan.ID{"3", "4"}},
		"in the rescue":            {failed: []plan.ID{"2", "3"}, want: "3"},
		"in the rescue and always": {failed: []plan.ID{"2", "3", "4"}, want: "3"},
		"in a handler":             {failed: []plan.ID{"5.0.1"}, want: "5"},
		"in the second handler":    {well: []plan.ID{"5.0.1"}, failed: []plan.ID{"5.0.2"}, want: "5", after: 1},
	} {
		c := New(steps.Of(p))
		c.Begin("h1", "")
		tell := func(ids []plan.ID, status wire.Status) {
			for _, id := range ids {
				c.Note(wire.Event{Kind: wire.Done, Host: "h1", Step: id, Outcome: &wire.Outcome{Status: status}})
			}
		}
		if tc.after > 0 {
			tell(tc.well, wire.OK)
		}
		tell(tc.failed, wire.StatusFailed)
		if tc.after == 0 {
			tell(tc.well, wire.OK)
		}
		if at, after := c.Fell("h1"); at != tc.want || len(after) != tc.after {
			t.Errorf("%s: fell at %q with %v, want %q with %d", name, at, after, tc.want, tc.after)
		}
	}
}

// TestOwedHandlersArePendingUntilAFlush: what a host had notified before it went on.
func TestOwedHandlersArePendingUntilAFlush(t *testing.T) {
	p := &plan.Plan{Blocks: []plan.Block{{ID: "a", Body: []plan.Node{
		{Step: &plan.Step{ID: "1", Kind: plan.Task}},
		{Step: &plan.Step{ID: "2", Kind: plan.Meta, Args: plan.Dict{Dict: flush()}}},
		{Step: &plan.Step{ID: "3", Kind: plan.Task}},
	}}}}
	for begin, want := range map[plan.ID]map[plan.ID]int{"1": {"1": 1, "2": 1, "3": 0}, "2": {"2": 1, "3": 0}} {
		c := New(steps.Of(p))
		c.Owes("h1", begin, []string{"restart"})
		c.Begin("h1", begin)
		for at, n := range want {
			if got := c.Pending("h1", at); len(got) != n || n == 1 && !slices.Equal(got, []string{"restart"}) {
				t.Errorf("from %s at %s: %v, want %d", begin, at, got, n)
			}
		}
	}
}

func flush() *value.Dict {
	d := value.NewDict()
	d.Set("_raw_params", value.Str("flush_handlers"))
	return d
}
