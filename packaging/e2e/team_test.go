//go:build e2e || fleet

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// team is a fleet with a project in git and a keeper of it that has a key of its own.
type team struct {
	*fleet
	t      *testing.T
	work   string // the work tree of whoever changes the project
	url    string
	keeper string // the HARK_HOME of the keeper
	key    string // its public key
}

// newTeam makes the project of files, and lets a keeper to the broker and to the hosts. The keeper is not started.
func newTeam(t *testing.T, files map[string]string, hosts ...string) *team {
	t.Helper()
	return newTeamOf(t, startFleet(t, hosts...), files)
}

// newTeamOf is newTeam with a fleet that is there.
func newTeamOf(t *testing.T, f *fleet, files map[string]string) *team {
	t.Helper()
	tm := &team{fleet: f, t: t, work: t.TempDir(), keeper: filepath.Join(t.TempDir(), "keeper")}
	bare := filepath.Join(t.TempDir(), "site.git")
	tm.url = "file://" + bare + "#main"
	tm.git("init", "--quiet", "--initial-branch=main", ".")
	tm.git("init", "--quiet", "--bare", "--initial-branch=main", bare)
	tm.git("remote", "add", "origin", bare)
	tm.push(files)
	tm.key = strings.TrimSpace(tm.as(tm.keeper, "key", "show", "--public"))
	if i := strings.LastIndex(tm.key, "\n"); i >= 0 {
		tm.key = tm.key[i+1:]
	}
	tm.admit(tm.keeper, tm.key, "--name", "keeper")
	tm.as(tm.home, "key", "trust", tm.key)
	tm.as(tm.home, "key", "believe", tm.key)
	tm.as(tm.keeper, "key", "believe", tm.operator())
	return tm
}

// admit gives the key of a HARK_HOME access to the broker.
func (tm *team) admit(home, key string, flags ...string) {
	tm.t.Helper()
	access := tm.as(tm.home, append([]string{"broker", "admit", key, "--data", tm.brokerData()}, flags...)...)
	file := filepath.Join(tm.work, ".git", "access.json")
	if err := os.WriteFile(file, []byte(access), 0o600); err != nil {
		tm.t.Fatal(err)
	}
	tm.as(home, "broker", "use", file)
}

// brokerData is the broker's directory.
func (tm *team) brokerData() string { return filepath.Join(filepath.Dir(tm.home), "broker") }

// operator is the public key of the fleet's operator.
func (tm *team) operator() string {
	tm.t.Helper()
	lines := strings.Fields(tm.as(tm.home, "key", "show", "--public"))
	return lines[len(lines)-1]
}

// git runs git in the work tree.
func (tm *team) git(args ...string) {
	tm.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=anna", "-c", "user.email=anna@example.org"},
		args...)...)
	cmd.Dir = tm.work
	if out, err := cmd.CombinedOutput(); err != nil {
		tm.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// push commits files and pushes them.
func (tm *team) push(files map[string]string) {
	tm.t.Helper()
	writeTree(tm.t, tm.work, files)
	tm.git("add", "--all")
	tm.git("commit", "--quiet", "--message", "a change")
	tm.git("push", "--quiet", "origin", "HEAD:main")
}

func writeTree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// as runs hark as the user of a HARK_HOME, and gives what it printed.
func (tm *team) as(home string, args ...string) string {
	tm.t.Helper()
	out, code, errs := tm.try(home, args...)
	if code != 0 {
		tm.t.Fatalf("hark %v: exit code %d\n%s%s", args, code, out, errs)
	}
	return out
}

// try is as that may fail.
func (tm *team) try(home string, args ...string) (out string, code int, errs string) {
	cmd := exec.Command(filepath.Join(built(tm.t), "hark"), args...)
	cmd.Dir = tm.work
	cmd.Env = append(os.Environ(), "HARK_HOME="+home)
	if home == tm.home {
		cmd.Env = append(cmd.Env, "HARK_BROKER="+tm.broker)
	}
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		tm.t.Fatal(err)
	}
	return stdout.String(), cmd.ProcessState.ExitCode(), stderr.String()
}

// keep starts the keeper of the project, or of a directory.
func (tm *team) keep(project string, flags ...string) *exec.Cmd {
	tm.t.Helper()
	log, err := os.Create(filepath.Join(tm.t.TempDir(), "keeper.log"))
	if err != nil {
		tm.t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(built(tm.t), "hark"), append([]string{"keeper", "run", "--project", project,
		"--poll", "1s"}, flags...)...)
	cmd.Env = append(os.Environ(), "HARK_HOME="+tm.keeper)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		tm.t.Fatal(err)
	}
	tm.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		_ = log.Close()
		if text, err := os.ReadFile(log.Name()); err == nil && tm.t.Failed() {
			tm.t.Logf("log of the keeper:\n%s", text)
		}
	})
	return cmd
}

// stand is how a host stands, as `hark duties show --json` has it.
type stand struct {
	Host, State, Commit, Run, Why string
	Noise                         []string
	Drift                         []struct{ Task string }
}

// stands are the hosts of a duty by their names; none while the duty is not known.
func (tm *team) stands(duty string) map[string]stand {
	out, code, _ := tm.try(tm.home, "duties", "show", duty, "--json")
	var list []stand
	if code != 0 || json.Unmarshal([]byte(out), &list) != nil {
		return nil
	}
	all := map[string]stand{}
	for _, s := range list {
		all[s.Host] = s
	}
	return all
}

// until waits until all hosts of a duty are as they should be.
func (tm *team) until(limit time.Duration, what, duty string, hosts int, ok func(stand) bool) {
	tm.t.Helper()
	deadline := time.Now().Add(limit)
	for {
		all, good := tm.stands(duty), 0
		for _, s := range all {
			if ok(s) {
				good++
			}
		}
		if len(all) == hosts && good == hosts {
			return
		}
		if time.Now().After(deadline) {
			list, _, _ := tm.try(tm.home, "duties", "list")
			tm.t.Fatalf("%s: not after %v: %+v\n%s", what, limit, all, list)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// site is a project with roles that need files of it in all ways: templates, files, scripts, variables that are read
// at run time.
func roleSite(out, duties string) map[string]string {
	return map[string]string{
		"ansible.cfg": "[defaults]\ninventory = inventory\n[hark]\nansible = 2.14\n",
		"inventory":   "[web]\nh1\nh2\n",
		"duties.yml":  duties,
		"site.yml": "- hosts: web\n  gather_facts: false\n  vars: {out: '" + out +
			"'}\n  roles: [base]\n",
		"roles/base/defaults/main.yml": "word: first\n",
		"roles/base/vars/late.yml":     "late: read at run time\n",
		"roles/base/files/plain":       "a plain file\n",
		"roles/base/files/tree/one":    "one\n",
		"roles/base/files/say.sh":      "#!/bin/sh\necho said\n",
		"roles/base/templates/motd.j2": "{{ inventory_hostname }} {{ word }} {{ late }} {{ lookup('file', 'plain') }}\n",
		"roles/base/tasks/main.yml": `- name: the directory
  file: {path: "{{ out }}/{{ inventory_hostname }}", state: directory}
- name: variables
  include_vars: "{{ 'late' }}.yml"
- name: the message
  template: {src: motd.j2, dest: "{{ out }}/{{ inventory_hostname }}/motd"}
- name: a file
  copy: {src: plain, dest: "{{ out }}/{{ inventory_hostname }}/plain"}
- name: a tree
  copy: {src: tree, dest: "{{ out }}/{{ inventory_hostname }}/"}
- name: a script
  script: say.sh
  changed_when: false
- name: all files
  copy: {src: "{{ item }}", dest: "{{ out }}/{{ inventory_hostname }}/globbed"}
  with_fileglob: ["plai*"]
`,
	}
}

// mostOf is how long a stage and the turns of it may take: an interval is a minute.
const mostOf = 100 * time.Second

// head is the commit of the work tree, as a keeper names it.
func (tm *team) head() string {
	tm.t.Helper()
	cmd := exec.Command("git", "rev-parse", "HEAD")
	cmd.Dir = tm.work
	out, err := cmd.Output()
	if err != nil {
		tm.t.Fatal(err)
	}
	return string(out[:12])
}

// paused waits until the list has that the duty stopped itself, with a commit.
func (tm *team) paused(limit time.Duration, why, commit string) {
	tm.t.Helper()
	deadline := time.Now().Add(limit)
	for {
		list, _, _ := tm.try(tm.home, "duties", "list")
		if i := strings.Index(list, "paused: "); i >= 0 && strings.Contains(list[i:], why) &&
			strings.Contains(list[i:], commit) {
			return
		}
		if time.Now().After(deadline) {
			tm.t.Fatalf("not paused after %v by %s:\n%s", limit, commit, list)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// failures counts the runs of a duty that failed.
func (tm *team) failures(duty string) int {
	tm.t.Helper()
	var all []json.RawMessage
	if err := json.Unmarshal([]byte(tm.as(tm.keeper, "runs", "list", "--duty", duty, "--failed", "--json", "-n",
		"1000")), &all); err != nil {
		tm.t.Fatal(err)
	}
	return len(all)
}
