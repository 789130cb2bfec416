package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// testVersion is that of the release that the tests look at.
const testVersion = "0.1.0-dev.1117+00000000"

// released is a release in a directory, made once, with a key of its own. HARK_RELEASE_TEST names a directory with
// the stages of slow tests; without it they are left out, as they compile all programs.
func released(t *testing.T) string {
	t.Helper()
	if os.Getenv("HARK_RELEASE_TEST") == "" {
		t.Skip("compiles all programs: packaging/release/test runs it")
	}
	dir, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var once = sync.OnceValues(func() (string, error) {
	base := os.Getenv("HARK_RELEASE_TEST")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(base, "key")).CombinedOutput(); err != nil {
		return "", fmt.Errorf("ssh-keygen: %w: %s", err, out)
	}
	for key, value := range map[string]string{
		"VERSION": testVersion, "SOURCE_DATE_EPOCH": "1790000000", keyVariable: filepath.Join(base, "key"), "TMPDIR": base,
	} {
		if err := os.Setenv(key, value); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(base, "one")
	return dir, run(dir, []string{"amd64", "arm64"}, false)
})

// must runs a program and gives what it prints.
func must(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// only finds the one file that a pattern means.
func only(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found[0]
}

// digests are those of all files below a directory.
func digests(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		all[rel], err = digest(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestAReleaseIsTheSameInAnyDirectory builds it a second time, in a copy of the checkout, with another umask, zone
// and home.
func TestAReleaseIsTheSameInAnyDirectory(t *testing.T) {
	one := released(t)
	copied, two := filepath.Join(t.TempDir(), "some", "where"), filepath.Join(t.TempDir(), "two")
	must(t, "sh", "-c", `umask 077; mkdir -p "$1" && cd ../.. && git -c safe.directory='*' ls-files -z | xargs -0 tar c | tar x -C "$1" --no-same-permissions`, "copy", copied)
	git, err := exec.Command("git", "-c", "safe.directory=*", "rev-parse", "--absolute-git-dir").Output()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `umask 077; exec packaging/release/build --release "$1"`, "build", two)
	cache := strings.TrimSpace(must(t, "go", "env", "GOCACHE"))
	modules := strings.TrimSpace(must(t, "go", "env", "GOMODCACHE"))
	cmd.Dir = copied
	cmd.Env = append(os.Environ(), "TZ=Asia/Kathmandu", "HOME="+t.TempDir(), "LANG=de_DE.UTF-8", "GOCACHE="+cache, "GOMODCACHE="+modules, "GIT_DIR="+strings.TrimSpace(string(git)))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the second build: %v\n%s", err, out)
	}
	first, second := digests(t, one), digests(t, two)
	if len(first) < 40 {
		t.Errorf("a release has %d files", len(first))
	}
	for name, sum := range first {
		if second[name] != sum {
			t.Errorf("%s differs", name)
		}
	}
	for name := range second {
		if first[name] == "" {
			t.Errorf("%s is in the second release alone", name)
		}
	}
}

// stubs is a directory with programs that note how they are called, in place of those that change the machine.
func stubs(t *testing.T, names ...string) (dir, called string) {
	t.Helper()
	dir, called = t.TempDir(), filepath.Join(t.TempDir(), "called")
	for _, name := range names {
		text := fmt.Sprintf("#!/bin/sh\necho %s \"$@\" >>%s\n", name, called)
		if name == "id" {
			text = "#!/bin/sh\necho 0\n"
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir, called
}

// TestInstallVerifiesWhatItInstalls: nothing is installed of a release that somebody has changed.
func TestInstallVerifiesWhatItInstalls(t *testing.T) {
	one := released(t)
	path, _ := stubs(t, "id", "dpkg")
	other, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	otherKey, err := ssh.NewPublicKey(other)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		change func(dir string) error
		says   string // "" if it is installed
	}{
		"as it is": {func(string) error { return nil }, ""},
		"a package": {func(dir string) error {
			return appendTo(only(t, filepath.Join(dir, "hark_*_amd64.deb")))
		}, "is not what SHA256SUMS says"},
		"the sums": {func(dir string) error { return appendTo(filepath.Join(dir, sumsFile)) }, "is not of the key of hark's releases"},
		"a package and its sum": {func(dir string) error {
			deb := only(t, filepath.Join(dir, "hark_*_amd64.deb"))
			was, err := digest(deb)
			if err == nil {
				err = appendTo(deb)
			}
			if err != nil {
				return err
			}
			is, err := digest(deb)
			if err != nil {
				return err
			}
			return replaceIn(filepath.Join(dir, sumsFile), was, is)
		}, "is not of the key of hark's releases"},
		"no signature": {func(dir string) error { return os.Remove(filepath.Join(dir, sumsFile+".sig")) }, "cannot read"},
		"another key": {func(dir string) error {
			line := principal + ` namespaces="` + namespace + `" ` + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(otherKey)))
			return os.WriteFile(filepath.Join(dir, "hark.allowed_signers"), []byte(line+"\n"), 0o600)
		}, "is not of the key of hark's releases"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "release")
			must(t, "sh", "-c", `mkdir "$2" && cp "$1"/hark_*_amd64.deb "$1"/SHA256SUMS* "$1"/install.sh "$1"/hark.allowed_signers "$2"`, "copy", one, dir)
			if err := tc.change(dir); err != nil {
				t.Fatal(err)
			}
			args := []string{filepath.Join(dir, "install.sh"), "hark"}
			if name == "another key" {
				args = []string{args[0], "--key", filepath.Join(dir, "hark.allowed_signers"), "hark"}
			}
			bin, called := stubs(t, "id", "dpkg")
			cmd := exec.Command("sh", args...)
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+path+":"+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			calls, _ := os.ReadFile(called) // not there if nothing was called
			installed := strings.HasPrefix(string(calls), "dpkg -i ")
			switch {
			case tc.says == "" && (err != nil || !installed):
				t.Errorf("it is not installed: %v\n%s", err, out)
			case tc.says != "" && (err == nil || installed || !strings.Contains(string(out), tc.says)):
				t.Errorf("installed: %v, %v\n%s", installed, err, out)
			}
		})
	}
}

func appendTo(path string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("\n")
	return errors.Join(err, f.Close())
}

func replaceIn(path, old, replacement string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Contains(text, []byte(old)) {
		return fmt.Errorf("%s has no %s", path, old)
	}
	return os.WriteFile(path, bytes.ReplaceAll(text, []byte(old), []byte(replacement)), 0o600)
}

// TestWhatItIsMadeOfAndWhereItComesFrom: the statement is signed and has the digests of the files; the list of parts
// has the modules of the product.
func TestWhatItIsMadeOfAndWhereItComesFrom(t *testing.T) {
	one := released(t)
	text, err := os.ReadFile(only(t, filepath.Join(one, "*.intoto.jsonl")))
	if err != nil {
		t.Fatal(err)
	}
	var e envelope
	if err := json.Unmarshal(text, &e); err != nil || len(e.Signatures) != 1 {
		t.Fatalf("the envelope: %v", err)
	}
	payload, err := base64.StdEncoding.DecodeString(e.Payload)
	if err != nil {
		t.Fatal(err)
	}
	sig, err := base64.StdEncoding.DecodeString(e.Signatures[0].Sig)
	if err != nil {
		t.Fatal(err)
	}
	s, err := openSigner(os.Getenv(keyVariable), time.Unix(1790000000, 0))
	if err != nil {
		t.Fatal(err)
	}
	signed := fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
	if !ed25519.Verify(s.key.Public().(ed25519.PublicKey), signed, sig) {
		t.Error("the statement is not signed with the key")
	}
	var st statement
	if err := json.Unmarshal(payload, &st); err != nil {
		t.Fatal(err)
	}
	for _, sub := range st.Subject {
		if sum, err := digest(filepath.Join(one, sub.Name)); err != nil || sum != sub.Digest["sha256"] {
			t.Errorf("%s: %s, %v", sub.Name, sum, err)
		}
	}
	if len(st.Subject) < 20 {
		t.Errorf("the statement is about %d files", len(st.Subject))
	}
	bom, err := os.ReadFile(only(t, filepath.Join(one, "*.cdx.json")))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"bomFormat": "CycloneDX"`, `"pkg:golang/github.com/nats-io/nats.go@v`, `"hark-agent/linux/armv7"`, `"pkg:golang/std@`} {
		if !bytes.Contains(bom, []byte(want)) {
			t.Errorf("the list of parts lacks %s", want)
		}
	}
}

// TestAptTakesTheRepository: apt itself reads it and sees both packages; it refuses lists that were changed.
func TestAptTakesTheRepository(t *testing.T) {
	one, root := released(t), t.TempDir()
	tree := filepath.Join(root, "tree")
	must(t, "cp", "-r", filepath.Join(one, "apt"), tree)
	source := fmt.Sprintf("deb [signed-by=%s] file:%s stable main\n", filepath.Join(one, "hark.gpg"), tree)
	for _, dir := range []string{"state/lists/partial", "cache/archives/partial", "etc"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"etc/sources.list": source, "state/status": ""} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	apt := func(program string, args ...string) (string, error) {
		set := []string{
			"-o", "Dir::State=" + root + "/state", "-o", "Dir::State::status=" + root + "/state/status", "-o", "Dir::Cache=" + root + "/cache",
			"-o", "Dir::Etc=" + root + "/etc", "-o", "APT::Sandbox::User=root", "-o", "APT::Architecture=amd64",
		}
		out, err := exec.Command(program, append(set, args...)...).CombinedOutput()
		return string(out), err
	}
	if out, err := apt("apt-get", "update"); err != nil || strings.Contains(out, "W:") {
		t.Fatalf("apt-get update: %v\n%s", err, out)
	}
	out, err := apt("apt-cache", "madison", "hark", "hark-agent", "hark-ansible-names")
	if version := form(t, testVersion, "deb"); err != nil || strings.Count(out, version) != 3 {
		t.Errorf("apt knows %q, %v", out, err)
	}
	for _, list := range must2(filepath.Glob(filepath.Join(tree, "dists/stable/main/binary-amd64/Packages*"))) {
		if err := os.WriteFile(list, []byte("Package: evil\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "rm", "-rf", root+"/state/lists")
	must(t, "mkdir", "-p", root+"/state/lists/partial")
	if out, err := apt("apt-get", "update"); err == nil {
		t.Errorf("apt takes lists that were changed:\n%s", out)
	}
}

func must2(all []string, err error) []string {
	if err != nil {
		panic(err)
	}
	return all
}

// TestRPMTakesTheRepository: rpm verifies packages, gpgv the lists; dnf installs from them where it is.
func TestRPMTakesTheRepository(t *testing.T) {
	one, root := released(t), t.TempDir()
	tree := filepath.Join(one, "rpm")
	must(t, "gpgv", "--keyring", filepath.Join(one, "hark.gpg"), filepath.Join(tree, "repodata/repomd.xml.asc"), filepath.Join(tree, "repodata/repomd.xml"))
	must(t, "rpmkeys", "--root", root, "--import", filepath.Join(one, "hark.asc"))
	rpms := must2(filepath.Glob(filepath.Join(tree, "*.rpm")))
	if out := must(t, "rpmkeys", append([]string{"--root", root, "-K"}, rpms...)...); strings.Count(out, "digests signatures OK") != len(rpms) || len(rpms) == 0 {
		t.Errorf("rpm says of %d packages:\n%s", len(rpms), out)
	}
	if exec.Command("dnf", "--version").Run() != nil {
		t.Skip("dnf is not installed")
	}
	out := must(t, "dnf", "--installroot", root, "--repofrompath=hark,file://"+tree, "--repo=hark", "--setopt=hark.gpgcheck=1", "--setopt=hark.repo_gpgcheck=1",
		"--setopt=hark.gpgkey=file://"+filepath.Join(one, "hark.asc"), "--releasever=1", "--forcearch=x86_64", "-y", "repoquery", "--qf", "%{name} %{evr}")
	version := form(t, testVersion, "rpm") + "-1"
	for _, name := range packageNames() {
		if !strings.Contains(out, name+" "+version) {
			t.Errorf("dnf does not see %s %s:\n%s", name, version, out)
		}
	}
}

// TestImagesStart: what a container would run is run in the files of the image.
func TestImagesStart(t *testing.T) {
	one := released(t)
	if os.Getuid() != 0 {
		t.Skip("chroot needs root")
	}
	for _, s := range services() {
		t.Run(s.name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, "tar", "-xf", only(t, filepath.Join(one, s.name+"_*.oci.tar")), "-C", dir)
			image := nativeImage(t, dir)
			root := filepath.Join(dir, "root")
			must(t, "mkdir", root)
			for _, layer := range image.layers {
				must(t, "tar", "-xzf", layer, "-C", root)
			}
			if user := image.User; user != fmt.Sprint(containerUser) {
				t.Errorf("it runs as %q", user)
			}
			inside := func(args ...string) *exec.Cmd {
				cmd := exec.Command("chroot", append([]string{"--userspec=" + image.User + ":" + image.User, root}, append(slices.Clone(image.Entrypoint), args...)...)...)
				cmd.Env = image.Env
				return cmd
			}
			if out, err := inside("--version").CombinedOutput(); err != nil || !strings.Contains(string(out), "hark version = "+testVersion) {
				t.Errorf("--version: %v\n%s", err, out)
			}
			// All that is missing is what a container is given: who may sign in, access to a broker.
			want := map[string]string{"hark-broker": "broker ready at", "hark-console": "give --operator KEY", "hark-keeper": "no broker is configured"}[s.name]
			args := slices.Clone(s.command)
			if s.name == "hark-broker" {
				args[len(args)-1] = "127.0.0.1:0"
			}
			started := inside(args...)
			cmd := exec.Command("timeout", append([]string{"10", started.Path}, started.Args[1:]...)...)
			cmd.Env = image.Env
			if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), want) { // it is ended, or says what is missing
				t.Errorf("%v does not say %q:\n%s", args, want, out)
			}
		})
	}
}

// nativeConfig is the part of an image's configuration that says how it is started.
type nativeConfig struct {
	User       string
	Entrypoint []string
	Cmd        []string
	Env        []string

	layers []string
}

// nativeImage reads an OCI layout: the image for amd64.
func nativeImage(t *testing.T, dir string) nativeConfig {
	t.Helper()
	type descriptor struct {
		Digest   string
		Platform struct{ Architecture string }
	}
	blob := func(d string) string { return filepath.Join(dir, "blobs", strings.Replace(d, ":", "/", 1)) }
	read := func(path string, into any) {
		t.Helper()
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(text)); strings.Contains(path, "blobs") && filepath.Base(path) != sum {
			t.Errorf("%s has the digest %s", path, sum)
		}
	}
	var outer, inner struct{ Manifests []descriptor }
	read(filepath.Join(dir, "index.json"), &outer)
	read(blob(outer.Manifests[0].Digest), &inner)
	at := slices.IndexFunc(inner.Manifests, func(d descriptor) bool { return d.Platform.Architecture == "amd64" })
	if at < 0 || len(inner.Manifests) != 2 {
		t.Fatalf("the index has %v", inner.Manifests)
	}
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	read(blob(inner.Manifests[at].Digest), &manifest)
	var config struct{ Config nativeConfig }
	read(blob(manifest.Config.Digest), &config)
	for _, l := range manifest.Layers {
		config.Config.layers = append(config.Config.layers, blob(l.Digest))
	}
	return config.Config
}
