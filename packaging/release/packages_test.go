package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// smallRoot is a directory with a shell and no C library, in which packages are installed.
func smallRoot(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("chroot needs root")
	}
	box, err := exec.LookPath("busybox")
	if err != nil {
		t.Skip("busybox-static is not installed")
	}
	root := t.TempDir()
	must(t, "sh", "-c", `mkdir -p "$1/bin" "$1/var/lib/dpkg/updates" "$1/var/lib/dpkg/info" "$1/etc" && : >"$1/var/lib/dpkg/status" && cp "$2" "$1/bin/busybox" &&
		for name in sh rm ln grep readlink cat; do ln -s busybox "$1/bin/$name"; done`, "root", root, box)
	if exec.Command("chroot", root, "/bin/sh", "-c", ":").Run() != nil {
		t.Skip("busybox is not static: busybox-static is not installed")
	}
	return root
}

// olderDeb is a package that says that it is of another version.
func olderDeb(t *testing.T, deb, version string) string {
	t.Helper()
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "older.deb")
	must(t, "dpkg-deb", "-R", deb, dir)
	control := filepath.Join(dir, "DEBIAN/control")
	text, err := os.ReadFile(control)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(text, []byte("Version: "+form(t, testVersion, "deb")), []byte("Version: "+version), 1)
	if bytes.Equal(changed, text) {
		t.Fatalf("the control file has no version:\n%s", text)
	}
	if err := os.WriteFile(control, changed, 0o644); err != nil {
		t.Fatal(err)
	}
	must(t, "dpkg-deb", "-Znone", "-b", dir, out)
	return out
}

// TestDebsAreInstalledUpgradedDowngradedAndPurged below a directory, in which nothing but a shell is.
func TestDebsAreInstalledUpgradedDowngradedAndPurged(t *testing.T) {
	one, root := released(t), smallRoot(t)
	deb := only(t, filepath.Join(one, "hark-agent_*_amd64.deb"))
	before := olderDeb(t, deb, "0.0.0+ffffffff")
	dpkg := func(args ...string) {
		t.Helper()
		must(t, "dpkg", append([]string{"--root=" + root, "--force-not-root"}, args...)...)
	}
	is := func(what, version string) {
		t.Helper()
		if got := must(t, "dpkg-query", "--admindir="+root+"/var/lib/dpkg", "-W", "-f", "${Version} ${Status}", "hark-agent"); got != version+" install ok installed" {
			t.Errorf("%s: %s", what, got)
		}
	}
	config := filepath.Join(root, "etc/hark/agent.yml")
	dpkg("-i", before)
	is("installed", "0.0.0+ffffffff")
	if err := os.WriteFile(config, []byte("name: mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dpkg("-i", deb)
	is("upgraded", form(t, testVersion, "deb"))
	if out := must(t, "chroot", root, "/usr/bin/hark-agent", "--version"); out != "hark-agent "+testVersion+"\n" {
		t.Errorf("it says %s", out)
	}
	dpkg("-i", before)
	is("downgraded", "0.0.0+ffffffff")
	if text, err := os.ReadFile(config); err != nil || string(text) != "name: mine\n" {
		t.Errorf("the configuration is %q, %v", text, err)
	}
	must(t, "mkdir", "-p", root+"/var/lib/hark/state")
	dpkg("-r", "hark-agent")
	if _, err := os.Stat(config); err != nil {
		t.Errorf("removal took the configuration: %v", err)
	}
	dpkg("-P", "hark-agent")
	for _, path := range []string{"etc/hark", "var/lib/hark", "usr/bin/hark-agent"} {
		if _, err := os.Lstat(filepath.Join(root, path)); err == nil {
			t.Errorf("purge left %s", path)
		}
	}
}

// TestRPMsAreInstalledAndRemoved with their scripts.
func TestRPMsAreInstalledAndRemoved(t *testing.T) {
	one, root := released(t), smallRoot(t)
	rpm := func(args ...string) string {
		t.Helper()
		return must(t, "rpm", append([]string{"--root", root, "--nodeps"}, args...)...)
	}
	rpm("-U", only(t, filepath.Join(one, "hark-agent-*.x86_64.rpm")))
	if got := must(t, "rpm", "--root", root, "-q", "--qf", "%{VERSION} %{VENDOR} %{URL}", "hark-agent"); got != form(t, testVersion, "rpm")+" The hark project https://hark.example" {
		t.Errorf("rpm knows %s", got)
	}
	if out := must(t, "chroot", root, "/usr/bin/hark-agent", "--version"); out != "hark-agent "+testVersion+"\n" {
		t.Errorf("it says %s", out)
	}
	rpm("-e", "hark-agent")
	if _, err := os.Lstat(filepath.Join(root, "usr/bin/hark-agent")); err == nil {
		t.Error("it is still there")
	}
}

// TestApksUnpackToAnAgentThatRunsWithoutACLibrary: there is no apk in Debian that could install it.
func TestApksUnpackToAnAgentThatRunsWithoutACLibrary(t *testing.T) {
	one, root := released(t), smallRoot(t)
	apk := only(t, filepath.Join(one, "hark-agent_*_x86_64.apk"))
	must(t, "tar", "-xzf", apk, "-C", root, "--warning=no-unknown-keyword")
	if out := must(t, "chroot", root, "/usr/bin/hark-agent", "--version"); out != "hark-agent "+testVersion+"\n" {
		t.Errorf("it says %s", out)
	}
	info, err := os.ReadFile(filepath.Join(root, ".PKGINFO"))
	if want := "pkgver = " + form(t, testVersion, "apk"); err != nil || !strings.Contains(string(info), want) {
		t.Errorf("it does not say %s: %v\n%s", want, err, info)
	}
}

// TestAgentsRunOnTheirMachines: in an emulator where this machine is another one. Kernels need not run programs of 32
// bits, and QEMU 7.2 does not run Go's for 386: their threads fault.
func TestAgentsRunOnTheirMachines(t *testing.T) {
	one := released(t)
	for arch, emulator := range map[string]string{"amd64": "", "386": "", "arm64": "qemu-aarch64-static", "armv7": "qemu-arm-static"} {
		t.Run(arch, func(t *testing.T) {
			dir := t.TempDir()
			must(t, "tar", "-xzf", only(t, filepath.Join(one, "hark-agent_*_linux_"+arch+".tar.gz")), "-C", dir)
			args := []string{only(t, filepath.Join(dir, "*/hark-agent")), "--version"}
			if emulator != "" {
				if _, err := exec.LookPath(emulator); err != nil {
					t.Skip("qemu-user-static is not installed")
				}
				args = append([]string{emulator}, args...)
			}
			if err := exec.Command(args[0], args[1:]...).Run(); arch == "386" && errors.Is(err, syscall.ENOEXEC) {
				t.Skip("the kernel of this machine runs no programs of 32 bits")
			}
			if out := must(t, args[0], args[1:]...); out != "hark-agent "+testVersion+"\n" {
				t.Errorf("it says %s", out)
			}
		})
	}
}

// TestPackagesAreClean: what lintian and rpmlint say, but for what is meant so.
func TestPackagesAreClean(t *testing.T) {
	one := released(t)
	for _, tool := range []struct {
		name, files string
		args        []string
	}{
		{"lintian", "*_amd64.deb", []string{"--allow-root", "--fail-on=error,warning", "--suppress-tags-from-file", "lintian.tags"}},
		{"lintian", "*_all.deb", []string{"--allow-root", "--fail-on=error,warning", "--suppress-tags-from-file", "lintian.tags"}},
		{"rpmlint", "*.x86_64.rpm", []string{"-c", "rpmlint.toml"}},
	} {
		if _, err := exec.LookPath(tool.name); err != nil {
			t.Logf("%s is not installed", tool.name)
			continue
		}
		args := append(tool.args, must2(filepath.Glob(filepath.Join(one, tool.files)))...)
		if out, err := exec.Command(tool.name, args...).CombinedOutput(); err != nil {
			t.Errorf("%s of %s: %v\n%s", tool.name, tool.files, err, out)
		}
	}
}

// TestPackagesSayWhoMakesThem: the fields, the configuration and the manual pages that people look for.
func TestPackagesSayWhoMakesThem(t *testing.T) {
	one := released(t)
	for _, name := range packageNames() {
		arch := map[bool]string{true: "all", false: "amd64"}[name == "hark-ansible-names"]
		deb := only(t, filepath.Join(one, name+"_*_"+arch+".deb"))
		for field, want := range map[string]string{"Maintainer": "The hark project <hark@hark.example>", "Homepage": "https://hark.example", "Version": form(t, testVersion, "deb")} {
			if got := strings.TrimSpace(must(t, "dpkg-deb", "-f", deb, field)); got != want {
				t.Errorf("%s: %s is %q, want %q", name, field, got, want)
			}
		}
	}
	agent, hark, names := t.TempDir(), t.TempDir(), t.TempDir()
	for dir, deb := range map[string]string{agent: "hark-agent_*_amd64.deb", hark: "hark_*_amd64.deb", names: "hark-ansible-names_*.deb"} {
		must(t, "dpkg-deb", "-R", only(t, filepath.Join(one, deb)), dir)
	}
	if files, err := os.ReadFile(filepath.Join(agent, "DEBIAN/conffiles")); err != nil || strings.TrimSpace(string(files)) != "/etc/hark/agent.yml" {
		t.Errorf("conffiles of the agent: %q, %v", files, err)
	}
	for _, page := range []string{filepath.Join(agent, "usr/share/man/man8/hark-agent.8.gz"), filepath.Join(hark, "usr/share/man/man1/hark-play.1.gz")} {
		text := must(t, "zcat", page)
		for _, section := range []string{"EXIT STATUS", "ENVIRONMENT", "FILES"} {
			if !strings.Contains(text, ".SH "+section+"\n") {
				t.Errorf("%s has no %s", filepath.Base(page), section)
			}
		}
	}
	for _, link := range must2(filepath.Glob(filepath.Join(names, "usr/bin/*"))) {
		page := filepath.Join(names, "usr/share/man/man1", filepath.Base(link)+".1.gz")
		to, err := os.Readlink(page)
		if err != nil {
			t.Errorf("%s has no manual page: %v", filepath.Base(link), err)
		} else if _, err := os.Stat(filepath.Join(hark, "usr/share/man/man1", to)); err != nil {
			t.Errorf("the manual page of %s: %v", filepath.Base(link), err)
		}
	}
}
