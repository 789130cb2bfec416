package cli

import (
	"slices"
	"testing"

	"hark/controller/internal/fleet/factcache"
	"hark/modules/py/value"
)

// TestOnlyWholeFactsAreForTheFleet: what a ping finds is not, and is no fact that anybody has gathered; each finds it
// anew.
func TestOnlyWholeFactsAreForTheFleet(t *testing.T) {
	var gathered []string
	r := &recording{
		book: factcache.In(t.TempDir()), agentOf: func(host string) string { return "agent-of-" + host },
		gathered: func(agent string) { gathered = append(gathered, agent) },
	}
	ping, whole := value.NewDict(), value.NewDict()
	ping.Set("discovered_interpreter_python", value.UnsafeStr("/usr/bin/python3"))
	whole.Set("gather_subset", value.NewList(value.UnsafeStr("all")))
	for host, facts := range map[string]*value.Dict{"h1": ping, "h2": whole, "h3": nil} {
		if err := r.Store(host, facts); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(gathered, []string{"agent-of-h2"}) {
		t.Errorf("for the fleet are %v", gathered)
	}
	if _, _, ok := r.book.Load("agent-of-h1"); ok {
		t.Error("what a ping found is on record")
	}
}
