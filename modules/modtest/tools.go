package modtest

import (
	"os"
	"path/filepath"
	"testing"

	"hark/modules"
)

// Tools returns a directory with the programs of testdata/tools/<name>, which stand for the host's: see UseTools; ""
// if there are none. Its path is plain wherever the checkout lies, since modules quote the paths of programs as
// Ansible does.
func Tools(t *testing.T, name string) string {
	t.Helper()
	tools, err := filepath.Abs(filepath.Join("testdata/tools", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(tools); err != nil {
		return ""
	}
	link := filepath.Join(realDir(t), "tools")
	if err := os.Symlink(tools, link); err != nil {
		t.Fatal(err)
	}
	return link
}

// UseTools puts the programs of a directory before the host's. They keep what they know in files of $HOME, the case's
// directory, and write how they were called to $HOME/told.
func UseTools(env *modules.Env, dir, tools string) {
	env.Environ = append(os.Environ(), "HOME="+dir, "LC_ALL=C", "PATH="+tools+":/usr/bin:/bin")
	env.Exec = modules.HostExec(env.Environ, nil)
}
