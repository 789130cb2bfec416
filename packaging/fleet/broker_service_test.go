//go:build fleet

package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBrokerServiceIsNobody: the installed broker runs as a user of its own without capabilities, takes over the
// directory of one that ran as root, serves after a restart and on a port below 1024, and gives the operator who
// installed it his access.
func TestBrokerServiceIsNobody(t *testing.T) {
	m := fleetOf(t, 1)[0]
	program, err := os.ReadFile(filepath.Join(site.control.bin, "hark"))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.put("/usr/local/bin/hark", 0o755, program); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.sh(t, "hark broker uninstall; userdel hark-broker; rm -rf /var/lib/hark-broker /root/.config/hark /usr/local/bin/hark")
	})
	m.sh(t, "timeout 5 hark broker run --data /var/lib/hark-broker >/dev/null 2>&1; [ -n \"$(find /var/lib/hark-broker -name account.nk -user root)\" ]")
	for _, listen := range []string{"0.0.0.0:4222", "0.0.0.0:443"} {
		m.sh(t, "hark broker install --advertise 127.0.0.1 --listen "+listen)
		m.sh(t, "systemctl restart hark-broker && hark broker status && hark agents token --approve")
		show := m.sh(t, "systemctl show hark-broker -p User,ActiveState,NoNewPrivileges,ProtectSystem")
		for _, want := range []string{"User=hark-broker", "ActiveState=active", "NoNewPrivileges=yes", "ProtectSystem=strict"} {
			if !strings.Contains(show, want) {
				t.Errorf("systemctl show lacks %s:\n%s", want, show)
			}
		}
		if others := m.sh(t, "find /var/lib/hark-broker ! -user hark-broker"); others != "" {
			t.Errorf("these are not the broker's: %s", others)
		}
	}
}
