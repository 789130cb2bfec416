package templar

import (
	"testing"

	"hark/modules/dialect"
	"hark/playbook/jinja/ansible/utils"
	"hark/playbook/jinja/community/general"
)

// What a collection here has is declared in the tables, and what they declare is there.
func TestPluginsOfCollectionsHaveRows(t *testing.T) {
	have := map[string]bool{}
	for name := range utils.Filters() {
		have["filter ansible.utils."+name] = true
	}
	for name := range general.Filters() {
		have["filter community.general."+name] = true
	}
	for name := range utils.Tests() {
		have["test ansible.utils."+name] = true
	}
	declared := map[string]bool{}
	for kind, rows := range map[string][]dialect.Plugin{"filter": dialect.Filters(), "test": dialect.Tests()} {
		for _, row := range rows {
			if row.Collection != "" {
				declared[kind+" "+row.FullName()] = true
			}
		}
	}
	for name := range have {
		if !declared[name] {
			t.Errorf("%s has no row", name)
		}
	}
	for name := range declared {
		if !have[name] {
			t.Errorf("%s is not there", name)
		}
	}
}
