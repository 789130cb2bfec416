package checkout

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// tool runs a program in a directory, without what the user has configured.
func tool(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repository is a git repository with a commit.
func repository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	home := t.TempDir()
	for name, v := range map[string]string{"HOME": home, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a",
		"GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a",
		"GIT_COMMITTER_EMAIL": "a@example.org"} {
		t.Setenv(name, v)
	}
	dir := t.TempDir()
	tool(t, dir, "git", "init", "--quiet", "--initial-branch", "main")
	commit(t, dir, "one")
	return dir
}

func commit(t *testing.T, dir, text string) string {
	t.Helper()
	write(t, filepath.Join(dir, "site.yml"), text)
	tool(t, dir, "git", "add", ".")
	tool(t, dir, "git", "commit", "--quiet", "-m", text)
	return tool(t, dir, "git", "rev-parse", "HEAD")[:12]
}

func TestABranchIsFetchedAndEarlierCommitsStay(t *testing.T) {
	repo := repository(t)
	first := tool(t, repo, "git", "rev-parse", "HEAD")[:12]
	p, err := Open("file://"+repo+"#main", filepath.Join(t.TempDir(), "state"), "")
	if err != nil {
		t.Fatal(err)
	}
	expect := func(want, text string) {
		t.Helper()
		got, dir, err := p.Now(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		read, err := os.ReadFile(filepath.Join(dir, "site.yml"))
		if got != want || err != nil || string(read) != text {
			t.Errorf("it is %s (%q), want %s", got, read, want)
		}
	}
	expect(first, "one")
	second := commit(t, repo, "two")
	expect(second, "two")
	if dir, ok := p.Dir(first); !ok {
		t.Errorf("the commit before is gone from %s", dir)
	}
	for _, text := range []string{"3", "4", "5", "6"} {
		expect(commit(t, repo, text), text)
	}
	if _, ok := p.Dir(first); ok {
		t.Error("commits stay for ever")
	}
}

// signers makes keys of people. It returns a keyring with the key of the first of them, and what makes a signed tag.
func signers(t *testing.T, repo string, people ...string) (keyring string, tag func(who, name string)) {
	t.Helper()
	if _, err := exec.LookPath("gpg"); err != nil {
		t.Skip("there is no gpg")
	}
	gnupg, err := os.MkdirTemp("/tmp", "g") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GNUPGHOME", gnupg)
	t.Cleanup(func() {
		_ = exec.Command("gpgconf", "--homedir", gnupg, "--kill", "all").Run()
		_ = os.RemoveAll(gnupg)
	})
	for _, name := range people {
		tool(t, repo, "gpg", "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "", "--quick-generate-key",
			name, "ed25519", "sign", "never")
	}
	keyring = filepath.Join(t.TempDir(), "keys.gpg")
	tool(t, repo, "gpg", "--batch", "--quiet", "--output", keyring, "--export", people[0])
	return keyring, func(who, name string) {
		t.Helper()
		tool(t, repo, "git", "tag", "-u", who, "-m", name, name)
	}
}

func TestOnlySignedTagsCountAndNeverGoBack(t *testing.T) {
	repo := repository(t)
	keyring, tag := signers(t, repo, "anna@example.org", "mallory@example.org")
	p, err := Open("file://"+repo, filepath.Join(t.TempDir(), "state"), keyring)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Now(t.Context()); err == nil || !strings.Contains(err.Error(), "is signed by a key of") {
		t.Fatalf("without a tag: %v", err)
	}
	tag("anna@example.org", "v1")
	first := tool(t, repo, "git", "rev-parse", "HEAD")[:12]
	commit(t, repo, "two")
	tag("mallory@example.org", "v2")
	tool(t, repo, "git", "tag", "v2-light")
	if got, _, err := p.Now(t.Context()); err != nil || got != first {
		t.Fatalf("it is %s, %v, want %s", got, err, first)
	}
	third := commit(t, repo, "three")
	tag("anna@example.org", "v3")
	if got, _, err := p.Now(t.Context()); err != nil || got != third {
		t.Fatalf("it is %s, %v, want %s", got, err, third)
	}
	armored := filepath.Join(t.TempDir(), "keys.asc")
	tool(t, repo, "gpg", "--batch", "--quiet", "--armor", "--output", armored, "--export", "anna@example.org")
	other, err := Open("file://"+repo,
		filepath.Join(t.TempDir(), "a state whose path is too long for the socket of an agent "+strings.Repeat("x", 60)),
		armored)
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := other.Now(t.Context()); err != nil || got != third {
		t.Fatalf("with an armored keyring it is %s, %v, want %s", got, err, third)
	}
	tool(t, repo, "git", "tag", "-d", "v3")
	if got, _, err := p.Now(t.Context()); err == nil || !strings.Contains(err.Error(), "does not come after") {
		t.Fatalf("it went back to %s, %v", got, err)
	}
}

// A signed tag counts under the name that was signed, whatever somebody pushes it as. With a pattern only such names count:
// a tag that the same person has signed for another project does not.
func TestOnlyTheSignedNamesOfTagsCount(t *testing.T) {
	repo := repository(t)
	keyring, tag := signers(t, repo, "anna@example.org")
	state := filepath.Join(t.TempDir(), "state")
	now := func(names string) (string, error) {
		t.Helper()
		p, err := Open("file://"+repo, state, keyring)
		if err == nil {
			err = p.Only(names)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := p.Now(t.Context())
		return got, err
	}
	first := tool(t, repo, "git", "rev-parse", "HEAD")[:12]
	tag("anna@example.org", "prod-1")
	if got, err := now("prod-*"); err != nil || got != first {
		t.Fatalf("it is %s, %v, want %s", got, err, first)
	}
	second := commit(t, repo, "two")
	tag("anna@example.org", "stage-2")
	tool(t, repo, "git", "update-ref", "refs/tags/prod-2", tool(t, repo, "git", "rev-parse", "stage-2")) // the tag object
	tool(t, repo, "git", "update-ref", "refs/tags/prod/2", tool(t, repo, "git", "rev-parse", "stage-2"))
	if got, err := now("prod-*"); err != nil || got != first {
		t.Fatalf("with the tag of another project it is %s, %v, want %s", got, err, first)
	}
	tool(t, repo, "git", "tag", "-d", "stage-2")
	if got, err := now(""); err != nil || got != first {
		t.Fatalf("with a tag under another name it is %s, %v, want %s", got, err, first)
	}
	tag("anna@example.org", "stage-3")
	if got, err := now(""); err != nil || got != second {
		t.Fatalf("without a pattern it is %s, %v, want %s", got, err, second)
	}
	if _, err := now("stage-[12]"); err == nil || !strings.Contains(err.Error(), "no tag stage-[12] of") {
		t.Error(err)
	}
}

// A directory is taken as it was when it was looked at: nothing that is done there later changes what is played.
func TestADirectoryIsTakenAsItWas(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	dir := filepath.Dir(home) // which has hark's own files in it
	write(t, filepath.Join(home, "operator.nk"), "secret")
	write(t, filepath.Join(dir, "site.yml"), "one")
	write(t, filepath.Join(dir, "roles", "a", "x.yml"), "was")
	write(t, filepath.Join(dir, ".git", "HEAD"), "no")
	outside := filepath.Join(t.TempDir(), "outside")
	write(t, outside, "outside")
	if err := os.Chmod(filepath.Join(dir, "site.yml"), 0o444); err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(dir, outside)
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": "roles/a", "out": rel} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Open(dir, filepath.Join(home, "keeper"), "")
	if err != nil {
		t.Fatal(err)
	}
	first, at, err := p.Now(t.Context())
	if err != nil || at == dir {
		t.Fatal(at, err)
	}
	if again, _, _ := p.Now(t.Context()); again != first {
		t.Error("it changes by itself")
	}
	write(t, filepath.Join(dir, "roles", "a", "x.yml"), "is another")
	next, now, err := p.Now(t.Context())
	if err != nil || next == first {
		t.Error("a change is not seen", err)
	}
	if was, ok := p.Dir(first); !ok || was != at || read(t, filepath.Join(at, "link", "x.yml")) != "was" ||
		read(t, filepath.Join(now, "link", "x.yml")) != "is another" {
		t.Errorf("what it was is %s, %v", was, ok)
	}
	if read(t, filepath.Join(now, "out")) != "outside" {
		t.Error("a link that leads out of the project leads nowhere")
	}
	for _, name := range []string{".git", "home"} {
		if _, err := os.Stat(filepath.Join(at, name)); err == nil {
			t.Errorf("%s was copied", name)
		}
	}
	if info, err := os.Stat(filepath.Join(at, "site.yml")); err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("%v, %v", info, err)
	}
	for i := range kept {
		write(t, filepath.Join(dir, "roles", "a", "x.yml"), strings.Repeat("x", 20+i))
		if _, _, err := p.Now(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := p.Dir(first); ok {
		t.Error("copies stay for ever")
	}
}

// A directory that is away does not end a keeper that knows it.
func TestADirectoryMayBeAwayForAWhile(t *testing.T) {
	dir, state := filepath.Join(t.TempDir(), "site"), filepath.Join(t.TempDir(), "state")
	if _, err := Open(dir, state, ""); err == nil {
		t.Error("a directory that never was is taken")
	}
	write(t, filepath.Join(dir, "site.yml"), "one")
	p, err := Open(dir, state, "")
	if err != nil {
		t.Fatal(err)
	}
	was, _, err := p.Now(t.Context())
	if err == nil {
		err = os.Rename(dir, dir+".away")
	}
	if err != nil {
		t.Fatal(err)
	}
	if p, err = Open(dir, state, ""); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Now(t.Context()); err == nil {
		t.Error("it is read though it is away")
	}
	if at, ok := p.Dir(was); !ok || read(t, filepath.Join(at, "site.yml")) != "one" {
		t.Errorf("%s, %v", at, ok)
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	if again, _, err := p.Now(t.Context()); err != nil || again != was {
		t.Errorf("back it is %s, %v", again, err)
	}
}

// TestARepositoryOfAnotherUserIsFetched: git refuses one unless told otherwise.
func TestARepositoryOfAnotherUserIsFetched(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	repo := repository(t)
	first := tool(t, repo, "git", "rev-parse", "HEAD")
	if out, err := exec.Command("chown", "-R", "4242:4242", repo).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("SUDO_UID", "")
	for _, where := range []string{"file://" + repo + "#main", repo + "#main"} {
		p, err := Open(where, filepath.Join(t.TempDir(), "state"), "")
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // a clone, and a fetch
			if got, _, err := p.Now(t.Context()); err != nil || !strings.HasPrefix(first, got) {
				t.Errorf("%s: %q, %v; the commit is %s", where, got, err, first)
			}
		}
		if out, err := exec.Command("git", Probe(where)...).CombinedOutput(); err != nil || !strings.HasPrefix(string(out), first) {
			t.Errorf("%s: %v: %s", where, err, out)
		}
		if got := Repository(where); got != repo {
			t.Errorf("%s lies in %q, should be in %q", where, got, repo)
		}
	}
}

func TestWhatIsNoProjectIsRefused(t *testing.T) {
	for _, where := range []string{"nowhere", "--upload-pack=x:y", "ext::sh -c id", "file:///x#-b"} {
		if _, err := Open(where, t.TempDir(), ""); err == nil {
			t.Errorf("%q is taken", where)
		}
	}
	if _, err := Open(t.TempDir(), "", "/nowhere"); err == nil {
		t.Error("a directory has signed tags")
	}
	p, err := Open("file:///nowhere/at/all#main", filepath.Join(t.TempDir(), "s"), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Now(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot fetch the project") {
		t.Error(err)
	}
}

func TestCommitsThatAreNeededStay(t *testing.T) {
	repo := repository(t)
	state := filepath.Join(t.TempDir(), "state")
	p, err := Open("file://"+repo+"#main", state, "")
	if err != nil {
		t.Fatal(err)
	}
	first, _, err := p.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Keep([]string{first}); err != nil {
		t.Fatal(err)
	}
	next := func() {
		t.Helper()
		for i := range kept + 2 {
			commit(t, repo, fmt.Sprint("later ", i, p.needed))
			if _, _, err := p.Now(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	next()
	if dir, ok := p.Dir(first); !ok || read(t, filepath.Join(dir, "site.yml")) != "one" {
		t.Errorf("the first commit is gone: %s, %v", dir, ok)
	}
	if err := p.Keep(nil); err != nil {
		t.Fatal(err)
	}
	next()
	if dir, ok := p.Dir(first); ok {
		t.Errorf("%s stays for ever", dir)
	}
}

func TestAStateThatIsGoneCannotBeKept(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "site.yml"), "was")
	p, err := Open(dir, filepath.Join(t.TempDir(), "state"), "")
	if err != nil {
		t.Fatal(err)
	}
	was, _, err := p.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Keep([]string{was}); err != nil {
		t.Error(err)
	}
	if err := p.Keep([]string{was, "dir-00000000"}); err == nil {
		t.Error("what is no longer there was kept")
	}
}
