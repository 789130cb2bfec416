//go:build hostile

package hostile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fresh is the owner in a new home, as a CI job has it: his key and his access, and nobody on record.
func (s *site) fresh(name string) *operator {
	s.t.Helper()
	o := s.newOperator(name)
	for _, file := range []string{"operator.nk", "brokers.json"} {
		text, err := os.ReadFile(filepath.Join(s.owner.home, file))
		if err != nil {
			s.t.Fatal(err)
		}
		s.write(filepath.Join(o.home, file), string(text))
	}
	return o
}

// A broker whose book says that db1 has the key of a host that was taken over is not believed, by whichever controller.
func TestBrokerDoesNotSayWhoAHostIs(t *testing.T) {
	s := newBroker(t)
	s.startAgent("db1")
	s.evil = s.takeOver(taken, "")
	key := func(name string) string {
		_, rest, _ := strings.Cut(s.owner.must("agents", "show", name).out, "\nkey ")
		return strings.Fields(rest)[0]
	}
	play := project{"inventory": "db1 secret=" + canary + "\n", "site.yml": "- hosts: db1\n  gather_facts: false\n  tasks:\n  - ping:\n  - debug: var=secret\n    when: false\n"}
	if r := s.fresh("ci").in(s.lay(play), "play", "-i", "inventory", "site.yml"); r.code != 0 {
		t.Fatalf("a fresh home, before the attack: %s", r)
	}
	db1, web1 := key("db1"), key(taken)
	book := filepath.Join(s.data, "enrolled.json")
	s.stopBroker()
	text, err := os.ReadFile(book)
	if err != nil {
		t.Fatal(err)
	}
	forged := strings.NewReplacer(`"name": "db1"`, `"name": "away"`, `"name": "`+taken+`"`, `"name": "db1"`).Replace(string(text))
	if forged == string(text) || !strings.Contains(forged, web1) || !strings.Contains(forged, db1) {
		t.Fatalf("the book is not as the case knows it:\n%s", text)
	}
	s.write(book, forged)
	s.startBroker()
	s.await("the agents", func() bool { return strings.Count(s.owner.hark("agents", "list").out, "present") >= 1 })
	s.evil.onPlan = func(x *session) { t.Errorf("it was handed the plan of %s", x.start.Host) }
	r := s.fresh("ci2").in(s.lay(play), "play", "-i", "inventory", "site.yml")
	if r.code != 4 || !strings.Contains(r.out+r.errs, "vouch") && !strings.Contains(r.out+r.errs, "another key") {
		t.Errorf("a fresh home: %s", r)
	}
	s.kept(r)
	// Who has met the host goes on.
	if r := s.owner.in(s.lay(play), "play", "-i", "inventory", "site.yml"); strings.Contains(r.out, canary) {
		t.Error(r)
	}
}

// An operator who was admitted by another takes his word, and nobody else's.
func TestOperatorsBelieveWhoAdmittedThem(t *testing.T) {
	s := newBroker(t)
	s.startAgent("db1")
	anna := s.newOperator("anna")
	s.admit(anna)
	s.owner.must("key", "trust", strings.TrimSpace(anna.must("key", "show", "--public").out))
	play := project{"inventory": "db1\n", "site.yml": "- hosts: db1\n  gather_facts: false\n  tasks:\n  - ping:\n"}
	if r := anna.in(s.lay(play), "play", "-i", "inventory", "site.yml"); r.code != 0 {
		t.Errorf("by the access that the owner gave: %s", r)
	}
	bert := s.newOperator("bert")
	s.admit(bert)
	file := filepath.Join(bert.home, "brokers.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	owner := strings.TrimSpace(s.owner.must("key", "show", "--public").out)
	s.write(file, strings.ReplaceAll(string(text), `"`+owner+`"`, ""))
	s.owner.must("key", "trust", strings.TrimSpace(bert.must("key", "show", "--public").out))
	if r := bert.in(s.lay(play), "play", "-i", "inventory", "site.yml"); r.code != 4 || !strings.Contains(r.out+r.errs, "hark key believe") {
		t.Errorf("without: %s", r)
	}
	bert.must("key", "believe", owner)
	if r := bert.in(s.lay(play), "play", "-i", "inventory", "site.yml"); r.code != 0 {
		t.Errorf("told to believe the owner: %s", r)
	}
}
