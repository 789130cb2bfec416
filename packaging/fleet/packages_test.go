//go:build fleet

package fleet

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// built are the packages of a version for this machine, made when they are first needed.
var built = struct {
	sync.Mutex
	dirs map[string]string
}{dirs: map[string]string{}}

func packages(t *testing.T, version string) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if dir := built.dirs[version]; dir != "" {
		return dir
	}
	dir := filepath.Join(site.dir, "packages-"+version)
	cmd := exec.Command("../release/build", dir, "amd64")
	cmd.Env = append(os.Environ(), "VERSION="+version)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cannot build the packages: %v\n%s", err, out)
	}
	built.dirs[version] = dir
	return dir
}

// bring copies a directory of packages, and install.sh, to a host.
func bring(t *testing.T, m machine, dir, to string) {
	t.Helper()
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{"../install.sh"}
	for _, n := range names {
		paths = append(paths, filepath.Join(dir, n.Name()))
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err == nil {
			err = m.put(to+"/"+filepath.Base(path), 0o755, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestDebianPackages: installed, upgraded in the middle of a play without harm to it, removed and purged.
func TestDebianPackages(t *testing.T) {
	m := machine("h10")
	m.sh(t, "hark-agent uninstall 2>/dev/null; rm -rf /etc/hark /var/lib/hark /usr/bin/hark-agent /usr/local/bin/hark-agent")
	bring(t, m, packages(t, "1.0.0"), "/root/one")
	bring(t, m, packages(t, "1.1.0"), "/root/two")

	m.sh(t, "/root/one/install.sh hark-agent hark hark-ansible-names")
	names(t, m)
	if got := m.sh(t, "hark-agent version; hark --version | head -1; systemctl is-enabled hark-agent; stat -c %a /etc/hark/agent.yml"); !strings.Contains(got, "hark-agent 1.0.0") || !strings.Contains(got, "enabled\n600") {
		t.Errorf("after the installation: %s", got)
	}
	if _, err := m.try(nil, "systemctl is-active hark-agent"); err == nil {
		t.Error("an agent without a broker was started")
	}
	site.control.forget(m)
	if err := site.control.join(m); err != nil {
		t.Fatal(err)
	}
	m.sh(t, "hark-agent check && echo 'log_level: debug' >>/etc/hark/agent.yml && systemctl reload hark-agent")
	answers(t, m)
	if own := m.sh(t, "ls /etc/systemd/system/hark-agent.service 2>/dev/null || true"); own != "" {
		t.Error("install wrote a unit beside the package's")
	}

	tr := trace{hosts: []machine{m}, name: "packages", stand: "      shell: echo stand >>/root/trace-packages; /root/two/install.sh hark-agent\n"}
	tr.whole(t, tr.begin(t).wait(t))
	await(t, "the new version is there", func() bool { return site.control.agents(t)[string(m)].Version == "1.1.0" })
	if got := m.sh(t, "tail -1 /etc/hark/agent.yml"); got != "log_level: debug" {
		t.Errorf("the upgrade changed the configuration: %s", got)
	}
	answers(t, m)

	m.sh(t, "/root/two/install.sh hark hark-ansible-names")
	if got := m.sh(t, "ansible --version"); !strings.Contains(got, "hark version = 1.1.0") {
		t.Errorf("after the upgrade: %s", got)
	}
	m.sh(t, "dpkg -r hark-ansible-names hark-agent hark")
	if left := m.sh(t, "ls /etc/hark /var/lib/hark; pgrep -x hark-agent || true"); !strings.Contains(left, "agent.yml") || !strings.Contains(left, "identity.key") {
		t.Errorf("removal took what purge is for: %s", left)
	}
	m.sh(t, "dpkg -P hark-ansible-names hark-agent hark")
	if left := m.sh(t, "ls -d /etc/hark /var/lib/hark /usr/bin/hark* /usr/bin/ansible* /usr/lib/hark /usr/share/doc/hark* /usr/lib/systemd/system/hark* 2>/dev/null || true; systemctl list-units --all 'hark*' --no-legend"); left != "" {
		t.Errorf("purge left %s", left)
	}
	wiped(m)
}

// names holds what the controller's packages bring: the Ansible names, agents for all kinds of machines, pages whose
// links lead somewhere.
func names(t *testing.T, m machine) {
	t.Helper()
	for _, name := range strings.Fields("ansible ansible-config ansible-console ansible-doc ansible-galaxy ansible-inventory ansible-playbook ansible-pull ansible-vault") {
		if got := m.sh(t, name+" --version; /usr/lib/hark/names/"+name+" --version"); strings.Count(got, name+" [core") != 2 {
			t.Errorf("%s is %s", name, got)
		}
	}
	const want = "/usr/lib/hark/hark-agent-386\n/usr/lib/hark/hark-agent-amd64\n/usr/lib/hark/hark-agent-arm64\n/usr/lib/hark/hark-agent-armv7"
	if got := m.sh(t, "ls /usr/lib/hark/hark-agent-*"); got != want {
		t.Errorf("the agents for other hosts are %q", got)
	}
	lost := `cd /usr/share/doc/hark && grep -o '](\([^)#:]*\))' README.md | sed 's/](\(.*\))/\1/' | while read -r p; do [ -e "$p" ] || echo "$p"; done`
	if got := m.sh(t, lost); got != "" {
		t.Errorf("README.md names pages that are not there: %s", got)
	}
	if got, err := m.try(nil, "dpkg-deb -f /root/one/hark-ansible-names_*.deb Conflicts"); err != nil || !strings.Contains(got, "ansible-core") {
		t.Errorf("it conflicts with %q (%v)", got, err)
	}
	// The first command of a newcomer: a host that nobody prepared, which is this one.
	if got := m.sh(t, "ansible all -i localhost, -c local -m ping"); !strings.Contains(got, "localhost | SUCCESS") {
		t.Errorf("the first command says %s", got)
	}
}

// TestArm64 runs agent and controller of the other architecture, in an emulator, against the broker: the agent
// enrols, and does what it is told; the controller plays.
func TestArm64(t *testing.T) {
	dir := t.TempDir()
	unpack := exec.Command("sh", "-c", `dpkg-deb -x "$1"/hark_*_amd64.deb "$2"`, "unpack", packages(t, "1.0.0"), dir)
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	agent := filepath.Join(dir, "usr/lib/hark/hark-agent-arm64")
	config := filepath.Join(dir, "agent.yml")
	emulated := func(args ...string) *exec.Cmd {
		return exec.Command("qemu-aarch64-static", append([]string{agent}, args...)...)
	}
	if out, err := emulated("version").CombinedOutput(); err != nil || string(out) != "hark-agent 1.0.0\n" {
		t.Fatalf("version: %s, %v", out, err)
	}
	if err := os.WriteFile(config, []byte("state_dir: "+filepath.Join(dir, "state")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	join := emulated("join", "--state-dir", filepath.Join(dir, "state"), "--name", "arm", "-")
	join.Stdin = strings.NewReader(string(site.control.token))
	if out, err := join.CombinedOutput(); err != nil {
		t.Fatalf("join: %v\n%s", err, out)
	}
	run := emulated("run", "--config", config)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = run.Process.Signal(os.Interrupt)
		_ = run.Wait() // it was told to end
	})
	await(t, "the agent is there", func() bool { return site.control.agents(t)["arm"].Present })
	got := site.control.hark(t, dir, "run", "all", "-i", "arm,", "-m", "setup", "-a", "filter=ansible_architecture")
	if got.code != 0 || !strings.Contains(got.out, `"ansible_architecture": "aarch64"`) {
		t.Errorf("setup: %d\n%s%s", got.code, got.out, got.errors)
	}
	controller := filepath.Join(dir, "hark")
	build := exec.Command("go", "build", "-trimpath", "-o", controller, "hark/controller/hark")
	build.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	play := filepath.Join(dir, "play.yml")
	if err := os.WriteFile(play, []byte(armPlay), 0o600); err != nil {
		t.Fatal(err)
	}
	native := site.control.command(bg)
	cmd := exec.Command("qemu-aarch64-static", controller, "play", "-i", "arm,", play)
	cmd.Env = native.Env
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "aarch64 plays 42") || !strings.Contains(string(out), "arm                        : ok=4    changed=1 ") {
		t.Errorf("play: %v\n%s", err, out)
	}
}

// armPlay is what the controller of the other architecture plays: facts, a process, a template, and a word of its own.
const armPlay = `- hosts: all
  tasks:
    - command: echo 42
      register: answer
    - set_fact: {word: "{{ ansible_architecture }} plays {{ answer.stdout }}"}
    - debug: {var: word}
`

// TestRPMOnASystem: an rpm's scripts do on a booted host what the deb's do. Debian's rpm is put there for it, so
// nothing is said of dnf and of SELinux.
func TestRPMOnASystem(t *testing.T) {
	m := machine("h10")
	m.sh(t, "hark-agent uninstall 2>/dev/null; rm -rf /etc/hark /var/lib/hark /usr/bin/hark-agent /usr/local/bin/hark-agent")
	wiped(m)
	tools := exec.Command("sh", "-c", `tar -chf - /usr/lib/rpm /usr/bin/rpm $(ldd /usr/bin/rpm | sed -n 's|.*=> \(/[^ ]*\) .*|\1|p')`)
	pipe, err := tools.StdoutPipe()
	if err == nil {
		err = tools.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.try(pipe, "mkdir -p /opt/rpm && tar -C /opt/rpm -xf -")
	if err := errors.Join(err, tools.Wait()); err != nil {
		t.Fatal(err)
	}
	rpm := "LD_LIBRARY_PATH=$(echo /opt/rpm/usr/lib/*-linux-gnu):$(echo /opt/rpm/lib/*-linux-gnu) RPM_CONFIGDIR=/opt/rpm/usr/lib/rpm /opt/rpm/usr/bin/rpm --dbpath /var/lib/rpm-test --nodeps "
	t.Cleanup(func() {
		m.sh(t, "hark-agent uninstall 2>/dev/null; rm -rf /opt/rpm /var/lib/rpm-test /root/one /root/two /etc/hark /var/lib/hark /usr/bin/hark-agent")
	})
	bring(t, m, packages(t, "1.0.0"), "/root/one")
	bring(t, m, packages(t, "1.1.0"), "/root/two")
	m.sh(t, rpm+"-U /root/one/hark-agent-1*.rpm")
	if got := m.sh(t, "hark-agent version; systemctl is-enabled hark-agent; stat -c %a /etc/hark/agent.yml"); got != "hark-agent 1.0.0\nenabled\n600" {
		t.Errorf("after the installation: %s", got)
	}
	site.control.forget(m)
	if err := site.control.join(m); err != nil {
		t.Fatal(err)
	}
	answers(t, m)
	m.sh(t, rpm+"-U /root/two/hark-agent-1*.rpm")
	await(t, "the new version is there", func() bool { return site.control.agents(t)[string(m)].Version == "1.1.0" })
	answers(t, m)
	m.sh(t, rpm+"-e hark-agent")
	if left := m.sh(t, "ls /usr/bin/hark-agent /usr/lib/systemd/system/hark-agent.service 2>/dev/null; systemctl is-active hark-agent; pgrep -x hark-agent || true"); left != "inactive" {
		t.Errorf("after the removal: %s", left)
	}
	if left := m.sh(t, "ls /etc/hark /var/lib/hark"); !strings.Contains(left, "identity.key") {
		t.Errorf("removal took the state: %s", left)
	}
}

// TestRPMPackages: what is in them, and that rpm can install, upgrade and remove them below a directory.
func TestRPMPackages(t *testing.T) {
	one, two, root := packages(t, "1.0.0"), packages(t, "1.1.0"), t.TempDir()
	rpm := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("rpm", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("rpm %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	file := func(dir, name string) string {
		found, err := filepath.Glob(filepath.Join(dir, name+"-1*.rpm"))
		if err != nil || len(found) != 1 {
			t.Fatalf("packages of %s: %v, %v", name, found, err)
		}
		return found[0]
	}
	listed := rpm("-qpl", file(one, "hark-agent"))
	for _, want := range []string{"/usr/bin/hark-agent\n", "/usr/lib/systemd/system/hark-agent.service\n", "/etc/hark/agent.yml\n", "/usr/share/bash-completion/completions/hark-agent\n"} {
		if !strings.Contains(listed, want) {
			t.Errorf("the package lacks %s:\n%s", want, listed)
		}
	}
	if config := rpm("-qpc", file(one, "hark-agent")); config != "/etc/hark/agent.yml\n" {
		t.Errorf("its configuration is %q", config)
	}
	// Scripts want a shell below root, which is empty.
	install := []string{"--root", root, "--nodeps", "--noscripts", "-U"}
	listed = rpm("-qpl", file(one, "hark"))
	for _, want := range []string{"/usr/lib/hark/hark-agent-arm64\n", "/usr/lib/hark/names/ansible-playbook\n", "/usr/share/doc/hark/docs/galaxy.md\n"} {
		if !strings.Contains(listed, want) {
			t.Errorf("the package lacks %s:\n%s", want, listed)
		}
	}
	rpm(append(install, file(one, "hark-agent"), file(one, "hark"), file(one, "hark-ansible-names"))...)
	if to, err := os.Readlink(filepath.Join(root, "usr/bin/ansible-playbook")); err != nil || to != "hark" {
		t.Errorf("ansible-playbook is %q, %v", to, err)
	}
	config := filepath.Join(root, "etc/hark/agent.yml")
	if err := os.WriteFile(config, []byte("name: mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rpm(append(install, file(two, "hark-agent"), file(two, "hark"), file(two, "hark-ansible-names"))...)
	if text, err := os.ReadFile(config); err != nil || string(text) != "name: mine\n" {
		t.Errorf("the upgrade changed the configuration: %q, %v", text, err)
	}
	out, err := exec.Command(filepath.Join(root, "usr/bin/hark-agent"), "version").Output()
	if err != nil || string(out) != "hark-agent 1.1.0\n" {
		t.Errorf("after the upgrade: %s, %v", out, err)
	}
	rpm("--root", root, "--nodeps", "--noscripts", "-e", "hark-ansible-names", "hark-agent", "hark")
	for _, name := range []string{"usr/bin/hark-agent", "usr/lib/hark", "usr/bin/ansible-playbook"} {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
			t.Errorf("removal left %s", name)
		}
	}
}
