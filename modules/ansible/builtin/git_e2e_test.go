//go:build e2e

package builtin

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/modtest"
)

// TestGitCasesWithGit runs the cases of git_real.txt on repositories that the host's git makes; $DIR/repo is one of
// them, and what a case has as prepare is run before.
func TestGitCasesWithGit(t *testing.T) {
	repo := makeRepository(t)
	modtest.Run(t, Git, modtest.Options{File: "testdata/real/git.txt", Books: []string{".git"}, Setup: func(t *testing.T, env *modules.Env, dir string) {
		env.Environ = gitEnviron(dir)
		env.Exec = modules.HostExec(env.Environ, nil)
		if err := os.CopyFS(filepath.Join(dir, "repo"), os.DirFS(repo)); err != nil {
			t.Fatal(err)
		}
		if fsx.Exists(filepath.Join(dir, "prepare")) {
			shell(t, dir, ". ./prepare")
		}
	}})
}

// gitEnviron makes commits the same in every run.
func gitEnviron(home string) []string {
	return append(os.Environ(), "HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=a@b",
		"GIT_AUTHOR_DATE=2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z",
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always",
		"GIT_CONFIG_KEY_1=init.defaultBranch", "GIT_CONFIG_VALUE_1=master")
}

// makeRepository makes a repository whose branch master has the file a and the tags v1 and v2, and dev the file b too.
func makeRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	shell(t, dir, `git init -q; echo one > a; git add a; git commit -qm one; git tag v1; git tag -a v2 -m two
		git checkout -qb dev; echo dev > b; git add b; git commit -qm dev; git checkout -q master; rm -f .git/hooks/*`)
	return dir
}

func shell(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Env, cmd.Dir = gitEnviron(dir), dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}
