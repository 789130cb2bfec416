//go:build fleet

package fleet

import (
	"regexp"
	"strings"
	"testing"
)

// account is the last line of a broadcast.
func account(t *testing.T, got outcome) string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	return lines[len(lines)-1]
}

// TestBroadcastAccountsForEveryHost: equal results are one, and every host is in the sum in one state.
func TestBroadcastAccountsForEveryHost(t *testing.T) {
	hosts := fleetOf(t, size)
	m := machine("h9")
	m.verb(t, "kill")
	t.Cleanup(func() {
		m.verb(t, "boot")
		answers(t, m)
	})
	dir := project(t, append(hosts, "h11"), map[string]string{})
	got := site.control.hark(t, dir, "run", "-i", "inventory", "all", "--summary", "-m", "shell", "-a", "test $(hostname) != h3 && echo fine")
	if want := "11 hosts expected: 8 changed + 1 failed + 2 unreachable = 11"; account(t, got) != want || got.code != 4 {
		t.Errorf("exit code %d, %s; want 4, %s", got.code, account(t, got), want)
	}
	if !strings.Contains(got.out, "8 hosts | CHANGED | rc=0 >>\nfine\n    h1 h2 h[4:8] h10\n") || !strings.Contains(got.out, "1 host | FAILED | rc=1 >>") {
		t.Error("equal results are not one")
	}
}

// TestBroadcastEndsWhenEnoughHaveAnswered: the others are given up, and what they were doing is ended.
func TestBroadcastEndsWhenEnoughHaveAnswered(t *testing.T) {
	hosts := fleetOf(t, size)
	dir := project(t, hosts, map[string]string{})
	got := site.control.hark(t, dir, "run", "-i", "inventory", "all", "--until", "90%", "-m", "shell", "-a", "test $(hostname) != h7 || sleep 987")
	if want := "10 hosts expected: 9 changed + 1 given up = 10"; account(t, got) != want || got.code != 0 {
		t.Errorf("exit code %d, %s; want 0, %s", got.code, account(t, got), want)
	}
	await(t, "the command on h7 is ended", func() bool {
		_, err := machine("h7").try(nil, "! pgrep -x sleep")
		return err == nil
	})
}

// TestBroadcastInBatches: a few at a time, each after a while of its own, and no further when a whole batch has failed.
func TestBroadcastInBatches(t *testing.T) {
	hosts := fleetOf(t, size)
	dir := project(t, hosts, map[string]string{})
	got := site.control.hark(t, dir, "run", "-i", "inventory", "all", "--batch", "4", "--splay", "2", "-m", "command", "-a", "true")
	if want := "10 hosts expected: 10 changed = 10"; account(t, got) != want || got.code != 0 {
		t.Errorf("exit code %d, %s; want 0, %s", got.code, account(t, got), want)
	}
	got = site.control.hark(t, dir, "run", "-i", "inventory", "all", "--batch", "40%", "-m", "command", "-a", "false")
	if want := "10 hosts expected: 4 failed + 6 not reached = 10"; account(t, got) != want || got.code != 2 {
		t.Errorf("exit code %d, %s; want 2, %s", got.code, account(t, got), want)
	}
}

// TestHostsAreFoundByTheirFacts: the cached facts choose, the agents look again, and without an inventory all agents
// are meant.
func TestHostsAreFoundByTheirFacts(t *testing.T) {
	hosts := fleetOf(t, 4)
	dir := project(t, hosts, map[string]string{
		"agents.yml": "plugin: hark\nkeyed_groups:\n  - {key: ansible_distribution, prefix: os}\ncompose:\n  memory: ansible_memtotal_mb\ngroups:\n  first: ansible_hostname == 'h1'\n",
	})
	ask := func(args ...string) string {
		t.Helper()
		got := site.control.hark(t, dir, append([]string{"run"}, args...)...)
		if got.code != 0 {
			t.Errorf("hark run %v: exit code %d\n%s%s", args, got.code, got.out, got.errors)
		}
		return account(t, got)
	}
	if got := ask("facts:ansible_distribution == 'Debian' and ansible_hostname in ['h1', 'h2']", "-l", "h1,h2,h3,h4", "-m", "command", "-a", "true"); !regexp.MustCompile(`^(4 hosts expected: 2 changed \+ 2 skipped = 4|2 hosts expected: 2 changed = 2)$`).MatchString(got) {
		t.Errorf("at first: %s", got)
	}
	if got := ask("facts:ansible_hostname in ['h1', 'h2']", "-l", "h1,h2,h3,h4", "-m", "command", "-a", "true"); got != "2 hosts expected: 2 changed = 2" {
		t.Errorf("with cached facts: %s", got)
	}
	machine("h2").sh(t, "hostname other")
	t.Cleanup(func() { machine("h2").sh(t, "hostname h2") })
	if got := ask("facts:ansible_hostname in ['h1', 'h2']", "-l", "h1,h2,h3,h4", "-m", "command", "-a", "true"); got != "2 hosts expected: 1 changed + 1 skipped = 2" {
		t.Errorf("when facts have changed: %s", got)
	}
	graph := site.control.hark(t, dir, "inventory", "-i", "agents.yml", "--graph")
	if !strings.Contains(graph.out, "@os_Debian:") || !strings.Contains(graph.out, "@first:\n  |  |--h1\n") {
		t.Errorf("the inventory of agents is\n%s%s", graph.out, graph.errors)
	}
	if host := site.control.hark(t, dir, "inventory", "-i", "agents.yml", "--host", "h1"); !regexp.MustCompile(`"memory": [0-9]+`).MatchString(host.out) || !strings.Contains(host.out, `"hark_present": true`) {
		t.Errorf("h1 has\n%s%s", host.out, host.errors)
	}
}
