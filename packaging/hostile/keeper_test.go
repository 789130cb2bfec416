//go:build hostile

package hostile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A key that is trusted only to look changes nothing, whichever way it tries, in check mode or not.
func TestKeyThatMayLookChangesNothing(t *testing.T) {
	s := newBroker(t)
	for _, name := range honest {
		s.startAgent(name)
	}
	looker := s.newOperator("looker")
	s.admit(looker)
	key := strings.TrimSpace(looker.must("key", "show", "--public").out)
	s.owner.must("key", "trust", key, "--check", "--until", "1d")
	target := t.TempDir()
	s.guard(target)
	project := filepath.Join(s.dir, "looks")
	s.write(filepath.Join(project, "library", "foreign"), "#!/bin/sh\ntouch "+target+"/foreign\necho '{\"changed\": true}'\n")
	s.write(filepath.Join(project, "inventory"), "web2\ndb1\n")
	ways := func(target string) map[string]string {
		return map[string]string{
			"command": "command: touch " + target + "/command", "shell": "shell: touch " + target + "/shell", "raw": "raw: touch " + target + "/raw",
			"copy": "copy: {content: x, dest: " + target + "/copy}", "async": "shell: touch " + target + "/async\n    async: 20\n    poll: 0",
			"delegate": "file: {path: " + target + "/delegate, state: touch}\n    delegate_to: web2", "foreign": "foreign:",
			"insists": "command: touch " + target + "/insists\n    check_mode: false",
		}
	}
	for name, task := range startsInCheck(target) {
		s.write(filepath.Join(project, "site.yml"), "- hosts: db1\n  gather_facts: false\n  tasks:\n  - "+task+"\n")
		if r := looker.in(project, "play", "-i", "inventory", "--check", "site.yml"); r.code != 2 || !strings.Contains(r.out, "may look and not change") {
			t.Errorf("%s in check mode: %s", name, r)
		}
	}
	play := func(task string) {
		s.write(filepath.Join(project, "site.yml"), "- hosts: db1\n  gather_facts: false\n  tasks:\n  - "+task+"\n")
	}
	for name, task := range ways(target) {
		play(task)
		if r := looker.in(project, "play", "-i", "inventory", "site.yml"); r.code != 2 || !strings.Contains(r.out, "may look and not change") {
			t.Errorf("%s: %s", name, r)
		}
		looker.in(project, "play", "-i", "inventory", "--check", "site.yml") // some look, some are refused: the guard reports that nothing was changed
	}
	for _, args := range [][]string{
		{"-m", "command", "-a", "touch " + target + "/run"}, {"-m", "shell", "-a", "touch " + target + "/run"}, {"-m", "raw", "-a", "touch " + target + "/run"},
		{"-m", "copy", "-a", "content=x dest=" + target + "/run"}, {"-B", "20", "-m", "shell", "-a", "touch " + target + "/run"}, {"-M", "library", "-m", "foreign"},
	} {
		if r := looker.in(project, append([]string{"run", "-i", "inventory", "all"}, args...)...); r.code != 2 || !strings.Contains(r.out, "may look and not change") {
			t.Errorf("hark run %v: %s", args, r)
		}
	}
	play("copy: {content: x, dest: " + target + "/copy}")
	if r := looker.in(project, "play", "-i", "inventory", "--check", "site.yml"); r.code != 0 || r.recap("db1")["changed"] != 1 {
		t.Errorf("what it may: %s", r)
	}
	// What has no check mode says what it says to everybody in check mode.
	play("tempfile: {path: " + target + "}\n  - wait_for: {path: " + target + "/never, timeout: 60}\n  - command: touch " + target + "/command")
	looked, owned := looker.in(project, "play", "-i", "inventory", "--check", "site.yml"), s.owner.in(project, "play", "-i", "inventory", "--check", "site.yml")
	if looked.code != 0 || looked.recap("db1")["skipped"] != 3 || looked.out != owned.out {
		t.Errorf("tasks without check mode: %s, and to who may change: %s", looked, owned)
	}
	// The ways are ways: whoever may change does so by each of them.
	control := t.TempDir()
	s.write(filepath.Join(project, "library", "foreign"), "#!/bin/sh\ntouch "+control+"/foreign\necho '{\"changed\": true}'\n")
	for name, task := range ways(control) {
		play(task)
		if r := s.owner.in(project, "play", "-i", "inventory", "site.yml"); r.code != 0 {
			t.Errorf("the owner, %s: %s", name, r)
		}
		s.await("what "+name+" makes", func() bool {
			_, err := os.Stat(filepath.Join(control, name))
			return err == nil
		})
	}
}
