package plan

import (
	"fmt"
	"slices"
	"testing"

	"hark/modules/py/value"
)

// fleetPlan is a plan as it is for so many hosts.
func fleetPlan(hosts int) *Plan {
	names := value.NewList()
	for i := range hosts {
		names.Items = append(names.Items, value.SourceText(fmt.Sprintf("host%d.example.org", i)))
	}
	magic := value.DictOf("playbook_dir", value.SourceText("/plays"), "ansible_play_hosts_all", names, "groups",
		value.DictOf("all", names))
	return &Plan{Version: Version, Play: Play{Magic: Dict{magic}},
		Blocks: []Block{{Body: []Node{{Step: &Step{ID: "1", Kind: Task, Action: "ansible.builtin.ping"}}}}}}
}

// What one host is sent must not grow with the number of the others, or a fleet costs the square of its size.
func TestAPlanDoesNotGrowWithTheFleet(t *testing.T) {
	size := func(hosts int, reads ...string) int {
		p := fleetPlan(hosts)
		_, body, err := p.Cut(func(name string) bool { return slices.Contains(reads, name) }).Digest()
		if err != nil {
			t.Fatal(err)
		}
		if v, _ := p.Play.Magic.Get("ansible_play_hosts_all"); v == nil {
			t.Fatal("the plan of the controller was changed")
		}
		return len(body)
	}
	if two, many := size(2), size(2000); two != many {
		t.Errorf("%d bytes with 2 hosts, %d with 2000", two, many)
	}
	for _, name := range []string{"groups", "ansible_play_hosts_all"} {
		if n := size(2000, name); n < 2000 {
			t.Errorf("a host that reads %s gets a plan of %d bytes", name, n)
		}
	}
}

// What was cut is told by name, or the host would take it for not defined. A host that is alone knows that by the list.
func TestWhatIsCutIsNamed(t *testing.T) {
	none := func(string) bool { return false }
	if cut := fleetPlan(2).Cut(none); !slices.Contains(cut.Play.Withheld, "ansible_play_hosts_all") {
		t.Errorf("withheld are %v", cut.Play.Withheld)
	}
	alone := fleetPlan(1).Cut(none)
	if v, _ := alone.Play.Magic.Get("ansible_play_hosts_all"); v == nil || len(alone.Play.Withheld) > 0 {
		t.Errorf("a host that is alone has %v, withheld are %v", v, alone.Play.Withheld)
	}
}
