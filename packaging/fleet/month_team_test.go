//go:build fleet

package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// team are people and machines that live together for a month.
type team struct {
	hub   machine            // broker, console, repository; anna, who is not root
	desk  machine            // keeper; bela, who is root, and carl
	spare machine            // the keeper that waits
	hosts map[string]machine // by name in the inventory
	// people have an operator key; ci has one too, and no machine of its own.
	anna, bela, carl, ci *person
	people               []*person
	keeper               string // its public key
	hook                 *hook
	console              *browser
	seal                 string         // the console's key to read by
	version              int            // of the last release
	commits              map[string]int // the versions that the project had
	// lost are the operator keys that are gone.
	lost map[string]bool
	// released is what plays of release.yml have told of hosts, in order.
	released map[string][]string
}

// person is somebody with a login and a home of hark.
type person struct {
	name, user string
	at         machine
	key, reads string // public keys: to sign and to seal
	home       string // HARK_HOME of one who works on this machine, which is ci
	gone       bool
}

func (p *person) dir() string {
	if p.user == "root" {
		return "/root"
	}
	return "/home/" + p.user
}

// command is a command of this person in the project.
func (p *person) command(name string, args ...string) *exec.Cmd {
	if p.home != "" {
		cmd := exec.Command(name, args...)
		cmd.Dir = filepath.Join(filepath.Dir(p.home), "site")
		cmd.Env = append(os.Environ(), "HARK_HOME="+p.home, "TERM=dumb", "LANG=C.UTF-8",
			"ANSIBLE_VAULT_PASSWORD_FILE="+filepath.Join(filepath.Dir(p.home), "pass"),
			"PATH="+site.control.bin+":"+os.Getenv("PATH"))
		return cmd
	}
	inner := `cd "$HOME"; cd site 2>/dev/null; exec "$@"`
	all := append([]string{"exec", string(p.at), "runuser", "-u", p.user, "--", "env", "HOME=" + p.dir(), "USER=" + p.user,
		"LOGNAME=" + p.user, "ANSIBLE_VAULT_PASSWORD_FILE=" + p.dir() + "/.site.pass", "sh", "-c", inner, "sh", name},
		args...)
	return tool(all...)
}

// try runs a command of this person to its end.
func (p *person) try(t *testing.T, name string, args ...string) outcome {
	t.Helper()
	cmd := p.command(name, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

func (p *person) hark(t *testing.T, args ...string) outcome {
	t.Helper()
	name := "hark"
	if p.home != "" {
		name = filepath.Join(site.control.bin, "hark")
	}
	return p.try(t, name, args...)
}

// does is a command that must succeed, and what it printed.
func (p *person) does(t *testing.T, name string, args ...string) string {
	t.Helper()
	got := p.try(t, name, args...)
	if got.code != 0 {
		t.Fatalf("%s: %s %s: exit code %d\n%s%s", p.name, name, strings.Join(args, " "), got.code, got.out, got.errors)
	}
	return strings.TrimSpace(got.out)
}

// sh is a script of this person that must succeed.
func (p *person) sh(t *testing.T, script string) string {
	t.Helper()
	return p.does(t, "sh", "-ec", script)
}

// reading is hark with --json of this person, decoded.
func reading[T any](t *testing.T, p *person, args ...string) (out T, err error) {
	t.Helper()
	got := p.hark(t, append(args, "--json")...)
	if err := json.Unmarshal([]byte(got.out), &out); err != nil {
		return out, fmt.Errorf("%s: hark %s: exit code %d, %v\n%s%s", p.name, strings.Join(args, " "), got.code, err, got.out,
			got.errors)
	}
	return out, nil
}

// newTeam makes all of it, with a first release in force.
func newTeam(t *testing.T) *team {
	m := &team{hub: "h1", desk: "h2", spare: "h3", commits: map[string]int{}, released: map[string][]string{},
		lost:  map[string]bool{},
		hosts: map[string]machine{"web1": "h4", "web2": "h5", "db1": "h6", "old1": "h7"}, version: 1}
	m.anna, m.bela = &person{name: "anna", user: "ops", at: m.hub}, &person{name: "bela", user: "root", at: m.desk}
	m.carl = &person{name: "carl", user: "deploy", at: m.desk}
	m.ci = &person{name: "ci", home: filepath.Join(t.TempDir(), "home")}
	m.people = []*person{m.anna, m.bela, m.carl, m.ci}
	m.clean(t)
	m.hook = listen(t)
	m.machines(t)
	m.broker(t)
	for _, p := range []*person{m.bela, m.carl, m.ci} {
		m.admit(t, p)
	}
	m.repository(t)
	m.agents(t)
	m.friends(t)
	m.keepers(t)
	m.console = openConsole(t, m)
	return m
}

// everybody are the people who are still there.
func (m *team) everybody() []*person {
	return slices.DeleteFunc(slices.Clone(m.people), func(p *person) bool { return p.gone })
}

func (m *team) machinesOf() []machine {
	return slices.Concat([]machine{m.hub, m.desk, m.spare, "h8"}, slices.Sorted(maps.Values(m.hosts)))
}

// clean takes away what other tests have left, and afterwards what this one has.
func (m *team) clean(t *testing.T) {
	all := m.machinesOf()
	wiped(all...)
	wipe := func(x machine) error {
		_, err := x.try(nil, `for part in keeper console broker; do hark $part uninstall; done >/dev/null 2>&1
			systemctl disable --now month-git 2>/dev/null
			hark-agent uninstall >/dev/null 2>&1; umount -l /var/lib/hark-broker 2>/dev/null
			for user in hark-keeper hark-console hark-broker; do pkill -u $user; userdel $user; done 2>/dev/null
			pkill gpg-agent; sed -i '/ month$/d' /etc/hosts; cd /; rm -rf /usr/local/bin/hark* /usr/bin/hark* \
			/var/lib/hark* /etc/hark /etc/systemd/system/month-git.service /srv/git /srv/site /tmp/month \
			/var/log/releases /var/log/restarts /etc/site.pass /etc/site.pub
			for home in /root /home/ops /home/deploy; do rm -rf $home/.config $home/.cache/hark $home/.ansible \
			$home/.gnupg $home/.ssh $home/.gitconfig $home/site $home/.site.pass $home/*.json; done; : >/etc/motd
			systemctl daemon-reload; systemctl reset-failed; true`)
		return err
	}
	each(t, all, wipe)
	t.Cleanup(func() { each(t, all, wipe) })
}

func address(x machine) string { return net() + "." + fmt.Sprint(100+number(x)) }

func number(x machine) (n int) {
	_, _ = fmt.Sscanf(string(x), "h%d", &n)
	return n
}

// machines get names, programs and ssh.
func (m *team) machines(t *testing.T) {
	lines := fmt.Sprintf("%s hub # month\n", address(m.hub))
	for name, x := range m.hosts {
		lines += fmt.Sprintf("%s %s # month\n", address(x), name)
	}
	lines += fmt.Sprintf("%s web3 # month\n%s www1 # month\n", address("h8"), address(m.hosts["web1"]))
	each(t, m.machinesOf(), func(x machine) error {
		_, err := x.try(strings.NewReader(lines), "cat >>/etc/hosts")
		return err
	})
	each(t, []machine{m.hub, m.desk, m.spare}, func(x machine) error {
		return errors.Join(program(x, "hark"), program(x, "hark-agent"))
	})
	for _, p := range []*person{m.anna, m.bela, m.carl} {
		m.login(t, p)
	}
}

// program brings a program to a machine.
func program(x machine, name string) error {
	text, err := os.ReadFile(filepath.Join(site.control.bin, name))
	if err != nil {
		return err
	}
	return x.put("/usr/local/bin/"+name, 0o755, text)
}

// login gives somebody what people have: keys of ssh, the vault's password, a name for git.
func (m *team) login(t *testing.T, p *person) {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(os.Getenv("FLEET_DIR"), "id_ed25519"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{".ssh/id_ed25519": string(key), ".site.pass": "opensesame\n",
		".ssh/config": "StrictHostKeyChecking accept-new\nLogLevel ERROR\n"} {
		if err := p.at.put(p.dir()+"/"+name, 0o600, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	p.at.sh(t, fmt.Sprintf("chown -R %[1]s: %[2]s/.ssh %[2]s/.site.pass; chmod 700 %[2]s/.ssh", p.user, p.dir()))
	p.sh(t, `git config --global user.name `+p.name+`; git config --global user.email `+p.name+`@example.org
		git config --global user.signingkey anna@example.org; git config --global init.defaultBranch main`)
}

// broker is installed by anna, on a disk of its own that is small.
func (m *team) broker(t *testing.T) {
	m.hub.sh(t, "mkdir -p /var/lib/hark-broker && mount -t tmpfs -o size=400m tmpfs /var/lib/hark-broker")
	m.anna.does(t, "sudo", "hark", "broker", "install", "--advertise", address(m.hub))
	m.anna.key = m.anna.does(t, "hark", "key", "show", "--public")
}

// admit lets somebody to the broker.
func (m *team) admit(t *testing.T, p *person, flags ...string) {
	t.Helper()
	if p.home != "" {
		if err := os.MkdirAll(p.home, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(filepath.Dir(p.home), "site"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(filepath.Dir(p.home), "pass"), []byte("opensesame\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := p.hark(t, "key", "show", "--public")
	if p.key = strings.TrimSpace(got.out); got.code != 0 {
		t.Fatal(got.errors)
	}
	if p == m.bela { // the one who can take over from anna
		flags = append(flags, "--agents")
	}
	access := m.anna.does(t, "sudo", append([]string{"hark", "broker", "admit", p.key, "--name", p.name}, flags...)...)
	p.use(t, access)
}

// use takes access to the broker.
func (p *person) use(t *testing.T, access string) {
	t.Helper()
	file := p.dir() + "/access.json"
	if p.home != "" {
		file = filepath.Join(p.home, "..", "access.json")
		if err := os.WriteFile(file, []byte(access), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if err := p.at.put(file, 0o644, []byte(access)); err != nil {
		t.Fatal(err)
	}
	if got := p.hark(t, "broker", "use", file); got.code != 0 {
		t.Fatal(got.out, got.errors)
	}
}

// agents come to the hosts over ssh, and obey everybody.
func (m *team) agents(t *testing.T) {
	m.anna.does(t, "hark", "bootstrap", "web:db")
	for _, p := range []*person{m.bela, m.carl, m.ci} {
		m.anna.does(t, "hark", "key", "trust", p.key)
	}
}

// friends have all of them read what the others do.
func (m *team) friends(t *testing.T) {
	for _, p := range m.everybody() {
		m.readerOf(t, p)
	}
	for _, p := range m.everybody() {
		for _, other := range m.everybody() {
			if p != other {
				m.befriend(t, p, other)
			}
		}
	}
}

// readerOf finds the key for which others seal what somebody may read.
func (m *team) readerOf(t *testing.T, p *person) {
	t.Helper()
	list, err := reading[[]struct{ Name, Key string }](t, p, "runs", "readers", "list")
	if err != nil || len(list) == 0 {
		t.Fatal(err)
	}
	p.reads = list[0].Key
}

// befriend has one believe another, and seal for him.
func (m *team) befriend(t *testing.T, p, other *person) {
	t.Helper()
	for _, args := range [][]string{{"key", "believe", other.key}, {"runs", "readers", "add", other.name, other.reads}} {
		if got := p.hark(t, args...); got.code != 0 {
			t.Fatal(got.out, got.errors)
		}
	}
}
