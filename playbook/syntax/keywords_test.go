package syntax

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/playbook/plan/keywordtest"
)

// attributeErrors reads a playbook and gives what is said of keywords that may not stand where they do.
func attributeErrors(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "site.yml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := (&Grammar{Loader: &Loader{}, IsAction: func(name string, _ []string) (bool, error) {
		return name == "probe", nil
	}}).Playbook(file, "")
	var said []string
	for _, e := range List(err) {
		if strings.Contains(e.Error(), "is not a valid attribute") ||
			strings.Contains(e.Error(), "couldn't resolve module/action") ||
			strings.Contains(e.Error(), "conflicting action") && !strings.Contains(e.Error(), ": x, ") {
			said = append(said, e.Error())
		}
	}
	return strings.Join(said, "\n")
}

// Each keyword may stand where Ansible has it, and nowhere else.
func TestKeywordsStandWhereAnsibleHasThem(t *testing.T) {
	places := map[string]string{
		"play":    "- hosts: a\n  %s: x\n",
		"block":   "- hosts: a\n  tasks:\n  - block: []\n    %s: x\n",
		"task":    "- hosts: a\n  tasks:\n  - probe:\n    %s: x\n",
		"handler": "- hosts: a\n  handlers:\n  - probe:\n    %s: x\n",
		"import":  "- import_playbook: x.yml\n  %s: x\n",
		"loop":    "- hosts: a\n  tasks:\n  - probe:\n    loop: []\n    loop_control:\n      %s: x\n",
		"include": "- hosts: a\n  tasks:\n  - include_tasks: x.yml\n    %s: x\n",
	}
	for _, w := range keywordtest.Words(t) {
		for place, text := range places {
			if (w.Name == "action" || w.Name == "args") && place != "task" && place != "handler" ||
				w.Name == "block" && place != "play" {
				continue // it makes another thing of the entry
			}
			said := attributeErrors(t, fmt.Sprintf(text, w.Name))
			if w.Stands(place) && said != "" {
				t.Errorf("%s does not stand on %s: %s", w.Name, place, said)
			}
			// On tasks other names are modules, and in blocks and plays the parts of others are read first.
			if !w.Stands(place) && said == "" && (place == "play" || place == "loop" || place == "import") {
				t.Errorf("%s stands on %s", w.Name, place)
			}
		}
	}
}

// What is no keyword of an entry of roles is a parameter of the role.
func TestKeywordsOfRolesAreNoParameters(t *testing.T) {
	for _, w := range keywordtest.Words(t) {
		file := filepath.Join(t.TempDir(), "site.yml")
		if err := os.WriteFile(file, []byte("- hosts: a\n  roles:\n  - role: r\n    "+w.Name+": x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		pb, err := (&Grammar{Loader: &Loader{}}).Playbook(file, "")
		if err != nil || w.Name == "role" || w.Name == "vars" {
			continue // a text is refused, or it is the role itself
		}
		_, isParam := pb.Entries[0].Play.Roles[0].Params.Get(w.Name)
		if isParam == w.Stands("role") {
			t.Errorf("%s is a parameter of the role: %v", w.Name, isParam)
		}
	}
}

// A keyword that is text is no list, wherever it stands.
func TestTextsAreNoLists(t *testing.T) {
	for _, w := range keywordtest.Words(t) {
		if got := isText(w.Name); got != (w.Is == "string") {
			t.Errorf("%s is text: %v, Ansible: %s", w.Name, got, w.Is)
		}
	}
}
