package origin_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hark/controller/internal/runs/origin"
)

func TestSecretsOfTheCommandLineAreHidden(t *testing.T) {
	for text, want := range map[string]string{
		"a=1 db_password='hunter 2'": "a=(hidden) db_password=(hidden)",
		`{"db_password": "hunter2"}`: "(hidden)",
		"@vars.yml":                  "@vars.yml",
		"hunter2":                    "(hidden)",
		"a='unclosed":                "(hidden)",
		"":                           "",
	} {
		if got := origin.Extra(text); got != want {
			t.Errorf("-e %s is kept as %s, want %s", text, got, want)
		}
	}
	secret := func(name string) bool { return name == "password" }
	for text, want := range map[string]string{
		"name=anna password=hunter2":     "name=anna password=(hidden)",
		`name=anna password="hunter 2"`:  "(hidden)",
		`name='anna b'  state=present`:   `name='anna b'  state=present`,
		`{"name":"a","password":"hunt"}`: "(hidden)",
		"uptime":                         "uptime",
	} {
		if got := origin.Args(text, secret); got != want {
			t.Errorf("-a %s is kept as %s, want %s", text, got, want)
		}
	}
	if got := origin.URLs("nats://anna:hunter2@one:4222,tls://two"); got != "nats://one:4222,tls://two" {
		t.Error(got)
	}
}

func TestCommitIsWhatGitSays(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	if got := origin.Commit(dir); got != "" {
		t.Errorf("before any commit it is %q", got)
	}
	file := filepath.Join(dir, "site.yml")
	if err := os.WriteFile(file, []byte("- hosts: all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git("add", ".")
	git("commit", "-qm", "one")
	want := git("rev-parse", "HEAD")[:12]
	sub := filepath.Join(dir, "roles", "x")
	if err := os.MkdirAll(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	check := func(how, dir string) {
		t.Helper()
		if got := origin.Commit(dir); got != want {
			t.Errorf("%s: %q, want %q", how, got, want)
		}
	}
	check("loose", sub)
	git("pack-refs", "--all")
	check("packed", dir)
	git("checkout", "-q", "--detach")
	check("detached", dir)
	tree := filepath.Join(t.TempDir(), "tree")
	git("worktree", "add", "-q", "-b", "other", tree)
	check("work tree", tree)

	if err := os.WriteFile(file, []byte("- hosts: web\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	waitFor(t, dir, true)
	git("checkout", "-q", "site.yml")
	waitFor(t, dir, false)
}

// waitFor asks again until git was quick enough.
func waitFor(t *testing.T, dir string, want bool) {
	t.Helper()
	for wait := time.Millisecond; ; wait *= 2 {
		ask := origin.Dirty(context.Background(), dir)
		timer := time.NewTimer(wait)
		<-timer.C
		if got := ask(); got != nil {
			if *got != want {
				t.Errorf("dirty %v, want %v", *got, want)
			}
			return
		}
		if wait > time.Minute {
			t.Fatal("git does not answer")
		}
	}
}

func TestNoProjectHasNoCommit(t *testing.T) {
	if got := origin.Commit(t.TempDir()); got != "" {
		t.Error(got)
	}
}
