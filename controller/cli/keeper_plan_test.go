package cli

import (
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/fleet/roster"
)

// A keeper reads its hosts again when an agent gets another name, although there are as many as before.
func TestAKeeperNoticesThatAnAgentHasAnotherName(t *testing.T) {
	of := func(pairs ...string) string {
		var all []roster.Agent
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, roster.Agent{Hello: wire.Hello{Name: pairs[i], ID: pairs[i+1]}})
		}
		return agentNames(all)
	}
	before := of("web1", "a", "web2", "b")
	if again := of("web2", "b", "web1", "a"); again != before {
		t.Error("the order of agents means something")
	}
	for _, after := range []string{of("www1", "a", "web2", "b"), of("web1", "b", "web2", "a"), of("web1", "a"),
		of("web1", "a", "web2", "b", "web3", "c")} {
		if after == before {
			t.Error("other names are not noticed")
		}
	}
}
