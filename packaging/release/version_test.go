package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// ladder are versions from the oldest to the newest: builds on the way to a release, the release, and builds after it.
func ladder() []string {
	return []string{
		"0.1.0-dev.0+ffffffff", "0.1.0-dev.9+ffffffff", "0.1.0-dev.10+0a0a0a0a", "0.1.0-dev.1115+00000000", "0.1.0-rc.1", "0.1.0-rc.2", "0.1.0",
		"0.1.1-dev.1116+00000000", "0.1.1", "0.2.0-dev.1200+9c3747a4", "0.2.0", "0.10.0", "1.0.0-dev.2000+00000000", "1.0.0",
	}
}

// form is a version as packaging/release/version gives it.
func form(t *testing.T, version, kind string) string {
	t.Helper()
	cmd := exec.Command("./version", kind)
	cmd.Env = append(os.Environ(), "VERSION="+version)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("version %s of %s: %v: %s", kind, version, err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestPackagesAreUpgradedToTheNewerBuild asks dpkg and rpm themselves. The old names of packages, 0.0.0+COMMIT, are
// older than all.
func TestPackagesAreUpgradedToTheNewerBuild(t *testing.T) {
	for kind, older := range map[string]func(a, b string) bool{
		"deb": func(a, b string) bool {
			return exec.Command("dpkg", "--compare-versions", a, "lt", b).Run() == nil
		},
		"rpm": func(a, b string) bool {
			out, err := exec.Command("rpm", "--eval", `%{lua:print(rpm.vercmp("`+a+`", "`+b+`"))}`).CombinedOutput()
			return err == nil && strings.TrimSpace(string(out)) == "-1"
		},
	} {
		t.Run(kind, func(t *testing.T) {
			if tool := map[string]string{"deb": "dpkg", "rpm": "rpm"}[kind]; exec.Command(tool, "--version").Run() != nil {
				t.Skipf("%s is not installed", tool)
			}
			before := "0.0.0+ffffffff"
			for _, version := range ladder() {
				now := form(t, version, kind)
				if !older(before, now) || older(now, before) {
					t.Errorf("%s does not take %s to be older than %s", kind, before, now)
				}
				before = now
			}
		})
	}
}

func TestFormsOfAVersion(t *testing.T) {
	for kind, want := range map[string][2]string{
		"semver": {"0.1.0-dev.1115+9c3747a4", "0.1.0-rc.2"},
		"deb":    {"0.1.0~dev.1115+9c3747a4", "0.1.0~rc.2"},
		"rpm":    {"0.1.0~dev.1115+9c3747a4", "0.1.0~rc.2"},
		"apk":    {"0.1.0_pre1115", "0.1.0_rc2"},
		"oci":    {"0.1.0-dev.1115_9c3747a4", "0.1.0-rc.2"},
	} {
		if got := [2]string{form(t, "v0.1.0-dev.1115+9c3747a4", kind), form(t, "0.1.0-rc.2", kind)}; got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
		if got := form(t, "1.2.3", kind); got != "1.2.3" {
			t.Errorf("%s of a release is %q", kind, got)
		}
	}
}

// checkout is a repository with the version script, with a function that runs git in it.
func checkout(t *testing.T) (dir string, git func(args ...string)) {
	t.Helper()
	dir = t.TempDir()
	for _, file := range []string{"packaging/release/version", "agent/version/version.go"} {
		text, err := os.ReadFile(filepath.Join("../..", file))
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), text, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir, func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
}

// TestTheVersionOfACheckout: a tag makes a release, everything else is on the way to one.
func TestTheVersionOfACheckout(t *testing.T) {
	dir, git := checkout(t)
	version := func(form string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(dir, "packaging/release/version"), form)
		cmd.Env = append(os.Environ(), "VERSION=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			return "fails: " + string(out)
		}
		return strings.TrimSpace(string(out))
	}
	begins := func(what, want string) {
		t.Helper()
		if got := version("semver"); !strings.HasPrefix(got, want) || strings.HasSuffix(got, ".changed") != strings.HasPrefix(what, "changed") {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	release := strings.TrimSpace(version("semver"))
	if !strings.HasSuffix(release, "-dev") {
		t.Errorf("without a history: %q", release)
	}
	release = strings.TrimSuffix(release, "-dev")
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "one")
	begins("a commit", release+"-dev.1+")
	git("commit", "-qm", "two", "--allow-empty")
	begins("the next one", release+"-dev.2+")
	git("tag", "v"+release)
	if got := version("semver"); got != release {
		t.Errorf("with a tag: %q", got)
	}
	if got := version("tag"); got != "" {
		t.Errorf("before the first release is %q", got)
	}
	git("commit", "-qm", "three", "--allow-empty")
	begins("after the release", nextPatch(release)+"-dev.3+")
	if got := version("tag"); got != "v"+release {
		t.Errorf("the release before is %q", got)
	}
	git("tag", "v99.0.0")
	if got := version("semver"); !strings.HasPrefix(got, "fails: version: the tag is v99.0.0, and agent/version/version.go says "+release) {
		t.Errorf("with a tag of another version: %q", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "agent/version/version.go"), []byte("const Release = \"100.0.0\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	begins("changed files", "100.0.0-dev.3+")
}

// nextPatch is the release after one.
func nextPatch(release string) string {
	at := strings.LastIndex(release, ".")
	n, _ := strconv.Atoi(release[at+1:]) // the version script has looked at it
	return release[:at+1] + strconv.Itoa(n+1)
}
