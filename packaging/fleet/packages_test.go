//go:build fleet

package fleet

import (
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
	cmd := exec.Command("../packages/build", dir, "amd64")
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

	m.sh(t, "/root/one/install.sh hark-agent hark")
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

	m.sh(t, "dpkg -r hark-agent hark")
	if left := m.sh(t, "ls /etc/hark /var/lib/hark; pgrep -x hark-agent || true"); !strings.Contains(left, "agent.yml") || !strings.Contains(left, "identity.key") {
		t.Errorf("removal took what purge is for: %s", left)
	}
	m.sh(t, "dpkg -P hark-agent hark")
	if left := m.sh(t, "ls -d /etc/hark /var/lib/hark /usr/bin/hark* /usr/lib/systemd/system/hark* 2>/dev/null || true; systemctl list-units --all 'hark*' --no-legend"); left != "" {
		t.Errorf("purge left %s", left)
	}
	enrolled.Lock()
	delete(enrolled.hosts, m)
	enrolled.Unlock()
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
		found, err := filepath.Glob(filepath.Join(dir, name+"-1*.x86_64.rpm"))
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
	rpm(append(install, file(one, "hark-agent"), file(one, "hark"))...)
	config := filepath.Join(root, "etc/hark/agent.yml")
	if err := os.WriteFile(config, []byte("name: mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rpm(append(install, file(two, "hark-agent"), file(two, "hark"))...)
	if text, err := os.ReadFile(config); err != nil || string(text) != "name: mine\n" {
		t.Errorf("the upgrade changed the configuration: %q, %v", text, err)
	}
	out, err := exec.Command(filepath.Join(root, "usr/bin/hark-agent"), "version").Output()
	if err != nil || string(out) != "hark-agent 1.1.0\n" {
		t.Errorf("after the upgrade: %s, %v", out, err)
	}
	rpm("--root", root, "--nodeps", "--noscripts", "-e", "hark-agent", "hark")
	if _, err := os.Stat(filepath.Join(root, "usr/bin/hark-agent")); err == nil {
		t.Error("removal left the agent")
	}
}
