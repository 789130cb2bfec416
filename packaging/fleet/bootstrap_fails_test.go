//go:build fleet

package fleet

import (
	gonet "net"
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

// silentAddress takes connections from hosts and says nothing on them: no broker is there.
func silentAddress(t *testing.T) string {
	t.Helper()
	l, err := gonet.Listen("tcp", net()+".1:0")
	if err != nil {
		t.Fatal(err)
	}
	taken := make(chan []gonet.Conn, 1)
	go func() {
		var all []gonet.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				break
			}
			all = append(all, c)
		}
		taken <- all
	}()
	t.Cleanup(func() {
		l.Close()
		for _, c := range <-taken {
			c.Close()
		}
	})
	return l.Addr().String()
}

// TestBootstrapTriesTheBrokerFromTheHost: where the host does not reach the broker nothing is installed, and the
// error says what the host has met.
func TestBootstrapTriesTheBrokerFromTheHost(t *testing.T) {
	m := machine("h10")
	bare(t, []machine{m})
	dir := sshProject(t, "root", map[string]string{})
	for url, want := range map[string]string{
		"tls://" + net() + ".1:9":  "connection refused",
		"tls://nowhere.invalid:42": "the name cannot be resolved",
	} {
		got := site.control.start(t, dir, "bootstrap", "-i", "inventory", string(m), "--broker-url", url).wait(t)
		for _, text := range []string{"this host does not reach the broker, so nothing was installed (" + url + ": " + want, "0 installed, 0 ok, 1 failed"} {
			if got.code != 2 || !strings.Contains(got.out, text) {
				t.Errorf("%s: exit code %d, and it does not say %q:\n%s", url, got.code, text, got.out)
			}
		}
		if left := m.remains(t); left != "" {
			t.Errorf("%s: left on the host: %s", url, left)
		}
	}
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
	begun, silent := map[string]*process{}, silentAddress(t)
	for what, m := range hosts {
		bare(t, []machine{m})
		names := []machine{m}
		if what == "failed" {
			names = append(names, had)
		}
		begun[what] = site.control.start(t, dir, "bootstrap", "-i", "inventory", pattern(names), "--broker-url", "tls://"+silent)
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
