package compile

import (
	"os"
	"path/filepath"
	"testing"

	"hark/playbook/search"
)

func TestUsesFindsWhatAnIncludeMayBring(t *testing.T) {
	for text, want := range map[string]bool{
		"- reboot:\n": true, "- name: x\n  ansible.builtin.reboot:\n    msg: y\n": true, "- action: reboot\n": true,
		"- debug: {msg: reboot}\n": false, "- reboot_now:\n": false, "# reboot:\n": false,
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "roles/x/tasks/more.yml")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for name, p := range map[string]*Project{
			"beside the playbook": {collections: &collections{books: []search.Dir{search.Dir(dir)}}},
			"among the roles": {
				cfg: Config{RolePaths: []string{"/none/roles", dir}}, collections: &collections{},
			},
		} {
			if got := p.Uses("reboot"); got != want {
				t.Errorf("%q %s: %v", text, name, got)
			}
		}
	}
}
