//go:build fleet

package fleet

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestAgentIsAService: systemd knows when the agent is ready, starts it again when it dies, and has its words in the
// journal.
func TestAgentIsAService(t *testing.T) {
	m := fleetOf(t, 1)[0]
	if got := m.sh(t, "hark-agent status"); !strings.HasPrefix(got, "running") {
		t.Errorf("status: %s", got)
	}
	show := m.sh(t, "systemctl show hark-agent -p Type,ActiveState,SubState,NRestarts,WatchdogUSec,KillMode,Delegate")
	for _, want := range []string{"Type=notify", "ActiveState=active", "SubState=running", "KillMode=process", "Delegate=yes"} {
		if !strings.Contains(show, want) {
			t.Errorf("systemctl show lacks %s:\n%s", want, show)
		}
	}
	if strings.Contains(show, "WatchdogUSec=0") || strings.Contains(show, "WatchdogUSec=infinity") {
		t.Errorf("there is no watchdog:\n%s", show)
	}
	pid := func() string { return m.sh(t, "systemctl show hark-agent -p MainPID --value") }
	before := pid()
	m.sh(t, "kill -KILL "+before)
	await(t, "the agent is started again", func() bool {
		now := pid()
		return now != before && now != "0"
	})
	present(t, m)
	var line map[string]string
	last := m.sh(t, "journalctl -u hark-agent -o json -n 200 | grep 'agent ready' | tail -1")
	if err := json.Unmarshal([]byte(last), &line); err != nil {
		t.Fatalf("the journal has no word of the agent: %v", err)
	}
	if line["PRIORITY"] != "6" || line["HARK_NAME"] != string(m) || line["SYSLOG_IDENTIFIER"] != "hark-agent" {
		t.Errorf("the journal has %v", line)
	}
}

// TestAgentThatHangsIsStartedAgain: without a sign of life systemd ends the agent and starts it.
func TestAgentThatHangsIsStartedAgain(t *testing.T) {
	m := fleetOf(t, 1)[0]
	m.sh(t, "mkdir -p /run/systemd/system/hark-agent.service.d && printf '[Service]\\nWatchdogSec=2\\n' >/run/systemd/system/hark-agent.service.d/fast.conf && systemctl daemon-reload && systemctl restart hark-agent")
	t.Cleanup(func() {
		m.sh(t, "rm -r /run/systemd/system/hark-agent.service.d && systemctl daemon-reload && systemctl restart hark-agent")
		present(t, m)
	})
	before := m.sh(t, "systemctl show hark-agent -p MainPID --value")
	m.sh(t, "kill -STOP "+before)
	await(t, "systemd has started the agent again", func() bool {
		now := m.sh(t, "systemctl show hark-agent -p MainPID --value")
		return now != before && now != "0"
	})
	if said := m.sh(t, "journalctl -u hark-agent -n 500"); !strings.Contains(said, "with result 'watchdog'") {
		t.Errorf("it was not the watchdog:\n%s", said)
	}
}

// TestInstallAndUninstallAreIdempotent: twice is as once; state and configuration stay.
func TestInstallAndUninstallAreIdempotent(t *testing.T) {
	m := fleetOf(t, 1)[0]
	id := m.sh(t, "cat /var/lib/hark/identity.key")
	for range 2 {
		m.sh(t, "hark-agent install")
	}
	for range 2 {
		m.sh(t, "hark-agent uninstall")
	}
	if out, err := m.try(nil, "hark-agent status"); err == nil || !strings.Contains(err.Error(), "not installed") {
		t.Errorf("status after uninstall: %s, %v", out, err)
	}
	if left := m.sh(t, "ls /etc/systemd/system | grep hark-agent || true; pgrep -f 'hark-agent run --config /etc/hark/agent.yml$' || true"); left != "" {
		t.Errorf("uninstall left %s", left)
	}
	m.sh(t, "hark-agent install")
	present(t, m)
	if now := m.sh(t, "cat /var/lib/hark/identity.key"); now != id {
		t.Error("the agent has another identity")
	}
}

// TestBadConfigurationIsToldOnce: the service does not start again and again over a file that it cannot use.
func TestBadConfigurationIsToldOnce(t *testing.T) {
	m := fleetOf(t, 1)[0]
	m.sh(t, "mkdir -p /etc/hark; echo 'brooker: x' >>/etc/hark/agent.yml; systemctl restart hark-agent || true")
	await(t, "the service has failed", func() bool {
		return m.sh(t, "systemctl show hark-agent -p ActiveState --value") == "failed"
	})
	if n := m.sh(t, "systemctl show hark-agent -p NRestarts --value"); n != "0" {
		t.Errorf("it was started %s times more", n)
	}
	if said := m.sh(t, "journalctl -u hark-agent -n 20 -o cat"); !strings.Contains(said, "brooker") {
		t.Errorf("the journal does not say why:\n%s", said)
	}
	if _, err := m.try(nil, "hark-agent install"); err == nil || !strings.Contains(err.Error(), "brooker") {
		t.Errorf("install with a bad file: %v", err)
	}
	m.sh(t, "rm /etc/hark/agent.yml; systemctl restart hark-agent")
	present(t, m)
}
