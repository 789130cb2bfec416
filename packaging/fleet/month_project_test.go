//go:build fleet

package fleet

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// monthUnit serves the repository, to which everybody of this fleet may push.
const monthUnit = `[Unit]
Description=the repository of the project
[Service]
User=ops
ExecStart=/usr/bin/git daemon --reuseaddr --export-all --enable=receive-pack --base-path=/srv/git
Restart=always
[Install]
WantedBy=multi-user.target
`

// repository makes the project, with a signed tag, and gives everybody a copy.
func (m *team) repository(t *testing.T) {
	if err := m.hub.put("/etc/systemd/system/month-git.service", 0o644, []byte(monthUnit)); err != nil {
		t.Fatal(err)
	}
	m.hub.sh(t, `mkdir -p /srv/git && chown ops: /srv/git &&
		runuser -u ops -- git init -q --bare -b main /srv/git/site.git &&
		systemctl daemon-reload && systemctl enable -q --now month-git`)
	m.anna.sh(t, `cd; git clone -q git://hub/site.git site 2>/dev/null`)
	m.collection(t)
	from := os.DirFS("testdata/month")
	err := fs.WalkDir(from, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(from, path)
		if err != nil {
			return err
		}
		filled := strings.NewReplacer("HOOK", m.hook.url, "OLD1", address(m.hosts["old1"]),
			"VERSION", fmt.Sprint(m.version)).Replace(string(text))
		return m.hub.put(m.anna.dir()+"/site/"+path, 0o644, []byte(filled))
	})
	if err != nil {
		t.Fatal(err)
	}
	m.hub.sh(t, "chown -R ops: /home/ops/site")
	m.anna.sh(t, `printf 'secret: S3CRET-MONTH\n' >group_vars/all/vault.yml
		hark vault encrypt group_vars/all/vault.yml >/dev/null
		hark galaxy collection install -r requirements.yml -p collections >/dev/null
		gpg --batch --quiet --passphrase '' --pinentry-mode loopback --quick-generate-key anna@example.org \
			ed25519 sign never 2>/dev/null
		gpg --batch --quiet --export anna@example.org >~/site.pub`)
	m.publish(t, m.anna, "first")
	for _, p := range []*person{m.bela, m.carl} {
		p.sh(t, `cd; git clone -q git://hub/site.git site`)
	}
	m.checkoutForCI(t)
}

// collection is in a repository of its own, which requirements.yml names.
func (m *team) collection(t *testing.T) {
	text := "namespace: acme\nname: greeting\nversion: 1.0.0\nreadme: README.md\nauthors: [somebody]\n"
	if err := m.hub.put("/tmp/month/galaxy.yml", 0o644, []byte(text)); err != nil {
		t.Fatal(err)
	}
	pack := exec.Command("tar", "-cf", "-", "-C", "testdata/greeting", ".")
	pipe, err := pack.StdoutPipe()
	if err == nil {
		err = pack.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.hub.try(pipe, "tar -C /tmp/month -xf - && chown -R ops: /tmp/month"); err != nil {
		t.Fatal(err)
	}
	if err := pack.Wait(); err != nil {
		t.Fatal(err)
	}
	m.anna.sh(t, `cd /tmp/month; git init -q; git add -A; git commit -qm one; git clone -q --bare . /srv/git/greeting.git`)
}

// checkoutForCI gives the CI job the project as it is.
func (m *team) checkoutForCI(t *testing.T) {
	t.Helper()
	text, err := m.anna.command("git", "archive", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	unpack := exec.Command("tar", "-xf", "-", "-C", filepath.Join(filepath.Dir(m.ci.home), "site"))
	unpack.Stdin = strings.NewReader(string(text))
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
}

// publish commits what somebody has changed, and pushes it with a tag that anna has signed.
func (m *team) publish(t *testing.T, p *person, what string) string {
	t.Helper()
	p.sh(t, `git add -A; git commit -qm "`+what+`"; git push -q origin HEAD:main 2>/dev/null`)
	if p != m.anna {
		m.anna.sh(t, "git pull -q")
	}
	tag := fmt.Sprintf("'%s-%d'", what, len(m.commits))
	m.anna.sh(t, "git tag -s -m release "+tag+"; git push -q origin --tags 2>/dev/null")
	commit := m.anna.sh(t, "git rev-parse --short=12 HEAD")
	m.commits[commit] = m.version
	return commit
}

// release makes a commit with the next version, after an edit by a script in the project.
func (m *team) release(t *testing.T, p *person, edit string) string {
	t.Helper()
	if p != m.anna {
		p.sh(t, "git pull -q")
	}
	m.version++
	p.sh(t, fmt.Sprintf("sed -i 's/^version: .*/version: %d/' group_vars/all/vars.yml\n%s", m.version, edit))
	return m.publish(t, p, fmt.Sprintf("v%d", m.version))
}

// wanted is what a version leaves on a host.
func (m *team) wanted(host string, version int) string {
	return fmt.Sprintf("host = %s\nversion = %d\nsecret = S3CRET-MONTH", host, version)
}

// keepers are installed: one on the desk, and one with its key that waits.
func (m *team) keepers(t *testing.T) {
	public := m.hub.sh(t, "base64 -w0 /home/ops/site.pub")
	for _, x := range []machine{m.desk, m.spare} {
		x.sh(t, "echo "+public+" | base64 -d >/etc/site.pub; chmod 644 /etc/site.pub")
		x.sh(t, "printf 'opensesame\\n' >/etc/site.pass; chmod 600 /etc/site.pass")
	}
	const install = "hark keeper install --project git://hub/site.git#main --verify-tags /etc/site.pub --poll 1s " +
		"--vault-password-file /etc/site.pass"
	out := m.desk.sh(t, install)
	_, rest, ok := strings.Cut(out, "its key is ")
	m.keeper, _, _ = strings.Cut(rest, "\n")
	if !ok {
		t.Fatal(out)
	}
	access := m.anna.does(t, "sudo", "hark", "broker", "admit", m.keeper, "--name", "keeper")
	if err := m.desk.put("/root/access.json", 0o600, []byte(access)); err != nil {
		t.Fatal(err)
	}
	m.desk.sh(t, install+" --access /root/access.json")
	m.anna.does(t, "hark", "key", "trust", m.keeper)
	for _, p := range m.everybody() {
		m.believeKeeper(t, p)
	}
	home, err := m.desk.try(nil, "tar -C /var/lib/hark-keeper -cf - home | base64 -w0")
	if err != nil {
		t.Fatal(err)
	}
	m.spare.sh(t, install)
	if _, err := m.spare.try(strings.NewReader(home), `systemctl stop hark-keeper
		cd /var/lib/hark-keeper && rm -rf home && base64 -d | tar -xf - &&
		chown -R hark-keeper: home && systemctl start hark-keeper`); err != nil {
		t.Fatal(err)
	}
}

// believeKeeper has somebody and the keeper believe each other, and read what the other has recorded.
func (m *team) believeKeeper(t *testing.T, p *person) {
	t.Helper()
	m.must(t, p, "key", "believe", m.keeper)
	m.asKeeper(t, "key", "believe", p.key)
	m.asKeeper(t, "runs", "readers", "add", p.name, p.reads)
}

// asKeeper is a command of the keeper's user.
func (m *team) asKeeper(t *testing.T, args ...string) {
	t.Helper()
	for _, x := range []machine{m.desk, m.spare} {
		if x == m.spare {
			if _, err := x.try(nil, "test -e /var/lib/hark-keeper/home"); err != nil {
				continue
			}
		}
		x.sh(t, "runuser -u hark-keeper -- env HARK_HOME=/var/lib/hark-keeper/home hark '"+strings.Join(args, "' '")+"'")
	}
}
