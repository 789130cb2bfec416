package move_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"hark/modules/py/value"
	"hark/playbook/move"
	"hark/playbook/roles"
	"hark/playbook/syntax"
)

var update = flag.Bool("update", false, "write what is found into testdata")

// TestFindings reads the projects in testdata, whose site.yml is played. Their effects were seen with ansible-core 2.14.18 and 2.19.11.
func TestFindings(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			want := &a.Files[len(a.Files)-1]
			if err := txtar.Write(&txtar.Archive{Files: a.Files[:len(a.Files)-1]}, dir); err != nil {
				t.Fatal(err)
			}
			got := found(dir, move.Read(input(dir)))
			if *update {
				want.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got != string(want.Data) {
				t.Errorf("got:\n%swant:\n%s", got, want.Data)
			}
		})
	}
}

func input(dir string) move.Input {
	return move.Input{Playbooks: []string{filepath.Join(dir, "site.yml")}, Loader: &syntax.Loader{}, Roles: &roles.Finder{}}
}

// found is a report as text.
func found(dir string, r move.Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		effect := [...]string{"fails", "differs", "warns"}[f.Effect]
		if f.Perhaps {
			effect += " perhaps"
		}
		place := strings.TrimPrefix(f.Place.String(), dir+"/") + f.Origin
		fmt.Fprintf(&b, "%s: %s %s: %s | %s\n", place, f.Row.ID, effect, f.What, f.Instead)
	}
	fmt.Fprintf(&b, "%d files, %d conditions, %d templates, unknown %d, unfollowed %d, plugins %d\n", r.Files, r.Conditions, r.Templates, r.Unknown, r.Unfollowed, r.Plugins)
	for _, err := range r.Unread {
		b.WriteString("unread " + strings.ReplaceAll(err.Error(), dir, "DIR") + "\n")
	}
	return b.String()
}

func TestFindingsNameRowsOfTheTable(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txtar")
	seen := map[string]bool{}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := txtar.Write(&txtar.Archive{Files: a.Files[:len(a.Files)-1]}, dir); err != nil {
			t.Fatal(err)
		}
		for _, f := range move.Read(input(dir)).Findings {
			if f.Row.ID == "" || !f.Row.Built() {
				t.Errorf("%s: a row that there is not: %s", f.Place, f.What)
			}
			seen[f.Row.ID] = true
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d rows have a case", len(seen))
	}
}

func TestVariablesOfTheCommandLineAndSettingsAreSeen(t *testing.T) {
	dir := t.TempDir()
	book := filepath.Join(dir, "site.yml")
	if err := os.WriteFile(book, []byte("- hosts: all\n  tasks:\n    - debug:\n      when: flag\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	in := input(dir)
	in.Variables = []move.Variable{{Name: "flag", Origin: "-e", Value: value.YAMLStr("true")}}
	in.Set = func(name string) (string, bool) { return "/etc/ansible/ansible.cfg", name == "DEFAULT_GATHER_SUBSET" }
	r := move.Read(in)
	if len(r.Findings) != 2 || r.Count(move.Fails) != 1 {
		t.Fatalf("got %v", r.Findings)
	}
	if f := r.Findings[0]; f.Row.ID != "settings" || f.Origin != "/etc/ansible/ansible.cfg" {
		t.Errorf("got %v", f)
	}
	if f := r.Findings[1]; f.Row.ID != "bool" || !strings.Contains(f.What, "`true` of -e") || f.Instead != "`flag | bool`" {
		t.Errorf("got %v", f)
	}
}

func TestWhatCannotBeReadIsTold(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "site.yml"), []byte("- hosts: [\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := move.Read(input(dir))
	var wrong *syntax.Error
	if len(r.Unread) != 1 || !errors.As(r.Unread[0], &wrong) || len(r.Findings) != 0 {
		t.Errorf("got %v, %v", r.Unread, r.Findings)
	}
}
