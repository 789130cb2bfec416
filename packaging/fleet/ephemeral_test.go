//go:build fleet

package fleet

import (
	"strings"
	"syscall"
	"testing"
)

// sshProject is a project whose inventory reaches the hosts by ssh.
func sshProject(t *testing.T, user string, files map[string]string) string {
	t.Helper()
	text, err := tool("inventory", user).Output()
	if err != nil {
		t.Fatal(err)
	}
	files["inventory"] = string(text)
	return project(t, nil, files)
}

// traces is what agents without an installation could leave on a host.
func (m machine) traces(t *testing.T) string {
	t.Helper()
	return m.sh(t, "pgrep -fa 'hark-agent ephemera[l]' || true; ls -d /tmp/.hark-* /var/tmp/.hark-* /root/.hark-* /home/*/.hark-* /dev/shm/.hark-* 2>/dev/null || true")
}

const passingPlay = `
- hosts: h2,h3
  gather_facts: false
  tasks:
    - command: id -un
      become: true
      register: who
    - copy: {content: "{{ inventory_hostname }}", dest: /run/passing}
      become: true
    - debug: msg="{{ who.stdout }} of {{ inventory_hostname }}"
`

// TestEphemeralAgentsLeaveNothing: after a play as root or as a user with sudo.
func TestEphemeralAgentsLeaveNothing(t *testing.T) {
	hosts := []machine{"h2", "h3"}
	for _, user := range []string{"root", "ops"} {
		t.Run(user, func(t *testing.T) {
			dir := sshProject(t, user, map[string]string{"site.yml": passingPlay})
			for _, m := range hosts {
				m.sh(t, "rm -f /run/passing")
			}
			got := site.control.hark(t, dir, "play", "--ephemeral", "--agent-binary", site.control.bin+"/hark-agent", "-i", "inventory", "site.yml")
			if got.code != 0 {
				t.Fatalf("code %d\n%s%s", got.code, got.out, got.errors)
			}
			for _, m := range hosts {
				if !strings.Contains(got.out, "root of "+string(m)) || m.sh(t, "cat /run/passing") != string(m) {
					t.Errorf("%s did not do it", m)
				}
				if left := m.traces(t); left != "" {
					t.Errorf("on %s there is\n%s", m, left)
				}
			}
		})
	}
}

// TestEphemeralAgentsEndWithTheController: interrupted or killed, it leaves nothing on the hosts.
func TestEphemeralAgentsEndWithTheController(t *testing.T) {
	m := machine("h2")
	for name, sig := range map[string]syscall.Signal{"interrupted": syscall.SIGINT, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			dir := sshProject(t, "root", map[string]string{"site.yml": "- hosts: h2\n  gather_facts: false\n  tasks:\n    - shell: touch /run/begun; exec sleep 601\n"})
			m.sh(t, "rm -f /run/begun")
			p := site.control.start(t, dir, "play", "--ephemeral", "-i", "inventory", "site.yml")
			await(t, "the command runs", func() bool { _, err := m.try(nil, "test -e /run/begun"); return err == nil })
			if err := p.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if got := p.wait(t); sig == syscall.SIGINT && got.code != 99 {
				t.Errorf("code %d", got.code)
			}
			await(t, "nothing is left", func() bool { return m.traces(t) == "" && m.sh(t, "pgrep -fx 'sleep 601' || true") == "" })
		})
	}
}
