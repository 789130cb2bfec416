//go:build fleet

package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keeperSite is a project whose files say who made them, with a duty that changes hosts and one that looks.
func keeperSite() map[string]string {
	return map[string]string{
		"ansible.cfg": "[defaults]\ninventory = inventory\n[hark]\nansible = 2.14\n",
		"inventory":   "h2\n",
		"duties.yml": "- {name: mend, play: site.yml, hosts: h2, every: 7d, at_once: 1, mode: enforce}\n" +
			"- {name: look, play: site.yml, hosts: h2, every: 7d, mode: check}\n",
		"templates/conf.j2": "host {{ inventory_hostname }} secret {{ secret }} weight {{ weight }}\n",
		"host_vars/h2.yml":  "weight: 7\n",
		"site.yml": `- hosts: all
  gather_facts: false
  vars_files: [secret.yml]
  tasks:
  - file: {path: /root/site, state: directory, mode: "0750"}
  - template: {src: conf.j2, dest: /root/site/conf, mode: "0640"}
  - copy: {content: "one\ntwo\n", dest: /root/site/lines, mode: "0600"}
  - lineinfile: {path: /root/site/more, line: three, create: true, mode: "0600"}
  - file: {src: conf, dest: /root/site/link, state: link}
  - command: touch /root/site/made
    args: {creates: /root/site/made}
`,
	}
}

// TestKeeperServiceHoldsAHost: the keeper's service under systemd, of its own user, with a vault's password that only
// root can read. What it leaves on the host is what ansible-playbook leaves with --limit; drift is found and mended,
// and its end leaves nothing at work.
func TestKeeperServiceHoldsAHost(t *testing.T) {
	hosts := fleetOf(t, 2)
	keeper, host := hosts[0], hosts[1]
	files := keeperSite()
	dir := project(t, nil, files)
	for name, text := range map[string]string{"pass": "opensesame\n", "secret.yml": "secret: S3CRET\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if r := site.control.hark(t, dir, "vault", "encrypt", "--vault-password-file", "pass", "secret.yml"); r.code != 0 {
		t.Fatal(r.errors)
	}
	left := func() string {
		t.Helper()
		return host.sh(t, "cd /root/site && find . -type f -exec sha256sum {} + | sort -k2; find . -printf '%y %m %u %p %l\\n' | sort -k4")
	}
	host.sh(t, "rm -rf /root/site")
	t.Cleanup(func() { host.sh(t, "rm -rf /root/site") })
	if r := ansible(t, dir, "root", "-i", "ssh.ini", "--vault-password-file", "pass", "--limit", "h2", "site.yml"); r.code != 0 {
		t.Fatal(r.out, r.errors)
	}
	want := left()
	host.sh(t, "rm -rf /root/site")

	key := installKeeper(t, keeper, dir)
	state := func(duty string) string {
		out, _ := site.control.command(bg, "duties", "show", duty).CombinedOutput()
		return string(out)
	}
	ask := func(duty string) {
		t.Helper()
		await(t, "the keeper takes "+duty, func() bool { return site.control.command(bg, "duties", "run", duty).Run() == nil })
	}
	stands := func(duty, how string) {
		t.Helper()
		await(t, duty+" is "+how, func() bool { return strings.Contains(state(duty), how) })
	}
	stands("mend", "mended") // its first turn is that of the slot that goes on, or one that is asked for
	if diff := cmp.Diff(want, left()); diff != "" {
		t.Errorf("files (-ansible +keeper)\n%s%s", diff, state("mend"))
	}
	if show := keeper.sh(t, "systemctl show hark-keeper -p User,ActiveState,NoNewPrivileges"); !strings.Contains(show, "User=hark-keeper") || !strings.Contains(show, "ActiveState=active") {
		t.Errorf("systemctl show: %s", show)
	}
	host.sh(t, "echo drift >/root/site/lines")
	ask("look")
	stands("look", "drifted")
	ask("mend")
	await(t, "the drift is mended", func() bool { return left() == want })
	ask("look")
	stands("look", "kept")
	if r := site.control.hark(t, dir, "keeper", "status"); r.code != 0 || !strings.Contains(r.out, key) {
		t.Errorf("status: %d %s%s", r.code, r.out, r.errors)
	}
	if others := keeper.sh(t, "grep -rl opensesame /var/lib/hark-keeper /etc/systemd/system/hark-keeper.service || :"); others != "" {
		t.Errorf("the vault's password lies in %s", others)
	}
	keeper.sh(t, "hark keeper uninstall")
	if rest := keeper.sh(t, "find /proc -maxdepth 1 -user hark-keeper; ls /etc/systemd/system | grep keeper || :; systemctl is-active hark-keeper || :"); strings.TrimSpace(rest) != "inactive" {
		t.Errorf("uninstall leaves %s", rest)
	}
}

// installKeeper installs the service on a machine, and lets it to the broker and to the hosts. It gives the keeper's
// key.
func installKeeper(t *testing.T, m machine, dir string) string {
	t.Helper()
	program, err := os.ReadFile(filepath.Join(site.control.bin, "hark"))
	if err == nil {
		err = m.put("/usr/local/bin/hark", 0o755, program)
	}
	for _, name := range []string{"ansible.cfg", "inventory", "duties.yml", "templates/conf.j2", "host_vars/h2.yml", "site.yml", "secret.yml"} {
		text, readErr := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = readErr
		}
		if err == nil {
			err = m.put("/srv/site/"+name, 0o644, text)
		}
	}
	if err == nil {
		err = m.put("/etc/site.pass", 0o600, []byte("opensesame\n"))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.sh(t, "hark keeper uninstall; userdel hark-keeper; rm -rf /var/lib/hark-keeper /srv/site /etc/site.pass /usr/local/bin/hark /root/.config/hark")
	})
	install := "hark keeper install --project /srv/site --poll 1s --vault-password-file /etc/site.pass"
	out := m.sh(t, install)
	_, rest, ok := strings.Cut(out, "its key is ")
	key, _, _ := strings.Cut(rest, "\n")
	if !ok || !strings.Contains(out, "hark broker admit") {
		t.Fatalf("install says %s", out)
	}
	access := site.control.hark(t, dir, "broker", "admit", key, "--data", filepath.Join(site.control.dir, "broker"))
	if access.code != 0 {
		t.Fatal(access.errors)
	}
	for _, args := range [][]string{{"key", "trust", key}, {"key", "believe", key}} {
		if r := site.control.hark(t, dir, args...); r.code != 0 {
			t.Fatal(r.out, r.errors)
		}
	}
	t.Cleanup(func() { site.control.hark(t, dir, "key", "distrust", key) })
	if err := m.put("/root/access.json", 0o600, []byte(access.out)); err != nil {
		t.Fatal(err)
	}
	m.sh(t, install+" --access /root/access.json && rm /root/access.json")
	return key
}
