package dutystate

import (
	"fmt"
	"testing"
	"time"
)

// Drift of one task is one row and not one for each host, also where the difference names the host.
func TestDriftOfATaskStandsTogether(t *testing.T) {
	var states []State
	for i := range 6 {
		host := fmt.Sprintf("h%d", i+1)
		states = append(states, State{Duty: "base", Host: host, Kind: Drifted, Drift: []Change{
			{Task: "motd", Diff: "+" + host, Since: time.Unix(int64(100-i), 0)}, {Task: "conf", Diff: "+same",
				Since: time.Unix(5, 0)},
		}})
	}
	all := Drifts(states, func(*State) bool { return true })
	for few, want := range map[int]string{
		0: "conf [h1 h2 h3 h4 h5 h6] 0, motd [h1 h2 h3 h4 h5 h6] 6 since 95, ",
		2: "conf [h1 h2 h3 h4 h5 h6] 0, motd [h1] 0, motd [h2] 0, motd [h3 h4 h5 h6] 4 since 95, ",
	} {
		got := ""
		for _, g := range ByTask(all, few) {
			got += fmt.Sprintf("%s %v %d", g.Task, g.Hosts, g.Merged)
			if g.Merged > 0 {
				got += fmt.Sprintf(" since %d", g.Since.Unix())
			}
			got += ", "
		}
		if got != want {
			t.Errorf("%d: %s", few, got)
		}
	}
}
