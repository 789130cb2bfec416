package services

import (
	"os"
	"path/filepath"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

// The service of a case is the script $DIR/svc; the programs of testdata/tools write how they were called to $HOME/told, as it does.
func TestSysvinitCases(t *testing.T) {
	tools, err := filepath.Abs("testdata/tools")
	if err != nil {
		t.Fatal(err)
	}
	modtest.Run(t, Sysvinit, modtest.Options{Setup: func(_ *testing.T, env *modules.Env, dir string) {
		env.Name = Sysvinit.Name
		env.Environ = append(os.Environ(), "HOME="+dir, "PATH="+tools+":/usr/bin:/bin")
		env.Exec = modules.HostExec(env.Environ, nil)
	}})
}
