package posix

import (
	"os"
	"os/user"
	"path/filepath"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

// The programs of testdata/tools stand for the host's. They keep what they know in files of $HOME, which is the case's directory, and write
// how they were called to $HOME/told.
func TestCases(t *testing.T) {
	tools, err := filepath.Abs("testdata/tools")
	if err != nil {
		t.Fatal(err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range All() {
		t.Run(m.Name, func(t *testing.T) {
			modtest.Run(t, m, modtest.Options{Setup: func(_ *testing.T, env *modules.Env, dir string) {
				env.Name = m.Name
				env.Environ = append(os.Environ(), "HOME="+dir, "LC_ALL=C", "PATH="+tools+":/usr/bin:/bin")
				env.Exec = modules.HostExec(env.Environ, nil)
			}, Vars: map[string]string{"ME": me.Username, "TOOLS": tools}})
		})
	}
}
