package compile

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hark/playbook/syntax"
)

// TestACollectionOfAnotherAnsibleIsWarnedOf, once, also where it is met by the name of a role alone. The text is that
// of ansible-core 2.14.18.
func TestACollectionOfAnotherAnsibleIsWarnedOf(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"site.yml": "- hosts: all\n  roles: [acme.web.site, acme.web.site]\n",
		"collections/ansible_collections/acme/web/meta/runtime.yml":          "requires_ansible: '>=2.15.0'\n",
		"collections/ansible_collections/acme/web/roles/site/tasks/main.yml": "- meta: noop\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var warned []string
	p := New(&syntax.Loader{}, Config{Version: "2.14.18", Warn: func(text string) { warned = append(warned, text) }})
	if _, err := p.Playbook(filepath.Join(dir, "site.yml")); err != nil {
		t.Fatal(err)
	}
	if want := []string{"Collection acme.web does not support Ansible version 2.14.18"}; !slices.Equal(warned, want) {
		t.Errorf("warned %q", warned)
	}
}
