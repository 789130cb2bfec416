//go:build fleet

package fleet

import (
	"strings"
	"syscall"
	"testing"
)

// remains is what a bootstrap could leave on a host.
func (m machine) remains(t *testing.T) string {
	t.Helper()
	return m.sh(t, "pgrep -a hark-agen[t] || true; ls -d /var/lib/hark /usr/local/bin/*hark* /etc/systemd/system/*hark-agent* "+
		"/etc/systemd/system/*.wants/hark-agent* /tmp/.hark-* 2>/dev/null || true")
}

// TestBootstrapThatFailsLeavesHostsAsTheyWere: a bare host is bare and unknown to the broker, one that had an agent
// has it still, with its key and its place in the book; whether the agent does not reach the broker or the controller
// goes away in the middle.
func TestBootstrapThatFailsLeavesHostsAsTheyWere(t *testing.T) {
	had := machine("h9")
	bootstrapped(t, []machine{had})
	t.Cleanup(func() { bare(t, []machine{had}) })
	identity := func() string { return had.sh(t, "cat /var/lib/hark/identity.key /var/lib/hark/enrolment.json") }
	before := identity()
	hosts := map[string]machine{"failed": "h10", "interrupted": "h7", "killed": "h8"}
	dir := sshProject(t, "root", map[string]string{})
	begun := map[string]*process{}
	for what, m := range hosts {
		bare(t, []machine{m})
		names := []machine{m}
		if what == "failed" {
			names = append(names, had)
		}
		begun[what] = site.control.start(t, dir, "bootstrap", "-i", "inventory", pattern(names), "--broker-url", "tls://"+net()+".1:9")
	}
	for what, sig := range map[string]syscall.Signal{"interrupted": syscall.SIGINT, "killed": syscall.SIGKILL} {
		await(t, "the agent is there", func() bool { _, err := hosts[what].try(nil, "pgrep -f 'hark-agent ru[n]'"); return err == nil })
		begun[what].signal(t, sig)
	}
	for what, want := range map[string]struct {
		code int
		says []string
	}{
		"failed":      {2, []string{"not heard of at the broker", "0 installed, 0 ok, 2 failed"}},
		"interrupted": {99, []string{"interrupted"}},
		"killed":      {-1, nil},
	} {
		got := begun[what].wait(t)
		if got.code != want.code {
			t.Errorf("%s: exit code %d, want %d", what, got.code, want.code)
		}
		for _, text := range want.says {
			if !strings.Contains(got.out, text) {
				t.Errorf("%s: it does not say %q", what, text)
			}
		}
		m := hosts[what]
		await(t, what+": nothing is left", func() bool { return m.remains(t) == "" })
		if _, known := site.control.agents(t)[string(m)]; known {
			t.Errorf("%s: the broker knows the host", what)
		}
	}
	if now := identity(); now != before {
		t.Errorf("the agent that was there was changed:\n%s\n%s", before, now)
	}
	answers(t, had)
}
