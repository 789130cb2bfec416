//go:build hostile

package hostile

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
	ways := map[string]string{
		"command": "command: touch " + target + "/command", "shell": "shell: touch " + target + "/shell", "raw": "raw: touch " + target + "/raw",
		"copy": "copy: {content: x, dest: " + target + "/copy}", "async": "shell: touch " + target + "/async\n    async: 20\n    poll: 0",
		"delegate": "file: {path: " + target + "/delegate, state: touch}\n    delegate_to: web2", "foreign": "foreign:",
		"insists": "command: touch " + target + "/insists\n    check_mode: false",
	}
	for name, task := range ways {
		s.write(filepath.Join(project, "site.yml"), "- hosts: db1\n  gather_facts: false\n  tasks:\n  - "+task+"\n")
		if r := looker.in(project, "play", "-i", "inventory", "site.yml"); r.code != 2 || !strings.Contains(r.out, "may look and not change") {
			t.Errorf("%s: %s", name, r)
		}
		looker.in(project, "play", "-i", "inventory", "--check", "site.yml") // some look, some are refused: the guard tells that nothing came of it
	}
	for _, args := range [][]string{
		{"-m", "command", "-a", "touch " + target + "/run"}, {"-m", "shell", "-a", "touch " + target + "/run"}, {"-m", "raw", "-a", "touch " + target + "/run"},
		{"-m", "copy", "-a", "content=x dest=" + target + "/run"}, {"-B", "20", "-m", "shell", "-a", "touch " + target + "/run"}, {"-M", "library", "-m", "foreign"},
	} {
		if r := looker.in(project, append([]string{"run", "-i", "inventory", "all"}, args...)...); r.code != 2 || !strings.Contains(r.out, "may look and not change") {
			t.Errorf("hark run %v: %s", args, r)
		}
	}
	s.write(filepath.Join(project, "site.yml"), "- hosts: db1\n  gather_facts: false\n  tasks:\n  - copy: {content: x, dest: "+target+"/copy}\n")
	if r := looker.in(project, "play", "-i", "inventory", "--check", "site.yml"); r.code != 0 || r.recap("db1")["changed"] != 1 {
		t.Errorf("what it may: %s", r)
	}
}

// kills is how often the keeper is killed in the middle of a turn.
const kills = 3

// A keeper that is killed in the middle, again and again, does no slot twice; what it finds is told.
func TestKilledKeeperDoesNoSlotTwice(t *testing.T) {
	s := newBroker(t)
	for _, name := range honest {
		s.startAgent(name)
	}
	holder := s.newOperator("keeper")
	s.admit(holder)
	key := strings.TrimSpace(holder.must("key", "show", "--public").out)
	s.owner.must("key", "trust", key)
	s.owner.must("key", "believe", key)
	project, marks := filepath.Join(s.dir, "site"), filepath.Join(s.dir, "marks")
	s.write(marks, "")
	s.write(filepath.Join(project, "inventory"), "web2\ndb1\n")
	s.write(filepath.Join(project, "ansible.cfg"), "[defaults]\ninventory = inventory\n")
	s.write(filepath.Join(project, "duties.yml"), "- {name: look, play: look.yml, hosts: all, every: 1m, splay: 1s, mode: check}\n- {name: mend, play: mend.yml, hosts: all, every: 1m, splay: 1s, mode: enforce, stop_at: 100%}\n")
	s.write(filepath.Join(project, "look.yml"), "- hosts: all\n  gather_facts: false\n  tasks:\n  - name: drifts\n    copy: {content: x, dest: "+s.dir+"/never-there}\n")
	s.write(filepath.Join(project, "mend.yml"), "- hosts: all\n  gather_facts: false\n  tasks:\n  - shell: echo $(( $(date +%s) / 60 )) {{ inventory_hostname }} >> "+marks+"; sleep 3\n")
	begun := func() []string { return strings.Fields(strings.ReplaceAll(s.read(marks), " ", "@")) }
	launch := func() *exec.Cmd {
		cmd := holder.command(context.Background(), "keeper", "run", "--project", project, "--poll", "1s")
		log, err := os.OpenFile(filepath.Join(s.dir, "keeper.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout, cmd.Stderr = log, log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); _ = log.Close() })
		return cmd
	}
	// A dead keeper's lock ends after 30 s: begun early in a minute, what follows it comes in the same slot, and no turn comes where minutes meet.
	if now := time.Now(); now.Second() < 2 || now.Second() > 15 {
		time.Sleep(time.Until(now.Truncate(time.Minute).Add(time.Minute + 2*time.Second)))
	}
	for range kills {
		before := len(begun())
		cmd := launch()
		for deadline := time.Now().Add(100 * time.Second); len(begun()) == before; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("no turn began: %s", s.read(filepath.Join(s.dir, "keeper.log")))
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	launch()
	before := len(begun())
	var drift outcome
	for deadline := time.Now().Add(100 * time.Second); ; time.Sleep(time.Second) {
		if drift = s.owner.hark("duties", "drift"); drift.code == 3 && strings.Contains(drift.out, "drifts") && len(begun()) >= before+2 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d turns, drift: %s\n%s", len(begun()), drift, s.read(filepath.Join(s.dir, "keeper.log")))
		}
	}
	seen := map[string]bool{}
	for _, turn := range begun() {
		if seen[turn] {
			t.Errorf("the slot and host %s were done twice: %v", turn, begun())
		}
		seen[turn] = true
	}
	if _, err := os.Stat(filepath.Join(s.dir, "never-there")); err == nil {
		t.Error("a duty that checks has changed the host")
	}
}
