//go:build hostile

package hostile

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An operator whom a host's policy bounds gets none of the ways around it that there are: each task is refused, and
// nothing ran.
func TestPolicyHoldsAgainstItsOperator(t *testing.T) {
	s := newBroker(t)
	allowed := t.TempDir()
	if err := os.Chmod(allowed, 0o755); err != nil {
		t.Fatal(err)
	}
	s.startBound("db1", "operators:\n  \"*\":\n    modules: [ansible.builtin.*]\n    paths: ["+allowed+"]\n")
	witness := s.witness()
	ways := map[string]string{
		"validate":    "copy: {content: x, dest: " + allowed + "/a, validate: 'touch " + witness + " %s'}",
		"lineinfile":  "lineinfile: {path: " + allowed + "/a, line: x, create: true, validate: 'touch " + witness + " %s'}",
		"shell":       "shell: touch " + witness,
		"script":      "script: evil.sh",
		"raw":         "raw: touch " + witness,
		"cron":        "cron: {name: x, job: touch " + witness + "}",
		"facts":       "setup: {fact_path: " + allowed + "}",
		"environment": "ping:\n    environment: {PATH: " + allowed + ":/bin}",
		"jobs":        "file: {path: " + allowed + "/b, state: touch}\n    async: 10\n    vars: {ansible_async_dir: " + s.dir + "/outside}",
		"setuid":      "copy: {content: x, dest: " + allowed + "/s, mode: '4755'}",
		"unit":        "systemd: {name: " + allowed + "/evil.service, state: started}",
		"foreign":     "evil:",
	}
	p := project{
		"inventory": "db1\n", "evil.sh": "#!/bin/sh\ntouch " + witness + "\n",
		"library/evil.sh": "#!/bin/sh\ntouch " + witness + "\necho '{}'\n",
	}
	for name, task := range ways {
		p["site.yml"] = "- hosts: db1\n  gather_facts: false\n  tasks:\n  - " + task + "\n"
		if r := s.play(p); r.code != 2 || !strings.Contains(r.out, "policy does not allow it") {
			t.Errorf("%s: %s", name, r)
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir, "outside")); err == nil {
		t.Error("a job's directory was made where it may not")
	}
	p["site.yml"] = "- hosts: db1\n  tasks:\n  - copy: {content: x, dest: " + allowed + "/fine, mode: '0644'}\n"
	if r := s.play(p); r.code != 0 {
		t.Errorf("what is allowed: %s", r)
	}
}

// Paths hold where files are opened: in trees, through links and by addresses.
func TestPathsHoldWhereFilesAreOpened(t *testing.T) {
	s := newBroker(t)
	allowed, outside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(outside+"/secret", []byte("CANARY"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(allowed+"/tree", 0o755); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"/tree/link": outside + "/secret", "/dir": outside} {
		if err := os.Symlink(to, allowed+link); err != nil {
			t.Fatal(err)
		}
	}
	s.guard(outside)
	s.startBound("db1", "operators:\n  \"*\":\n    modules: [copy, file, assemble, slurp, uri, get_url, find, stat, ansible.builtin.*, '*.*.*']\n    paths: ["+allowed+"]\n")
	p := project{"inventory": "db1\n"}
	refused := func(name string) bool { // the others do what they can inside
		return !slices.Contains([]string{"find", "recursion", "recursion 2", "tree", "assemble"}, name)
	}
	for name, task := range map[string]string{
		"recursion":   "file: {path: " + allowed + "/tree, state: directory, recurse: true, mode: '0666'}",
		"recursion 2": "file: {path: " + allowed + "/tree, state: directory, recurse: true, owner: nobody, follow: true}",
		"assemble":    "assemble: {src: " + allowed + "/tree, dest: " + allowed + "/out, remote_src: true}",
		"tree":        "copy: {src: " + allowed + "/tree/, dest: " + allowed + "/copy/, remote_src: true}",
		"find":        "find: {paths: " + allowed + ", recurse: true, follow: true, contains: CANARY}",
		"slurp":       "slurp: {src: " + allowed + "/dir/secret}",
		"uri":         "uri: {url: 'file://" + outside + "/secret', return_content: true}",
		"get_url":     "get_url: {url: 'file://" + outside + "/secret', dest: " + allowed + "/got}",
		"pam_limits":  "known_hosts: {name: x, key: 'x ssh-rsa AAAA'}",
		"tempfile":    "tempfile:",
		"timezone":    "community.general.timezone: {name: ../../..}",
	} {
		p["site.yml"] = "- hosts: db1\n  gather_facts: false\n  tasks:\n  - " + task + "\n    register: r\n  - debug: var=r\n"
		r := s.play(p)
		if strings.Contains(r.out, "CANARY\"") || strings.Contains(r.out, "Q0FOQVJZ") || refused(name) && r.code != 2 {
			t.Errorf("%s: %s", name, r)
		}
	}
	for _, file := range []string{"/out", "/copy/link", "/got"} {
		if text, err := os.ReadFile(allowed + file); err == nil && strings.Contains(string(text), "CANARY") {
			t.Errorf("%s holds what lies outside", file)
		}
	}
	if st, err := os.Stat(outside + "/secret"); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the file outside: %v, %v", st, err)
	}
	p["site.yml"] = "- hosts: db1\n  tasks:\n  - copy: {content: x, dest: " + allowed + "/fine, mode: '0644'}\n  - lineinfile: {path: " + allowed + "/fine, line: y}\n" +
		"  - stat: {path: " + allowed + "/fine}\n    register: r\n  - assert: {that: r.stat.exists}\n  - file: {path: " + allowed + "/a/b/c, state: directory}\n" +
		"  - template: {src: x.j2, dest: " + allowed + "/t}\n  - file: {path: " + allowed + "/a, state: absent}\n  - copy: {content: x, dest: " + allowed + "/async}\n    async: 20\n"
	p["x.j2"] = "{{ inventory_hostname }}\n"
	if r := s.play(p); r.code != 0 {
		t.Errorf("what is allowed: %s", r)
	}
}

// Who may look and not change compares, and changes nothing.
func TestPolicyOfCheckModeChangesNothing(t *testing.T) {
	s := newBroker(t)
	target := t.TempDir()
	s.guard(target)
	s.startBound("db1", "operators:\n  \"*\": {check: true}\n")
	p := project{"inventory": "db1\n", "site.yml": "- hosts: db1\n  tasks:\n  - copy: {content: x, dest: " + target + "/a}\n"}
	if r := s.play(p, "--check"); r.code != 0 || r.recap("db1")["changed"] != 1 {
		t.Errorf("with --check: %s", r)
	}
	if r := s.play(p); r.code != 2 || !strings.Contains(r.out, "may look and not change") {
		t.Errorf("without: %s", r)
	}
	p["site.yml"] = "- hosts: db1\n  gather_facts: false\n  tasks:\n  - command: touch " + target + "/b\n    check_mode: false\n"
	if r := s.play(p, "--check"); r.code != 2 {
		t.Errorf("a task that has no check mode of its own: %s", r)
	}
	for name, task := range startsInCheck(target) {
		p["site.yml"] = "- hosts: db1\n  gather_facts: false\n  tasks:\n  - " + task + "\n"
		if r := s.play(p, "--check"); r.code != 2 || !strings.Contains(r.out, "may look and not change") {
			t.Errorf("%s: %s", name, r)
		}
	}
}

// startsInCheck are tasks whose modules start a program in check mode, of the task's choice or one that writes.
func startsInCheck(target string) map[string]string {
	return map[string]string{
		"git's repo":   `git: {repo: "--upload-pack=sh -c 'touch ` + target + `/git'", dest: /nonexist}`,
		"git's remote": `git: {repo: "ext::sh -c 'touch ` + target + `/ext'", dest: /nonexist}`,
		"subversion":   `subversion: {repo: "svn+ssh://x/y", dest: /nonexist}`,
		"apt_key":      `apt_key: {id: "0123456789ABCDEF", keyring: ` + target + `/ring, state: absent}`,
		"pip":          `pip: {name: x, virtualenv: ` + target + `/venv}`,
		"sysvinit":     `sysvinit: {name: x, state: started}`,
	}
}

// What decides whom an agent obeys is not taken from a file that others can write.
func TestAgentsTakeNoRulesFromOthers(t *testing.T) {
	s := newBroker(t)
	s.startBound("db1", "operators:\n  \"*\": {}\n")
	config, policy := filepath.Join(s.dir, "db1.yml"), filepath.Join(s.dir, "db1-policy.yml")
	check := func() (string, error) {
		cmd := exec.Command(filepath.Join(s.bin, "hark-agent"), "run", "--config", config, "--state-dir", filepath.Join(s.dir, "db1-none"), "--broker", s.url, "--operator",
			strings.TrimSpace(s.owner.must("key", "show", "--public").out))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, file := range []string{config, policy} {
		if err := os.Chmod(file, 0o666); err != nil {
			t.Fatal(err)
		}
		if out, err := check(); err == nil || !strings.Contains(out, "others can write "+file) {
			t.Errorf("%s: %v, %s", file, err, out)
		}
		if err := os.Chmod(file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A home that others could write is taken from them, with a word; its keys are not used before.
func TestHomeIsNobodyElses(t *testing.T) {
	s := newBroker(t)
	if err := os.Chmod(s.owner.home, 0o777); err != nil {
		t.Fatal(err)
	}
	r := s.owner.must("agents", "list")
	st, err := os.Stat(s.owner.home)
	if err != nil || st.Mode().Perm() != 0o755 || !strings.Contains(r.errs, "Others could write") {
		t.Errorf("%v, %v, %s", st.Mode(), err, r)
	}
	if err := os.Chmod(filepath.Join(s.owner.home, "operator.nk"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := s.owner.hark("agents", "list"); r.code == 0 || !strings.Contains(r.errs, "others can read") {
		t.Error(r)
	}
}
