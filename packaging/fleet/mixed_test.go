//go:build fleet

package fleet

import (
	"strings"
	"testing"
)

// TestAnAgentWhereThereIsOne: h1 has an agent and h2 has none; one play reaches both, each does things to the other,
// and who names ssh gets it.
func TestAnAgentWhereThereIsOne(t *testing.T) {
	hosts := fleetOf(t, 2)
	with, without := hosts[0], hosts[1]
	enrolled.Lock()
	delete(enrolled.hosts, without) // the next test that wants its agent puts it there again
	enrolled.Unlock()
	without.sh(t, "hark-agent uninstall && rm -rf /var/lib/hark /etc/hark")
	site.control.forget(without)
	dir := sshProject(t, "root", map[string]string{"site.yml": `
- hosts: h1,h2
  gather_facts: false
  vars: {me: "tr '\\0' ' ' </proc/$PPID/cmdline"}
  tasks:
    - shell: "{{ me }}"
      register: own
    - shell: "{{ me }}"
      delegate_to: "{{ 'h1' if inventory_hostname == 'h2' else 'h2' }}"
      register: other
    - shell: "{{ me }}"
      connection: ssh
      register: named
    - debug: msg="{{ inventory_hostname }} own={{ own.stdout.split()[1] }} other={{ other.stdout.split()[1] }} named={{ named.stdout.split()[1] }}"
`})
	got := site.control.hark(t, dir, "play", "-v", "-i", "inventory", "site.yml")
	for _, want := range []string{"h1 own=run other=ephemeral named=ephemeral", "h2 own=ephemeral other=run named=ephemeral"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q is missing (code %d)\n%s%s", want, got.code, got.out, got.errors)
		}
	}
	for _, want := range []string{"h1: reached by its agent", "h2: reached over ssh: "} {
		if !strings.Contains(got.errors, want) {
			t.Errorf("%q is missing in\n%s", want, got.errors)
		}
	}
	for _, m := range []machine{with, without} {
		if left := m.traces(t); left != "" {
			t.Errorf("on %s there is\n%s", m, left)
		}
	}
}
