//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// operators are who has access to the broker, by name.
func (tm *team) operators() map[string]string {
	tm.t.Helper()
	var all []struct{ Name, Key, Access string }
	if err := json.Unmarshal([]byte(tm.as(tm.home, "broker", "operators", "--json")), &all); err != nil {
		tm.t.Fatal(err)
	}
	byName := map[string]string{}
	for _, o := range all {
		byName[o.Name] = o.Key
	}
	return byName
}

// public is the public key of a HARK_HOME.
func (tm *team) public(home string) string {
	tm.t.Helper()
	lines := strings.Fields(tm.as(home, "key", "show", "--public"))
	return lines[len(lines)-1]
}

// TestPeopleComeAndGo: who is admitted is listed and can work; who is expelled can do nothing any more, and is not
// obeyed or read for; a key that is lost is not replaced by itself; and a key that is rotated takes the place of the
// old.
func TestPeopleComeAndGo(t *testing.T) {
	t.Parallel()
	tm := newTeam(t, roleSite(t.TempDir(), "- {name: base, play: site.yml, hosts: web, every: 7d, mode: check}\n"),
		"h1", "h2")
	bela := filepath.Join(t.TempDir(), "bela")
	key := tm.public(bela)
	tm.admit(bela, key, "--name", "bela", "--agents")
	tm.as(tm.home, "key", "trust", key)
	tm.as(tm.home, "key", "believe", key)
	var shown struct{ Reader string }
	if err := json.Unmarshal([]byte(tm.as(bela, "key", "show", "--json")), &shown); err != nil {
		t.Fatal(err)
	}
	tm.as(tm.home, "runs", "readers", "add", "colleague", shown.Reader)
	ping := []string{"run", "all", "-i", "hark:", "-m", "ping"}
	tm.as(bela, ping...)
	if all := tm.operators(); all["bela"] != key || all["keeper"] != tm.key || len(all) != 3 {
		t.Errorf("%v", all)
	}
	out := tm.as(tm.home, "broker", "expel", "bela")
	for _, want := range []string{"bela has no access any more", "h1: ok, obeys 2 operators", "h2: ok",
		"colleague reads no records", "the word of bela", "This stays:"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if _, code, _ := tm.try(bela, ping...); code == 0 {
		t.Error("who was expelled plays still")
	}
	if _, code, errs := tm.try(bela, "agents", "list"); code == 0 || !strings.Contains(errs, key+", was expelled") ||
		!strings.Contains(errs, "`hark broker operators`") {
		t.Errorf("who was expelled is not told so: %d: %s", code, errs)
	}
	if list := tm.as(tm.home, "runs", "readers", "list"); strings.Contains(list, "colleague") {
		t.Errorf("who was expelled is read for:\n%s", list)
	}
	if _, is := tm.operators()["bela"]; is {
		t.Error("who was expelled is listed")
	}

	nk := filepath.Join(bela, "operator.nk")
	if err := os.Remove(nk); err != nil {
		t.Fatal(err)
	}
	if _, code, errs := tm.try(bela, ping...); code == 0 || !strings.Contains(errs, "is gone") ||
		!strings.Contains(errs, key) {
		t.Errorf("%d: %s", code, errs)
	}
	if _, err := os.Stat(nk); err == nil {
		t.Error("a lost key was replaced")
	}

	old := tm.operator()
	name := ""
	for n, k := range tm.operators() {
		if k == old {
			name = n
		}
	}
	tm.as(tm.home, "key", "rotate", "--data", tm.brokerData())
	if next := tm.operator(); next == old || tm.operators()[name] != next || len(tm.operators()) != 2 {
		t.Errorf("%s of %q was rotated to %s: %v", old, name, next, tm.operators())
	}
	tm.as(tm.home, ping...)
}
