//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNothingIsGreenWithNothingDone: an inventory that cannot be read, too few hosts and a play that cannot be read
// end with 4, the last two on record; a run that came to no host is not ok.
func TestNothingIsGreenWithNothingDone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{
		"site.yml": "- hosts: web\n  gather_facts: false\n  tasks:\n  - command: 'true'\n", "bad.yml": "- hosts: web\n  tasks:\n  - no_such_module: {}\n",
		"inventory": "[db]\ndb1\n[web]\n", "three": "[web]\nlocalhost ansible_connection=local\n[db]\ndb1\ndb2\n",
	})
	hark := func(args ...string) (string, int) {
		t.Helper()
		cmd := exec.Command(filepath.Join(built(t), "hark"), args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HARK_HOME="+filepath.Join(dir, "home"), "HARK_BROKER=nats://127.0.0.1:1")
		out, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	for _, x := range []struct {
		args string
		code int
		say  string
	}{
		{"play -i hark: site.yml", 4, "the inventory hark: cannot be read"},
		{"play site.yml", 4, "the inventory hark: cannot be read"},
		{"play -i inventory --ssh --require-hosts 1 site.yml", 4, "the plays have 0 hosts, and --require-hosts demands 1"},
		{"play -i inventory bad.yml", 4, "no_such_module"},
		{"play -i inventory site.yml", 0, "no hosts matched"},
		{"play -i three --require-hosts 1 site.yml", 0, "ok=1"},
	} {
		out, code := hark(strings.Fields(strings.Replace(x.args, "--ssh ", "", 1))...)
		if code != x.code || !strings.Contains(strings.Join(strings.Fields(out), " "), x.say) {
			t.Errorf("%s: exit code %d\n%s", x.args, code, out)
		}
	}
	list, _ := hark("runs", "list")
	rows := strings.Split(strings.TrimSpace(list[max(0, strings.Index(list, "RUN ")):]), "\n")
	want := []string{"", " 1 ", "no hosts", "broken", "broken"} // the newest first
	if len(rows) < len(want) {
		t.Fatalf("%d rows:\n%s", len(rows), list)
	}
	for i, text := range want {
		if !strings.Contains(rows[i], text) {
			t.Errorf("row %d is %q, want %q", i, rows[i], text)
		}
	}
	if failed, _ := hark("runs", "list", "--failed"); !strings.Contains(failed, "bad.yml") {
		t.Errorf("what failed:\n%s", failed)
	}
	if show, _ := hark("runs", "show", "last-failed", "--summary"); !strings.Contains(show, "no_such_module") && !strings.Contains(show, "require-hosts") {
		t.Errorf("the record does not say why:\n%s", show)
	}
}
