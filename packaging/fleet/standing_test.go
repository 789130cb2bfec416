//go:build fleet

package fleet

import (
	"encoding/json"
	"strings"
	"testing"
)

// doctored is what the doctor finds, by check.
func doctored(t *testing.T) map[string]string {
	t.Helper()
	got := site.control.hark(t, t.TempDir(), "doctor", "--json")
	var found []struct{ Check, State, Text, Do string }
	if err := json.Unmarshal([]byte(got.out), &found); err != nil {
		t.Fatalf("%v\n%s%s", err, got.out, got.errors)
	}
	out := map[string]string{}
	for _, f := range found {
		out[f.Check] = f.State + ": " + f.Text
	}
	return out
}

// TestAgentsThatCannotComeAreExplained: revoked, and let in again without a hand on the host.
func TestAgentsThatCannotComeAreExplained(t *testing.T) {
	hosts := fleetOf(t, 3)
	m := machine("h2")
	dir := project(t, hosts, map[string]string{})
	if got := site.control.hark(t, dir, "agents", "revoke", "h2"); got.code != 0 {
		t.Fatalf("%s%s", got.out, got.errors)
	}
	t.Cleanup(func() {
		_ = site.control.command(bg, "agents", "approve", "h2").Run()
		present(t, m)
	})
	got := site.control.hark(t, dir, "run", "-i", "inventory", "all", "-m", "ping")
	if !strings.Contains(got.out, "the agent of h2 was revoked on ") || !strings.Contains(got.out, "hark agents approve h2") || got.code != 4 {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.errors)
	}
	found := doctored(t)
	if text := found["agent h2"]; !strings.Contains(text, "failed: it was revoked on ") {
		t.Errorf("doctor says of h2: %s", text)
	}
	if text := found["agents"]; !strings.HasPrefix(text, "ok: ") || strings.HasPrefix(text, "ok: 0 ") {
		t.Errorf("doctor counts: %s", text)
	}
	await(t, "the agent says why", func() bool {
		return strings.Contains(m.sh(t, "journalctl -u hark-agent --since '-2 min' --no-pager"), "hark agents approve NAME")
	})
	started := m.sh(t, "systemctl show -P ExecMainStartTimestampMonotonic hark-agent")
	if got := site.control.hark(t, dir, "agents", "approve", "h2"); got.code != 0 {
		t.Fatalf("%s%s", got.out, got.errors)
	}
	present(t, m)
	if again := m.sh(t, "systemctl show -P ExecMainStartTimestampMonotonic hark-agent"); again != started {
		t.Error("the agent was started again, and was not to be")
	}
}

// TestStateDirectoryThatIsGoneIsToldOf, by the play and by the doctor.
func TestStateDirectoryThatIsGoneIsToldOf(t *testing.T) {
	hosts := fleetOf(t, 2)
	m := machine("h2")
	m.sh(t, "mv /var/lib/hark /var/lib/hark.away")
	t.Cleanup(func() {
		m.sh(t, "rm -rf /var/lib/hark; mv /var/lib/hark.away /var/lib/hark; systemctl restart hark-agent")
		present(t, m)
	})
	dir := project(t, hosts, map[string]string{})
	got := site.control.hark(t, dir, "run", "-i", "inventory", "all", "-m", "command", "-a", "true")
	if !strings.Contains(got.out, "was deleted or replaced while the agent used it") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.errors)
	}
	if text := doctored(t)["agent h2"]; !strings.Contains(text, "failed: the state directory /var/lib/hark was deleted or replaced") {
		t.Errorf("doctor says of h2: %s", text)
	}
}

// TestFullDiskOfAnAgentIsToldOf by the doctor.
func TestFullDiskOfAnAgentIsToldOf(t *testing.T) {
	fleetOf(t, 2)
	m := machine("h2")
	m.sh(t, `systemctl stop hark-agent && cp -a /var/lib/hark /root/state && mount -t tmpfs -o size=20m,mode=700 tmpfs /var/lib/hark &&
		cp -a /root/state/. /var/lib/hark/ && systemctl start hark-agent && { head -c 15M /dev/zero >/var/lib/hark/ballast; }`)
	t.Cleanup(func() {
		m.sh(t, "systemctl stop hark-agent; umount /var/lib/hark; rm -rf /root/state; systemctl start hark-agent")
		present(t, m)
	})
	present(t, m)
	if text := doctored(t)["agent h2"]; !strings.Contains(text, "failed: the file system of /var/lib/hark is full") {
		t.Errorf("doctor says of h2: %s", text)
	}
}

// TestTargetingByFactsWithTheBrokerOnRecord: nothing in the environment says where it is; a ping takes no facts away,
// nobody is missed.
func TestTargetingByFactsWithTheBrokerOnRecord(t *testing.T) {
	fleetOf(t, 4)
	dir := project(t, nil, map[string]string{
		"inventory": "", "agents.yml": "plugin: hark\nkeyed_groups:\n  - {key: ansible_distribution, prefix: os}\n",
	})
	home := t.TempDir() // of an operator without facts, with the same access and key
	for _, name := range []string{"operator.nk", "brokers.json", "known_agents"} {
		copyFile(t, site.control.home+"/"+name, home+"/"+name)
	}
	hark := func(args ...string) outcome {
		t.Helper()
		return site.control.recorded(t, home, dir, args...)
	}
	last := func(got outcome) string { return account(t, got) }
	if got := hark("run", "facts:ansible_distribution is defined", "-l", "h1,h2,h3,h4", "-m", "command", "-a", "true"); last(got) != "4 hosts expected: 4 changed = 4" {
		t.Errorf("without facts on record: %s\n%s", last(got), got.errors)
	}
	for _, args := range [][]string{{"run", "all", "-m", "ping"}, {"run", "all", "-i", "hark:", "-m", "ping"}} {
		if got := hark(args...); got.code != 0 {
			t.Errorf("%v: exit code %d\n%s%s", args, got.code, got.out, got.errors)
		}
	}
	if got := hark("inventory", "-i", "agents.yml", "--graph"); !strings.Contains(got.out, "@os_Debian:") || !strings.Contains(got.out, "--h4\n") {
		t.Errorf("after a ping the groups are\n%s%s", got.out, got.errors)
	}
	if got := hark("run", "facts:ansible_distribution == 'Fedora'", "-l", "h1,h2,h3,h4", "-m", "ping"); !strings.Contains(got.errors, "4 are left out by theirs") {
		t.Errorf("what is on record does not rule out: %s%s", got.out, got.errors)
	}
}
