package compile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hark/playbook/plan"
	"hark/playbook/syntax"
)

// TestTheRemovedIncludeIsNoErrorOfTheParser: ansible-playbook 2.19.11 ends with 1 there and not with 4.
func TestTheRemovedIncludeIsNoErrorOfTheParser(t *testing.T) {
	site := filepath.Join(t.TempDir(), "site.yml")
	if err := os.WriteFile(site, []byte("- hosts: all\n  tasks:\n    - include: more.yml\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := New(&syntax.Loader{Level: plan.Level219}, Config{Level: plan.Level219})
	var err *syntax.Error
	if _, got := p.Playbook(site); !errors.As(got, &err) || !err.General {
		t.Errorf("%#v", got)
	}
}
