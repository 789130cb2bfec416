//go:build hostile

package hostile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Who may look leaves nothing on a host: no directory of jobs, no temporary directory, no copy of a file before its
// change, whether what is asked is in check mode or only gathers facts.
func TestWhoMayLookLeavesNothing(t *testing.T) {
	s := newBroker(t)
	s.startAgent("db1")
	looker := s.newOperator("looker")
	s.admit(looker)
	s.owner.must("key", "trust", strings.TrimSpace(looker.must("key", "show", "--public").out), "--check", "--until", "1d")
	target := t.TempDir()
	s.write(target+"/f", "x\n")
	s.write(target+"/facts.d/a.fact", "#!/bin/sh\ntouch "+target+"/fact\necho '{}'\n")
	s.guard(target)
	dir := filepath.Join(s.dir, "looks")
	s.write(filepath.Join(dir, "inventory"), "db1\n")
	jobs := "\n    vars: {ansible_async_dir: " + target + "/jobs}"
	for name, task := range map[string]string{
		"facts as a job":      "setup: {gather_subset: '!all'}\n    async: 20\n    poll: 1" + jobs,
		"facts that stay":     "setup: {gather_subset: '!all'}\n    async: 20\n    poll: 0" + jobs,
		"cleanup":             "async_status: {jid: ../f, mode: cleanup}" + jobs,
		"temporary directory": "copy: {content: x, dest: " + target + "/y}\n    vars: {ansible_remote_tmp: " + target + "/tmp}",
		"programs of facts":   "setup: {fact_path: " + target + "/facts.d}",
		"backup":              "template: {src: inventory, dest: " + target + "/f, backup: true}",
		"block":               "blockinfile: {path: " + target + "/f, block: y, backup: true}",
		"parts":               "assemble: {src: " + target + ", dest: " + target + "/out}",
		"address of a file":   "get_url: {url: 'file:///etc/passwd', dest: " + target + "/got}",
		"archive":             "archive: {path: " + target + "/f, dest: " + target + "/a.tgz}",
		"other user":          "file: {path: " + target + "/new, state: touch}\n    become: true\n    become_user: root",
		"tree":                "synchronize: {src: ./, dest: " + target + "/tree/}",
	} {
		s.write(filepath.Join(dir, "site.yml"), "- hosts: db1\n  gather_facts: false\n  tasks:\n  - "+task+"\n")
		if r := looker.in(dir, "play", "-i", "inventory", "site.yml"); r.code != 2 || !strings.Contains(r.out, "may look and not change") && !strings.Contains(r.out, "policy does not allow") {
			t.Errorf("%s: %s", name, r)
		}
		looker.in(dir, "play", "-i", "inventory", "--check", "site.yml") // the guard reports that nothing was changed
	}
}

// Paths bind a module in a job and as another user too, and where a path is made of variables that the operator gives.
func TestPathsHoldInJobsAndForUsers(t *testing.T) {
	s := newBroker(t)
	in, out := t.TempDir(), t.TempDir()
	s.write(out+"/secret", "CANARY")
	s.write(out+"/d/secret", "CANARY")
	s.write(in+"/tree/plain", "x\n")
	for link, to := range map[string]string{"/tree/link": out + "/secret", "/tree/ld": out + "/d", "/dir": out} {
		if err := os.Symlink(to, in+link); err != nil {
			t.Fatal(err)
		}
	}
	s.guard(out)
	s.startBound("db1", "operators:\n  \"*\":\n    modules: ['*']\n    paths: ["+in+"]\n")
	p := project{"inventory": "db1\n", "t.j2": "x\n", "tree/l": "x\n", "library/copy.py": "#!/bin/sh\ntouch " + out + "/lib\necho '{}'\n"}
	const asJob, asUser = "\n    async: 20\n    poll: 1", "\n    become: true\n    become_user: root"
	lang := func(value string) string { return "\n    environment: {LANG: " + value + "}" }
	for name, task := range map[string]string{
		"recursion":            "file: {path: " + in + "/tree, state: directory, recurse: true, mode: '0666'}" + asJob,
		"recursion, followed":  "file: {path: " + in + "/tree, state: directory, recurse: true, mode: 'o=rwx', follow: true}" + asUser,
		"parts":                "assemble: {src: " + in + "/tree, dest: " + in + "/out, remote_src: true}" + asJob,
		"tree":                 "copy: {src: " + in + "/tree/, dest: " + in + "/copy/, remote_src: true}" + asUser,
		"search":               "find: {paths: " + in + ", recurse: true, follow: true, contains: CANARY, hidden: true}" + asJob,
		"variable in a path":   "slurp: {src: \"" + in + "/$LANG\"}" + lang("dir/secret"),
		"variable for a file":  "file: {path: \"" + in + "/$LANG\", state: touch}" + lang("dir/made"),
		"variable in a job":    "file: {path: \"" + in + "/$LANG\", state: touch}" + lang("../"+filepath.Base(out)+"/made") + asJob,
		"variable for content": "lineinfile: {path: \"" + in + "/$LANG\", line: x, create: true}" + lang("tree/ld/secret") + asUser,
		"hard link":            "file: {state: hard, src: " + out + "/secret, path: " + in + "/hard}",
		"removed":              "file: {path: " + in + "/tree/ld/secret, state: absent}",
		"template":             "template: {src: t.j2, dest: " + in + "/tree/ld/}" + asUser,
		"sent tree":            "copy: {src: tree/, dest: " + in + "/tree/ld/}",
		"module of a project":  "copy: {src: tree/l, dest: " + in + "/y}",
		"directory of jobs":    "ping:\n    vars: {ansible_async_dir: " + in + "/dir/jobs}" + asJob,
		"temporary directory":  "ping:\n    vars: {ansible_remote_tmp: " + out + "/tmp}" + asJob,
		"process":              "slurp: {src: /proc/self/root" + out + "/secret}",
		"job of another":       "async_status: {jid: ../dir/secret}\n    vars: {ansible_async_dir: " + in + "}",
		"job that is removed":  "async_status: {jid: dir/secret, mode: cleanup}\n    vars: {ansible_async_dir: " + in + "}",
		"newline":              "slurp: {src: \"" + in + "/x\\n" + out + "/secret\"}",
	} {
		p["site.yml"] = "- hosts: db1\n  gather_facts: false\n  tasks:\n  - " + task + "\n    register: r\n    ignore_errors: true\n  - debug: var=r\n"
		r := s.play(p)
		if r.code != 0 || strings.Contains(r.out, "CANARY\"") || strings.Contains(r.out, "Q0FOQVJZ") {
			t.Errorf("%s: %s", name, r)
		}
	}
	for _, file := range []string{"/out", "/copy/link", "/hard"} {
		if text, err := os.ReadFile(in + file); err == nil && strings.Contains(string(text), "CANARY") {
			t.Errorf("%s holds what lies outside", file)
		}
	}
	p["site.yml"] = "- hosts: db1\n  tasks:\n  - file: {path: " + in + "/fine, state: touch}" + asJob + "\n  - slurp: {src: \"" + in + "/$LANG\"}" + lang("tree/plain") + "\n"
	if r := s.play(p); r.code != 0 {
		t.Errorf("what is allowed: %s", r)
	}
}

// A policy that was changed holds from the reload on, as of `systemctl reload hark-agent`.
func TestAReloadedPolicyHolds(t *testing.T) {
	s := newBroker(t)
	target := t.TempDir()
	s.startBound("db1", "operators:\n  \"*\": {}\n")
	p := project{"inventory": "db1\n", "site.yml": "- hosts: db1\n  gather_facts: false\n  tasks:\n  - file: {path: " + target + "/a, state: touch}\n"}
	if r := s.play(p); r.code != 0 {
		t.Fatal(r)
	}
	s.write(filepath.Join(s.dir, "db1-policy.yml"), "operators:\n  \"*\": {check: true}\n")
	was := s.running["db1"]
	if err := was.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.await("the end of the agent", func() bool { return s.owner.hark("agents", "show", "db1", "--present").code != 0 })
	s.start("db1", exec.Command(was.Path, was.Args[1:]...)) // as systemd does
	s.awaitAgent("db1")
	s.guard(target)
	if r := s.play(p); r.code != 2 || !strings.Contains(r.out, "may look and not change") {
		t.Error(r)
	}
}
