package inventory

import (
	"strings"
	"testing"

	"hark/modules/py/value"
)

// grow makes a tree of lines: "group > child" and "group : host".
func grow(t *testing.T, lines ...string) *tree {
	t.Helper()
	tr := newTree(&Options{}, &notices{})
	for _, line := range lines {
		words := strings.Fields(line)
		g, err := tr.addGroup(words[0])
		if err == nil && words[1] == ">" {
			var child *Group
			if child, err = tr.addGroup(words[2]); err == nil {
				err = tr.addChild(g, child)
			}
		} else if err == nil {
			_, err = tr.addHost(words[2], g, 0)
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	tr.reconcile()
	return tr
}

func TestEveryGroupHangsBelowAllAndNoHostIsLost(t *testing.T) {
	tr := grow(t, "web > front", "front : a", "web : b", "ungrouped : c", "ungrouped : a")
	for group, want := range map[string]string{"all": "c b a", "web": "b a", "front": "a", "ungrouped": "c"} {
		if got := strings.Join(hostNames(tr.groups[group].allHosts()), " "); got != want {
			t.Errorf("%s has %q, want %q", group, got, want)
		}
	}
	if got, _ := value.Repr(tr.groupMembers()); got != "{'all': ['c', 'b', 'a'], 'ungrouped': ['c'], 'web': ['b', "+
		"'a'], 'front': ['a']}" {
		t.Errorf("groups is %s", got)
	}
	for group, depth := range map[string]int{"all": 0, "ungrouped": 1, "web": 1, "front": 2} {
		if got := tr.groups[group].depth; got != depth {
			t.Errorf("%s is at depth %d, want %d", group, got, depth)
		}
	}
}

func TestNoGroupIsAboveItself(t *testing.T) {
	tr := grow(t, "a > b", "b > c")
	for _, pair := range [][2]string{{"a", "a"}, {"b", "a"}, {"c", "a"}, {"c", "b"}} {
		if err := tr.addChild(tr.groups[pair[0]], tr.groups[pair[1]]); err == nil {
			t.Errorf("%s came to stand above %s", pair[0], pair[1])
		}
	}
}

func TestAVariableIsTheGroupsWhereAHostHasItsName(t *testing.T) {
	tr := grow(t, "x : x", "x : y")
	for _, name := range []string{"x", "y"} {
		if err := tr.setVariable(name, "v", value.Int(1)); err != nil {
			t.Fatal(err)
		}
	}
	if tr.groups["x"].vars.Len() != 1 || tr.hosts["x"].vars != nil || tr.hosts["y"].vars.Len() != 1 {
		t.Error("a variable went elsewhere than Ansible puts it")
	}
	if err := tr.setVariable("z", "v", value.Int(1)); err == nil {
		t.Error("a name that nobody has was given a variable")
	}
}

func TestAChangeTellsWhetherItChangedAnything(t *testing.T) {
	tr := grow(t, "g : a")
	vars := value.DictOf("x", value.Int(1))
	for i, c := range []struct {
		what    string
		do      change
		changed bool
	}{
		{"a new host", newHost("b", []string{"g"}, vars), true},
		{"the same again", newHost("b", []string{"g"}, vars), false},
		{"another value", newHost("b", nil, value.DictOf("x", value.Int(2))), true},
		{"another group", newHost("b", []string{"h"}, nil), true},
		{"a group below another", grouped("a", "os", []string{"systems"}), true},
		{"the same group again", grouped("a", "os", []string{"systems"}), false},
	} {
		changed, err := c.do(tr)
		if err != nil || changed != c.changed {
			t.Errorf("%d, %s: changed %t, %v", i, c.what, changed, err)
		}
		tr.reconcile()
	}
	if _, err := grouped("nobody", "os", nil)(tr); err == nil {
		t.Error("a host that there is not was put into a group")
	}
}

func hostNames(hosts []*Host) []string {
	var out []string
	for _, h := range hosts {
		out = append(out, h.Name)
	}
	return out
}
