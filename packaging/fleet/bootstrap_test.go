//go:build fleet

package fleet

import (
	"strings"
	"testing"
)

// TestBootstrapFromNothing: bare hosts, an ssh inventory, and then a play over agents; a second time changes nothing.
func TestBootstrapFromNothing(t *testing.T) {
	fleetOf(t, 1) // the broker's operator has access
	hosts := []machine{"h8", "h9", "h10"}
	for _, m := range hosts {
		m.sh(t, "hark-agent uninstall 2>/dev/null; rm -rf /var/lib/hark /etc/hark /usr/bin/hark-agent /usr/local/bin/hark-agent")
		site.control.forget(m)
	}
	text, err := tool("inventory", "root").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := project(t, hosts, map[string]string{"ssh.ini": string(text)})
	args := []string{"bootstrap", "-i", "ssh.ini", "h8,h9,h10"}
	first := site.control.hark(t, dir, args...)
	if first.code != 0 {
		t.Fatalf("exit code %d\n%s%s", first.code, first.out, first.errors)
	}
	present(t, hosts...)
	pids := func() string {
		var all []string
		for _, m := range hosts {
			all = append(all, m.sh(t, "systemctl show hark-agent -p MainPID --value"))
		}
		return strings.Join(all, " ")
	}
	before := pids()
	if again := site.control.hark(t, dir, args...); again.code != 0 {
		t.Errorf("a second time: exit code %d", again.code)
	}
	if now := pids(); now != before {
		t.Errorf("a second time the agents were started anew: %s, %s", before, now)
	}
	tr := trace{hosts: hosts, name: "bootstrap", waits: []machine{}}
	tr.whole(t, tr.begin(t).wait(t))
	enrolled.Lock()
	defer enrolled.Unlock()
	for _, m := range hosts {
		enrolled.hosts[m] = true
	}
}
