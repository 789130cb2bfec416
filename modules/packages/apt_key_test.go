package packages

import (
	"os"
	"path/filepath"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

// The programs of testdata/tools keep what they know in files of $HOME, which is the case's directory, and write how they were called to
// $HOME/told.
func TestAptKeyCases(t *testing.T) {
	tools, err := filepath.Abs("testdata/tools")
	if err != nil {
		t.Fatal(err)
	}
	modtest.Run(t, AptKey, modtest.Options{Setup: func(_ *testing.T, env *modules.Env, dir string) {
		env.Name = AptKey.Name
		env.Environ = append(os.Environ(), "HOME="+dir, "LC_ALL=C", "PATH="+tools+":/usr/bin:/bin")
		env.Exec = modules.HostExec(env.Environ, nil)
	}, Vars: map[string]string{"TOOLS": tools}})
}
