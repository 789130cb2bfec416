package syntax

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// knownActions are the modules that the test files use.
var knownActions = words("debug copy command shell raw script ping setup set_fact template file " +
	"ansible.builtin.copy add_host meta")

func testGrammar(t *testing.T) *Grammar {
	t.Helper()
	return &Grammar{
		Loader:   &Loader{},
		IsAction: func(name string, _ []string) (bool, error) { return knownActions[name], nil },
		IsLookup: func(name string) bool { return words("items dict list together")[name] },
	}
}

// TestErrorsReadAsAnsibles compares the first error of each file with what ansible-playbook printed.
func TestErrorsReadAsAnsibles(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/errors.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	wants := map[string]string{}
	for _, f := range archive.Files {
		if name, ok := strings.CutSuffix(f.Name, ".want"); ok {
			wants[name] = strings.ReplaceAll(string(f.Data), "$DIR", dir)
		} else if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range wants {
		t.Run(name, func(t *testing.T) {
			_, err := testGrammar(t).Playbook(filepath.Join(dir, name+".yml"), "")
			got := "\n[exit 0]"
			if err != nil {
				var first *Error
				if !errors.As(List(err)[0], &first) {
					t.Fatalf("%T: %v", err, err)
				}
				code := "4"
				if first.General {
					code = "1"
				}
				got = strings.TrimRight(first.Error(), "\n") + "\n[exit " + code + "]"
			}
			if diff := cmp.Diff(comparable(want), comparable(got)); diff != "" {
				t.Errorf("the error differs from Ansible's (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAWrongIncludeIsToldOfOnce: what is missing beside a wrong option is not told as well.
func TestAWrongIncludeIsToldOfOnce(t *testing.T) {
	for _, task := range []string{"include_tasks: {nope: 1}", "import_tasks: {nope: 1}", "include_role: {nope: 1}",
		"import_role: {name: r, nope: 1}", "include_tasks:"} {
		file := filepath.Join(t.TempDir(), "site.yml")
		if err := os.WriteFile(file, []byte("- hosts: all\n  tasks:\n  - "+task+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := testGrammar(t).Playbook(file, "")
		if errs := List(err); len(errs) != 1 {
			t.Errorf("%s: %d errors: %v", task, len(errs), errs)
		}
	}
}

// comparable drops what Ansible itself prints differently from run to run: the order of a list of modules.
func comparable(text string) string {
	const list = "only allowed in the following modules: "
	text = strings.TrimRight(text, "\n")
	before, after, ok := strings.Cut(text, list)
	if !ok {
		return text
	}
	names, rest, _ := strings.Cut(after, "\n")
	sorted := strings.Split(names, ", ")
	slices.Sort(sorted)
	return before + list + strings.Join(sorted, ", ") + "\n" + rest
}
