//go:build fleet

package fleet

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ansible plays a project with real Ansible over ssh, as user; the inventory is the project's with how to reach its
// hosts.
func ansible(t *testing.T, dir, user string, args ...string) outcome {
	t.Helper()
	text, err := tool("inventory", user).Output()
	if err != nil {
		t.Fatal(err)
	}
	// The password of deploy is for the cases to give.
	hosts, vars, _ := strings.Cut(strings.ReplaceAll(string(text), "ansible_become_password=deploy\n", ""), "[fleet:vars]")
	if err := os.WriteFile(filepath.Join(dir, "ssh.ini"), []byte(hosts+"\n[all:vars]"+vars), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(bg, 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ansible-playbook", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "ANSIBLE_NOCOLOR=1", "LANG=C.UTF-8", "ANSIBLE_FORKS=10", "ANSIBLE_DEPRECATION_WARNINGS=0", "ANSIBLE_LOCALHOST_WARNING=0",
		// Without these it cannot become one ordinary user from another, for want of acl on the hosts.
		"ANSIBLE_PIPELINING=1", "ANSIBLE_SHELL_ALLOW_WORLD_READABLE_TEMP=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// differing are the values that differ from run to run of the same program.
var differing = []struct {
	re *regexp.Regexp
	to string
}{
	{regexp.MustCompile(`"(start|end)": "[-0-9: .]+"`), `"$1": "TIME"`},
	{regexp.MustCompile(`"delta": "[0-9:.]+"`), `"delta": "DELTA"`},
	{regexp.MustCompile(`"src": "[^"]*(ansible-tmp|\.ansible/tmp|hark)[^"]*"`), `"src": "TMP"`},
	{regexp.MustCompile(`j?[0-9]{6,}\.[0-9]+`), `JOB`},
}

// same compares what two programs printed, whatever the order in which the hosts of a task came.
func same(t *testing.T, want, got outcome) {
	t.Helper()
	if want.code != got.code {
		t.Errorf("exit code: ansible %d, hark %d\n%s\n%s", want.code, got.code, want.errors, got.errors)
	}
	if diff := cmp.Diff(sorted(want.out), sorted(got.out)); diff != "" {
		t.Errorf("(-ansible +hark)\n%s", diff)
	}
}

// sorted is an output with the lines of each task in one order.
func sorted(text string) []string {
	for _, d := range differing {
		text = d.re.ReplaceAllString(text, d.to)
	}
	var out []string
	for _, part := range strings.Split(text, "\n\n") {
		lines := strings.Split(part, "\n")
		from := min(1, len(lines))
		slices.Sort(lines[from:])
		out = append(out, lines...)
	}
	return out
}

// TestSiteAsAnsiblePlaysIt: the example on real hosts, over ssh and over agents, prints the same and leaves the same.
func TestSiteAsAnsiblePlaysIt(t *testing.T) {
	fleetOf(t, 3)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../docs/examples/site")); err != nil {
		t.Fatal(err)
	}
	inventory := `[web]
web1 site_weight=10 hark_agent=h1 ansible_host=` + net() + `.101
web2 site_weight=20 hark_agent=h2 ansible_host=` + net() + `.102

[db]
db1 hark_agent=h3 ansible_host=` + net() + `.103

[site:children]
web
db
`
	if err := os.WriteFile(filepath.Join(dir, "inventory.ini"), []byte(inventory), 0o644); err != nil {
		t.Fatal(err)
	}
	left := func() string {
		var all []string
		for _, m := range machines(3) {
			all = append(all, m.sh(t, "cd /root/site && find . -type f -exec sha256sum {} + | sort -k2; find . -printf '%m %u %p\\n' | sort -k3; rm -rf /root/site"))
		}
		return strings.Join(all, "\n")
	}
	for _, m := range machines(3) {
		m.sh(t, "rm -rf /root/site; mkdir /root/site")
	}
	args := []string{"-i", "inventory.ini", "-i", "ssh.ini", "site.yml", "-e", "scratch=/root/site", "-l", "site"}
	want := ansible(t, dir, "root", args...)
	wantFiles := left()
	for _, m := range machines(3) {
		m.sh(t, "mkdir /root/site")
	}
	got := site.control.hark(t, dir, append([]string{"play"}, args...)...)
	same(t, want, got)
	if diff := cmp.Diff(wantFiles, left()); diff != "" {
		t.Errorf("files (-ansible +hark)\n%s", diff)
	}
}
