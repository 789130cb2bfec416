package roster

import (
	"os/exec"
	"testing"

	"hark/agent/wire"
)

// A broker that is killed finds messages again that were replaced before they were purged. Agents that were removed
// stay removed.
func TestAKilledBrokerBringsNobodyBack(t *testing.T) {
	dir := t.TempDir()
	f := newFleetIn(t, dir)
	f.ensure()
	stays, goes, again := newAgent(t), newAgent(t), newAgent(t)
	for range 2 {
		f.say(stays, stays, wire.KindHello, wire.Hello{Name: "stays"})
		f.say(goes, goes, wire.KindHello, wire.Hello{Name: "goes"})
		f.say(again, again, wire.KindHello, wire.Hello{Name: "again"})
		f.say(goes, goes, wire.KindBeat, wire.Beat{})
	}
	f.say(goes, goes, wire.KindBye, wire.Hello{})
	for _, name := range []string{"goes", "again"} {
		if ok, err := f.roster(t.TempDir()).Forget(t.Context(), name); !ok || err != nil {
			t.Fatalf("%s: %v, %v", name, ok, err)
		}
	}
	f.say(again, again, wire.KindHello, wire.Hello{Name: "again"})
	killed := t.TempDir() // what a broker leaves that is killed now
	if out, err := exec.Command("cp", "-a", dir+"/.", killed).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	after := newFleetIn(t, killed)
	for when, f := range map[string]*fleet{"before": f, "after": after} {
		all, err := f.roster(t.TempDir()).All(t.Context())
		if err != nil || len(all) != 2 || all[0].Name != "again" || all[1].Name != "stays" || !all[0].Present {
			t.Errorf("%s the broker was killed: %+v, %v", when, all, err)
		}
	}
}
