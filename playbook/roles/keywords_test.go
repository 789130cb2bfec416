package roles

import (
	"testing"

	"hark/playbook/plan/keywordtest"
)

// meta/main.yml of a role may hold the keywords that Ansible takes there.
func TestMetaHoldsTheKeywordsThatAnsibleTakes(t *testing.T) {
	for _, w := range keywordtest.Words(t) {
		if w.Name != "collections" && metaKeyword(w.Name) != w.Stands("meta") {
			t.Errorf("%s may stand in meta/main.yml: %v, Ansible: %v", w.Name, metaKeyword(w.Name), w.Stands("meta"))
		}
	}
}
