//go:build fleet

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// deploy is a new word by a commit and a play of an operator, and not of the keeper.
func (m *month) deploy() {
	m.t.Helper()
	m.word = "second"
	m.push(map[string]string{"roles/base/defaults/main.yml": "word: second\n"})
	pass := filepath.Join(m.work, ".git", "pass")
	out := m.as(m.home, "play", "--vault-password-file", pass, "site.yml")
	if strings.Count(out, "changed=1") != len(m.hosts) {
		m.t.Errorf("the deploy changed other hosts than all:\n%s", out)
	}
	m.kept("base")
	m.kept("look")
	var runs []struct {
		Head struct{ Line []string }
	}
	if err := json.Unmarshal([]byte(m.as(m.home, "runs", "list", "--json")), &runs); err != nil || len(runs) == 0 {
		m.t.Errorf("%v: %d runs", err, len(runs))
	}
	var page struct {
		Runs []struct{ What string }
	}
	if _, err := m.ask("/runs", &page); err != nil || !strings.Contains(joined(page.Runs), "site.yml") {
		m.t.Errorf("the console does not show the deploy: %v %v", err, page)
	}
}

func joined(rows []struct{ What string }) string {
	var all []string
	for _, r := range rows {
		all = append(all, r.What)
	}
	return strings.Join(all, "\n")
}

// colleagueJoins is somebody who is not root and works on this machine.
func (m *month) colleagueJoins() {
	m.t.Helper()
	const nobody = 65534
	home := m.t.TempDir()
	b := &member{home: home, bin: filepath.Join(home, "bin", "hark"), uid: nobody}
	program, err := os.ReadFile(filepath.Join(built(m.t), "hark"))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(b.bin), 0o755)
	}
	if err == nil {
		err = os.WriteFile(b.bin, program, 0o755)
	}
	for dir := home; err == nil && dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		err = os.Chmod(dir, 0o755)
	}
	if err == nil {
		err = os.Chown(home, nobody, nobody)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	m.bela = b
	out, code := b.run(m, "key", "show", "--public")
	if code != 0 {
		m.t.Fatal(out)
	}
	lines := strings.Fields(out)
	b.key = lines[len(lines)-1]
	access := m.as(m.home, "broker", "admit", b.key, "--name", "bela", "--data", m.brokerData())
	if err := os.WriteFile(filepath.Join(home, "access.json"), []byte(access), 0o644); err != nil {
		m.t.Fatal(err)
	}
	if out, code := b.run(m, "broker", "use", "access.json"); code != 0 {
		m.t.Fatal(out)
	}
	m.as(m.home, "key", "trust", b.key)
	if out, code := b.run(m, "run", "h1", "-i", "hark:", "-m", "ping"); code != 0 {
		m.t.Errorf("bela cannot play: %d\n%s", code, out)
	}
	m.admit(m.ci, m.newKey(m.ci), "--name", "ci", "--expires", "24h")
	list := m.as(m.home, "broker", "operators")
	for _, name := range []string{"bela", "ci", "keeper", "console"} {
		if !strings.Contains(list, name+" ") {
			m.t.Errorf("%s is not listed:\n%s", name, list)
		}
	}
}

// newKey makes a key for a HARK_HOME.
func (m *month) newKey(home string) string {
	m.t.Helper()
	m.as(home, "key", "create")
	lines := strings.Fields(m.as(home, "key", "show", "--public"))
	return lines[len(lines)-1]
}

func (m *month) badCommit() {
	m.t.Helper()
	site := m.site()["site.yml"]
	m.push(map[string]string{"site.yml": strings.Replace(site, "  roles:",
		"  pre_tasks: [{name: it breaks, command: /bin/false}]\n  roles:", 1)})
	bad := m.head()
	m.until(mostOf, "the bad commit is in force", "look", len(m.hosts), func(s stand) bool {
		m.try(m.home, "duties", "run", "base")
		return len(m.pauses()) > 0 || s.Commit == bad
	})
	m.paused(mostOf, "failed", bad)
	m.told("hark.duty.paused", 1)
	m.agree("the bad commit")
	m.push(map[string]string{"site.yml": site})
	fix := m.head()
	m.until(mostOf, "the fix is everywhere", "base", len(m.hosts), func(s stand) bool {
		m.try(m.home, "duties", "run", "base")
		return s.Commit == fix && s.State == "kept"
	})
	m.kept("look")
	if all := m.pauses(); len(all) > 0 {
		m.t.Errorf("the fix is there, and duties are paused: %s", all)
	}
	m.told("hark.duty.fixed", 1)
}

// pauses are the lines of the list of duties that say that one is paused.
func (m *month) pauses() []string {
	list, _, _ := m.try(m.home, "duties", "list")
	var all []string
	for line := range strings.Lines(list) {
		if strings.Contains(line, "paused: ") {
			all = append(all, line)
		}
	}
	return all
}

// stop ends a process of the test's and waits for it.
func stop(cmd *exec.Cmd, with os.Signal) {
	_ = cmd.Process.Signal(with)
	_ = cmd.Wait()
}

// startAgent starts the agent of a host anew.
func (m *month) startAgent(host string) {
	m.t.Helper()
	bin := built(m.t)
	m.agents[host] = start(m.t, m.fleet.work, host, filepath.Join(bin, "hark-agent"), "run", "--state-dir",
		filepath.Join(m.fleet.work, host))
	m.present(m.t, bin, host)
}

func (m *month) hostAway() {
	m.t.Helper()
	stop(m.agents["h3"], os.Interrupt)
	m.until(mostOf, "the host is absent", "look", len(m.hosts), func(s stand) bool {
		m.try(m.home, "duties", "run", "look")
		return (s.Host == "h3") == (s.State == "absent")
	})
	m.agree("a host went away")
	m.told("hark.duty.absent", 1)
	m.startAgent("h3")
	m.kept("look")
	m.kept("base")
}

func (m *month) hostJoins() {
	m.t.Helper()
	bin := built(m.t)
	m.enrol(m.t, programs{bin, bin}, "h5")
	m.as(m.home, "key", "trust", m.key, "h5")
	m.hosts = append(m.hosts, "h5")
	m.push(m.site())
	m.untilHosts("h5")
	m.kept("base")
	m.kept("look")
}

// untilHosts waits until the duties have the hosts that they should, of which one is named.
func (m *month) untilHosts(one string) {
	m.t.Helper()
	await(m.t, "the duties have "+one, func() bool {
		m.try(m.home, "duties", "run", "base")
		all := m.stands("base")
		_, is := all[one]
		return is && len(all) == len(m.hosts)
	})
}

// hostRenamed is a host that gets another name, which its agent and the inventory have to follow.
func (m *month) hostRenamed() {
	m.t.Helper()
	stop(m.agents["h4"], os.Interrupt)
	m.as(m.home, "agents", "remove", "h4")
	bin := built(m.t)
	m.enrol(m.t, programs{bin, bin}, "h40")
	m.as(m.home, "key", "trust", m.key, "h40")
	for i, h := range m.hosts {
		if h == "h4" {
			m.hosts[i] = "h40"
		}
	}
	m.push(m.site())
	m.untilHosts("h40")
	m.kept("base")
	m.kept("look")
	if list := m.as(m.home, "agents", "list"); strings.Contains(list, "h4 ") {
		m.t.Errorf("the old name is there still:\n%s", list)
	}
}
