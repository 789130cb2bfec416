//go:build fleet

package fleet

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// edit replaces texts in a source file of the agent.
type edit struct{ file, old, new string }

// newer builds an agent of another version, with edits of its source.
func newer(t *testing.T, version string, edits ...edit) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	replace := map[string]string{}
	for _, e := range edits {
		path := filepath.Join(root, e.file)
		from := path
		if replace[path] != "" {
			from = replace[path]
		}
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(text), e.old) != 1 {
			t.Fatalf("%s has %q not once", e.file, e.old)
		}
		replace[path] = filepath.Join(dir, strings.ReplaceAll(e.file, "/", "_"))
		if err := os.WriteFile(replace[path], []byte(strings.Replace(string(text), e.old, e.new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "hark-agent")
	cmd := exec.Command("go", "build", "-trimpath", "-overlay", filepath.Join(dir, "overlay.json"), "-ldflags", "-s -w -X hark/agent/version.build="+version, "-o", out, "./agent/hark-agent")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return out
}

// brokenUpgrade are edits for an agent that brings the state directory to another layout and then never reaches the
// broker.
var brokenUpgrade = []edit{
	{"agent/internal/store/upgrade.go", "const layout = 1", "const layout = 2"},
	{"agent/internal/store/upgrade.go", "func upgrades() []func(dir string) error { return nil }", `func upgrades() []func(dir string) error {
	return []func(string) error{func(dir string) error {
		return errors.Join(os.WriteFile("/run/state-was-upgraded", nil, 0o600), os.WriteFile(filepath.Join(dir, "layout2"), nil, 0o600), os.Remove(filepath.Join(dir, "journal")))
	}}
}`},
	{"agent/hark-agent/run.go", "	defer state.Close()\n", "	defer state.Close()\n	if ctx != nil {\n		<-ctx.Done()\n		return nil\n	}\n"},
}

// hasty is an edit for an agent that waits for its successor's hello no longer than a test does. It is the old
// program that waits.
var hasty = edit{"agent/hark-agent/upgrade.go", "confirmLimit = 60 * time.Second", "confirmLimit = 12 * time.Second"}

// bare takes everything of an agent from hosts.
func bare(t *testing.T, hosts []machine) {
	t.Helper()
	enrolled.Lock()
	defer enrolled.Unlock()
	for _, m := range hosts {
		m.sh(t, "hark-agent uninstall 2>/dev/null; rm -rf /var/lib/hark /etc/hark /usr/bin/hark-agent /usr/local/bin/hark-agent")
		site.control.forget(m)
		delete(enrolled.hosts, m)
	}
}

// bootstrapped are hosts that got their agents by ssh.
func bootstrapped(t *testing.T, hosts []machine) {
	t.Helper()
	bare(t, hosts)
	dir := sshProject(t, "root", map[string]string{})
	if got := site.control.hark(t, dir, "bootstrap", "-i", "inventory", pattern(hosts)); got.code != 0 {
		t.Fatalf("code %d\n%s%s", got.code, got.out, got.errors)
	}
	present(t, hosts...)
}

func pattern(hosts []machine) string {
	var names []string
	for _, m := range hosts {
		names = append(names, string(m))
	}
	return strings.Join(names, ",")
}

// TestFleetIsUpgradedInStages: all agents take a good version and keep their keys; a bad one is taken back by the
// first host, over the state directory that it has upgraded, and the others never had it.
func TestFleetIsUpgradedInStages(t *testing.T) {
	hosts := []machine{"h5", "h6", "h7"}
	bootstrapped(t, hosts)
	t.Cleanup(func() { bare(t, hosts) })
	keys := func() (all string) {
		for _, m := range hosts {
			all += m.sh(t, "sha256sum /var/lib/hark/identity.key; cat /var/lib/hark/version")
		}
		return all
	}
	before := keys()
	upgrade := func(binary string) outcome {
		return site.control.hark(t, t.TempDir(), "agents", "upgrade", "--agent-binary", binary, "--percent", "33,100", "h5", "h6", "h7")
	}
	good := newer(t, "v9.1", hasty)
	waitingUpgrade(t, hosts[0], good)
	if got := upgrade(good); got.code != 0 || !strings.Contains(got.out, "2 upgraded, 1 ok, 0 failed") {
		t.Fatalf("code %d\n%s%s", got.code, got.out, got.errors)
	}
	if got := upgrade(good); got.code != 0 || !strings.Contains(got.out, "0 upgraded, 3 ok, 0 failed") {
		t.Errorf("a second time: code %d\n%s%s", got.code, got.out, got.errors)
	}
	got := upgrade(newer(t, "v9.2", brokenUpgrade...))
	if got.code != 2 || !strings.Contains(got.out, "the host is back at version v9.1") || !strings.Contains(got.out, "1 failed, 2 not begun") {
		t.Errorf("a bad version: code %d\n%s%s", got.code, got.out, got.errors)
	}
	hosts[0].sh(t, "test -e /run/state-was-upgraded && test ! -e /var/lib/hark/layout2 && test -e /var/lib/hark/journal")
	for _, m := range hosts {
		if is := m.sh(t, "hark-agent version; ls -d /usr/local/bin/hark-agent?* /usr/local/bin/.hark* /var/lib/hark/before* /var/lib/hark/upgrade.json 2>/dev/null || true"); is != "hark-agent v9.1" {
			t.Errorf("%s has %s", m, is)
		}
	}
	if now := keys(); now != before {
		t.Errorf("keys and version of the state are\n%s\nthey were\n%s", now, before)
	}
	answers(t, hosts...)
}

// waitingUpgrade upgrades a host that is at a play, twice: neither says that it is done before the new program runs.
func waitingUpgrade(t *testing.T, m machine, binary string) {
	t.Helper()
	tr := trace{hosts: []machine{m}, name: "upgrade"}
	p := tr.begin(t)
	tr.standing(t, m)
	var both []*process
	for _, said := range []string{"agent upgraded: the new one begins when", "the new agent is there already"} {
		both = append(both, site.control.start(t, t.TempDir(), "agents", "upgrade", "--agent-binary", binary, string(m)))
		await(t, "the agent has the new program", func() bool {
			return strings.Contains(m.sh(t, "journalctl -u hark-agent --no-pager"), said)
		})
	}
	tr.release(t, m)
	tr.whole(t, p.wait(t))
	for _, u := range both {
		if got := u.wait(t); got.code != 0 || !strings.Contains(got.out, "1 upgraded, 0 ok, 0 failed") {
			t.Errorf("code %d\n%s%s", got.code, got.out, got.errors)
		}
	}
}

// TestOlderAgentRefusesNewerState, and says what to do.
func TestOlderAgentRefusesNewerState(t *testing.T) {
	m := fleetOf(t, 1)[0]
	m.sh(t, "echo 7 >/var/lib/hark/version; systemctl restart hark-agent || true")
	t.Cleanup(func() {
		m.sh(t, "echo 1 >/var/lib/hark/version; systemctl reset-failed hark-agent; systemctl restart hark-agent")
		present(t, m)
	})
	await(t, "the journal says why", func() bool {
		return strings.Contains(m.sh(t, "journalctl -u hark-agent -n 30 -o cat"), "it has version 7, this agent knows 1; upgrade hark-agent")
	})
}
