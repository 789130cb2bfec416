//go:build fleet

package fleet

import (
	"os"
	"strings"
	"testing"
)

// TestPackagesAndBootstrapFollowEachOther on one host: the agent of the package takes the place of the one that was
// brought by ssh, and is left alone by the next bootstrap; without it bootstrap brings its own again. Keys and name
// stay, and there is never more than one.
func TestPackagesAndBootstrapFollowEachOther(t *testing.T) {
	hosts := []machine{"h8"}
	m := hosts[0]
	bootstrapped(t, hosts)
	t.Cleanup(func() {
		m.sh(t, "dpkg -P hark-agent 2>/dev/null || true")
		bare(t, hosts)
	})
	key := m.sh(t, "cat /var/lib/hark/identity.key")
	is := func(what, program string) {
		t.Helper()
		await(t, what+": the agent is "+program, func() bool {
			return m.sh(t, "readlink /proc/$(systemctl show hark-agent -p MainPID --value)/exe || true") == program
		})
		present(t, m)
		answers(t, m)
		// systemd's child is the supervisor; the agent is its child.
		if n := m.sh(t, "pgrep -P 1 -fc 'hark-agent ru[n]'"); n != "1" {
			t.Errorf("%s: there are %s agents", what, n)
		}
		if now := m.sh(t, "cat /var/lib/hark/identity.key"); now != key {
			t.Errorf("%s: the agent has another key", what)
		}
	}
	again := func(want string) {
		t.Helper()
		got := site.control.hark(t, sshProject(t, "root", map[string]string{}), "bootstrap", "-i", "inventory", string(m))
		if got.code != 0 || !strings.Contains(got.out, want) {
			t.Errorf("bootstrap: code %d\n%s%s", got.code, got.out, got.errors)
		}
	}
	is("bootstrap", "/usr/local/bin/hark-agent")
	bring(t, m, packages(t, "1.0.0"), "/root/one")
	m.sh(t, "/root/one/install.sh hark-agent")
	is("the package", "/usr/bin/hark-agent")
	if own := m.sh(t, "ls /etc/systemd/system/hark-agent.service 2>/dev/null || true; systemctl is-enabled hark-agent"); own != "enabled" {
		t.Errorf("the units are %s", own)
	}
	again("h8: ok (hark-agent")
	is("bootstrap after it", "/usr/bin/hark-agent")
	m.sh(t, "dpkg -r hark-agent")
	again("h8: installed binary")
	is("bootstrap without it", "/usr/local/bin/hark-agent")
}

// TestScriptsOfRPMPackages do the same with what rpm tells them, which is the number of versions that there are.
func TestScriptsOfRPMPackages(t *testing.T) {
	hosts := []machine{"h8"}
	m := hosts[0]
	bootstrapped(t, hosts)
	t.Cleanup(func() { bare(t, hosts) })
	for _, name := range []string{"agent-postinstall", "agent-preremove", "agent-postremove"} {
		text, err := os.ReadFile("../release/scripts/" + name)
		if err == nil {
			err = m.put("/root/rpm/"+name, 0o755, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	unit, err := os.ReadFile("../../agent/hark-agent/hark-agent.service")
	if err == nil {
		err = m.put("/usr/lib/systemd/system/hark-agent.service", 0o644, unit)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.sh(t, "rm -f /usr/lib/systemd/system/hark-agent.service; systemctl daemon-reload") })
	program := func() string {
		return m.sh(t, "readlink /proc/$(systemctl show hark-agent -p MainPID --value)/exe || true")
	}
	m.sh(t, "cp /usr/local/bin/hark-agent /usr/bin/hark-agent && /root/rpm/agent-postinstall 1")
	await(t, "the package's agent runs", func() bool { return program() == "/usr/bin/hark-agent" })
	before := m.sh(t, "systemctl show hark-agent -p MainPID --value")
	m.sh(t, "/root/rpm/agent-postinstall 2; /root/rpm/agent-preremove 1; /root/rpm/agent-postremove 1")
	await(t, "the upgraded agent was started anew", func() bool {
		now := m.sh(t, "systemctl show hark-agent -p MainPID --value")
		return now != before && now != "0"
	})
	present(t, m)
	m.sh(t, "/root/rpm/agent-preremove 0 && rm /usr/bin/hark-agent /usr/lib/systemd/system/hark-agent.service && /root/rpm/agent-postremove 0")
	if left := m.sh(t, "pgrep -a hark-agen[t] || true; systemctl is-enabled hark-agent 2>/dev/null || true; ls /usr/local/bin | grep hark || true; test -e /var/lib/hark/identity.key && echo keys"); left != "keys" && left != "not-found\nkeys" {
		t.Errorf("removed, there is %s", left)
	}
}
