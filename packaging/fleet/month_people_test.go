//go:build fleet

package fleet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// hostJoins: a host that nobody can reach over ssh comes by a token, and is let in.
func (m *team) hostJoins(t *testing.T) {
	x := machine("h8")
	if err := program(x, "hark-agent"); err != nil {
		t.Fatal(err)
	}
	commit := m.release(t, m.bela, "sed -i 's/^web2$/web2\\nweb3/' inventory")
	m.hosts["web3"] = x
	token := m.anna.does(t, "hark", "agents", "token", "--uses", "1", "--expires", "1h")
	joined := make(chan error, 1)
	go func() {
		_, err := x.try(strings.NewReader(token), "hark-agent join --install --name web3 -")
		joined <- err
	}()
	await(t, "web3 waits for approval", func() bool {
		return strings.Contains(m.anna.hark(t, "agents", "list", "--pending").out, "web3")
	})
	m.anna.does(t, "hark", "agents", "approve", "web3")
	if err := <-joined; err != nil {
		t.Fatal(err)
	}
	m.present(t, "web3")
	for _, key := range m.keys() {
		m.anna.does(t, "hark", "key", "trust", key, "web3")
	}
	m.inForce(t, commit)
	m.ask(t, m.anna, "base")
	m.stands(t, "base", commit, "kept", "mended")
	m.play(t, m.bela, 0, "release.yml", "-e", "release=4 who=bela")
	m.settle(t, commit)
}

// keys are those that agents obey beside anna's.
func (m *team) keys() []string {
	keys := []string{m.keeper}
	for _, p := range m.everybody() {
		if p != m.anna {
			keys = append(keys, p.key)
		}
	}
	return keys
}

// present waits until the agent of a name is there.
func (m *team) present(t *testing.T, name string) {
	t.Helper()
	await(t, name+" is present", func() bool {
		all, err := reading[[]agentOnRecord](t, m.anna, "agents", "list")
		return err == nil && slices.ContainsFunc(all, func(a agentOnRecord) bool { return a.Name == name && a.Present })
	})
}

// settle brings the hosts of the duty that only looks to a commit, and has it look.
func (m *team) settle(t *testing.T, commit string) {
	t.Helper()
	m.anna.sh(t, "git pull -q")
	m.play(t, m.anna, 0, "site.yml", "-l", "db")
	m.ask(t, m.bela, "look")
	m.stands(t, "look", commit, "kept")
}

// hostRenamed: web1 becomes www1 in the inventory, and its agent gets the name.
func (m *team) hostRenamed(t *testing.T) {
	commit := m.release(t, m.anna, "sed -i 's/^web1$/www1/' inventory")
	m.hosts["www1"] = m.hosts["web1"]
	delete(m.hosts, "web1")
	m.released["www1"] = m.released["web1"]
	keys := []string{"bootstrap", "www1", "--force"}
	for _, key := range m.keys() {
		keys = append(keys, "--trust", key)
	}
	m.anna.does(t, "hark", keys...)
	m.present(t, "www1")
	m.inForce(t, commit)
	m.ask(t, m.anna, "base")
	m.stands(t, "base", commit, "kept", "mended")
	for _, p := range []*person{m.bela, m.carl} {
		p.sh(t, "git pull -q")
	}
	m.play(t, m.carl, 0, "release.yml", "-e", "release=5 who=carl")
	m.settle(t, commit)
}

// colleagueJoins: dora gets a key, access and the project, and reads what was before her.
func (m *team) colleagueJoins(t *testing.T) {
	dora := &person{name: "dora", user: "deploy", at: m.hub}
	m.login(t, dora)
	m.admit(t, dora)
	m.anna.does(t, "hark", "key", "trust", dora.key)
	m.readerOf(t, dora)
	for _, p := range m.everybody() {
		m.befriend(t, p, dora)
		m.befriend(t, dora, p)
	}
	m.people = append(m.people, dora)
	m.believeKeeper(t, dora)
	m.befriendConsole(t, dora)
	m.anna.does(t, "sudo", "systemctl", "restart", "hark-console")
	dora.sh(t, "cd; git clone -q git://hub/site.git site")
	m.console.signIn(t, m)
	m.play(t, dora, 0, "release.yml", "-e", "release=6 who=dora", "-l", "web")
}

// colleagueLeaves: carl's access, trust and readers are taken back.
func (m *team) colleagueLeaves(t *testing.T) {
	m.anna.does(t, "hark", "broker", "expel", "carl")
	m.carl.gone, m.lost[m.carl.key] = true, true
	for _, p := range m.everybody() {
		if p != m.anna {
			m.must(t, p, "runs", "readers", "remove", "carl")
			m.must(t, p, "key", "disbelieve", m.carl.key)
		}
	}
	m.asKeeper(t, "runs", "readers", "remove", "carl")
	m.asKeeper(t, "key", "disbelieve", m.carl.key)
	got := m.carl.hark(t, "play", "release.yml", "-e", "release=7 who=carl", "-l", "web")
	if got.code == 0 || strings.Contains(got.out, "changed: [") {
		t.Errorf("carl still plays: %d %s%s", got.code, got.out, got.errors)
	}
	m.play(t, m.bela, 0, "release.yml", "-e", "release=7 who=bela", "-l", "web")
}

// must is a command of hark that has to succeed.
func (m *team) must(t *testing.T, p *person, args ...string) string {
	t.Helper()
	got := p.hark(t, args...)
	if got.code != 0 {
		t.Fatalf("%s: hark %s: exit code %d\n%s%s", p.name, strings.Join(args, " "), got.code, got.out, got.errors)
	}
	return strings.TrimSpace(got.out)
}

// lostKey: bela's key is gone, and she goes on with another, as docs/lost-key.md says.
func (m *team) lostKey(t *testing.T) {
	m.bela.sh(t, "rm ~/.config/hark/operator.nk")
	got := m.bela.hark(t, "play", "release.yml", "-l", "web", "-e", "release=8 who=bela")
	if got.code == 0 || !strings.Contains(got.errors, "is gone") || !strings.Contains(got.errors, m.bela.key) {
		t.Errorf("without a key: %d %s%s", got.code, got.out, got.errors)
	}
	old := m.bela.key
	m.lost[old] = true
	m.must(t, m.bela, "key", "create")
	m.anna.does(t, "hark", "broker", "expel", old)
	m.admit(t, m.bela)
	m.anna.does(t, "hark", "key", "trust", m.bela.key)
	m.readerOf(t, m.bela)
	for _, p := range m.everybody() {
		if p != m.bela {
			if p != m.anna { // whose list expel has changed
				m.must(t, p, "runs", "readers", "remove", "bela")
				m.must(t, p, "key", "disbelieve", old)
			}
			m.befriend(t, p, m.bela)
			m.befriend(t, m.bela, p)
		}
	}
	m.asKeeper(t, "runs", "readers", "remove", "bela")
	m.believeKeeper(t, m.bela)
	m.befriendConsole(t, m.bela)
	m.anna.does(t, "sudo", "systemctl", "restart", "hark-console")
	m.console.signIn(t, m)
	m.play(t, m.bela, 0, "release.yml", "-l", "web", "-e", "release=8 who=bela")
}

// fullDisk: the broker's disk is full for a while. Plays go on; what could not be sent is sent later.
func (m *team) fullDisk(t *testing.T) {
	m.hub.sh(t, "head -c 1G /dev/zero >/var/lib/hark-broker/ballast 2>/dev/null || :")
	m.playOnly(t, m.bela, 0, "release.yml", "-l", "web", "-e", "release=9 who=bela")
	m.playOnly(t, m.anna, 0, "release.yml", "-l", "old", "-e", "release=9 who=anna")
	m.hub.sh(t, "rm /var/lib/hark-broker/ballast")
	for _, p := range []*person{m.bela, m.anna} {
		await(t, p.name+" sends what waits", func() bool { return p.hark(t, "runs", "push").code == 0 })
	}
	for _, name := range []string{"www1", "web2", "web3", "db1"} {
		m.present(t, name)
	}
	m.play(t, m.bela, 0, "release.yml", "-l", "web", "-e", "release=10 who=bela")
}

// keeperDies: the machine of the keeper has no power, and the other keeper goes on.
func (m *team) keeperDies(t *testing.T) {
	m.desk.verb(t, "kill")
	m.hosts["web2"].sh(t, "echo by hand >>/srv/site/conf")
	m.ask(t, m.anna, "base")
	m.stands(t, "base", "", "kept", "mended")
	if got := m.hosts["web2"].sh(t, "cat /srv/site/conf"); got != m.wanted("web2", m.version) {
		t.Errorf("the other keeper leaves\n%s", got)
	}
	m.desk.verb(t, "boot")
	await(t, "the keeper is there again, and waits", func() bool {
		out, err := m.desk.try(nil, "journalctl -b -u hark-keeper -o cat --no-pager")
		return err == nil && strings.Contains(out, "another keeper with this key is at work")
	})
}

// everythingRestarts: all machines are started again at once.
func (m *team) everythingRestarts(t *testing.T) {
	m.hub.sh(t, `cd /var/lib; systemctl stop hark-broker; cp -a hark-broker hark-broker.disk; umount hark-broker
		cp -a hark-broker.disk/. hark-broker/; rm -rf hark-broker.disk; chown --reference=hark-broker/keys hark-broker`)
	each(t, m.machinesOf(), func(x machine) error {
		_, err := x.try(nil, "touch /run/before; (sleep 0.2; systemctl reboot) >/dev/null 2>&1 &")
		return err
	})
	each(t, m.machinesOf(), func(x machine) error {
		await(t, string(x)+" is up again", func() bool {
			_, err := x.try(nil, "test -e /run/fleet-ready && ! test -e /run/before")
			return err == nil
		})
		return nil
	})
	for _, name := range []string{"www1", "web2", "web3", "db1"} {
		m.present(t, name)
	}
	m.console.signIn(t, m)
	m.play(t, m.anna, 0, "site.yml")
	m.ask(t, m.bela, "base")
	m.stands(t, "base", "", "kept", "mended")
	m.ask(t, m.bela, "look")
	m.stands(t, "look", "", "kept")
}

// audit: nobody has changed what was on record, and what was told was done, once.
func (m *team) audit(t *testing.T) {
	for _, p := range m.everybody() {
		if p == m.ci {
			continue
		}
		if got := p.hark(t, "runs", "audit", "--since", "30d"); got.code != 0 {
			t.Errorf("%s: hark runs audit: exit code %d\n%s%s", p.name, got.code, got.out, got.errors)
		}
	}
	for name, want := range m.released {
		x, ok := m.hosts[name]
		if !ok {
			continue
		}
		if got := strings.Split(x.sh(t, "cat /var/log/releases"), "\n"); !slices.Equal(got, want) {
			t.Errorf("%s was told to have had %v, and had %v", name, want, got)
		}
	}
	if got := m.hook.repeated(); len(got) > 0 {
		t.Errorf("somebody was notified twice of %v", got)
	}
	doctor := m.anna.hark(t, "doctor")
	if doctor.code != 0 {
		t.Errorf("hark doctor: exit code %d\n%s%s", doctor.code, doctor.out, doctor.errors)
	}
}

// noteReleases keeps what a play of release.yml has told.
func (m *team) noteReleases(args []string, out string) {
	if args[0] != "release.yml" {
		return
	}
	i := slices.Index(args, "-e")
	var release, who string
	_, _ = fmt.Sscanf(args[i+1], "release=%s who=%s", &release, &who)
	for name, line := range recap(out) {
		if standing(line) == "changed" {
			m.released[name] = append(m.released[name], release+" by "+who)
		}
	}
}
