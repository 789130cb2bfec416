package filters

import (
	"testing"

	"hark/modules/dialect"
)

// Each row of ansible-core and Jinja has a function, and each function a row.
func TestEveryRowHasItsFunction(t *testing.T) {
	rows := map[string]bool{}
	have, hiding, changed := functions(), Hiding(), Tagged()
	for _, row := range dialect.Filters() {
		if row.Collection != "" {
			continue
		}
		rows[row.Name] = true
		if have[row.Name] == nil && hiding[row.Name] == nil {
			t.Errorf("there is no filter %s", row.Name)
		}
	}
	for name := range have {
		if !rows[name] {
			t.Errorf("the filter %s has no row", name)
		}
	}
	if len(hiding) != 6 || changed["default"] == nil || changed["ansible.legacy.mandatory"] == nil {
		t.Error("filters of newer levels are missing")
	}
	rows = map[string]bool{}
	for _, row := range dialect.Tests() {
		if row.Collection == "" {
			rows[row.Name] = true
			if testFunctions()[row.Name] == nil {
				t.Errorf("there is no test %s", row.Name)
			}
		}
	}
	for name := range testFunctions() {
		if !rows[name] {
			t.Errorf("the test %s has no row", name)
		}
	}
}
