package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/controller/cli"
	"hark/controller/config"
)

// TestRefusedPlaybooks plays what is wrong with a playbook: testdata/refused/cases.txt holds playbooks, each with the
// exit code and the stderr of ansible-playbook 2.14.18 for it, which names the directory $DIR. The other files there
// are what the playbooks name.
func TestRefusedPlaybooks(t *testing.T) {
	raw, err := os.ReadFile("testdata/refused/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/refused")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("HOME", "/nobody")
	t.Setenv("HARK_HOME", filepath.Join(dir, ".hark"))
	cases := strings.Split(string(raw), "\n---\n")
	if len(cases) < 100 {
		t.Fatalf("there are %d cases", len(cases))
	}
	for _, c := range cases {
		playbook, want, ok := strings.Cut(c, "== want\n")
		if !ok {
			t.Fatalf("a case without expectation: %s", c)
		}
		got := refused(t, playbook)
		if diff := cmp.Diff(strings.TrimSpace(want), strings.ReplaceAll(strings.TrimSpace(got), dir, "$DIR")); diff != "" {
			t.Errorf("%s(-ansible +hark)\n%s", playbook, diff)
		}
	}
}

// refused plays a playbook and gives the exit code with what was printed to stderr.
func refused(t *testing.T, playbook string) string {
	t.Helper()
	if err := os.WriteFile("site.yml", []byte(playbook), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HARK_ANSIBLE", "2.14") // whatever is installed
	var out, errs bytes.Buffer
	s := cli.System{
		Args: []string{"ansible-playbook", "-i", "localhost,", "-c", "local", "site.yml"},
		In:   strings.NewReader(""), Out: &out, Err: &errs, NoTTY: true, World: config.ThisWorld(),
	}
	code := cli.Main(context.Background(), s)
	return string(rune('0'+code)) + "\n" + errs.String()
}

// TestTheFirstErrorGivesTheExitCode: a role that is not there ends ansible-playbook with 1, where it stops; a module
// that is not there, with 4.
func TestTheFirstErrorGivesTheExitCode(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HARK_HOME", t.TempDir())
	for name, text := range map[string]string{"role.yml": "- import_role: {name: nosuch}\n", "module.yml": "- nosuchmodule:\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for tasks, want := range map[string]string{
		"[{import_tasks: role.yml}, {import_tasks: module.yml}]": "1",
		"[{import_tasks: module.yml}, {import_tasks: role.yml}]": "4",
	} {
		got := refused(t, "- hosts: localhost\n  tasks: "+tasks+"\n")
		if !strings.HasPrefix(got, want) || !strings.Contains(got, "was not found") || !strings.Contains(got, "couldn't resolve") {
			t.Errorf("%s\n%s", tasks, got)
		}
	}
}
