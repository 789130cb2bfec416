package commands

import (
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

func TestCases(t *testing.T) {
	for _, m := range All() {
		t.Run(m.Name, func(t *testing.T) { modtest.Run(t, m, modtest.Options{Setup: plain}) })
	}
}

// plain gives children a PATH and nothing that could change what they print.
func plain(_ *testing.T, env *modules.Env, dir string) {
	env.Environ = []string{"HOME=" + dir, "PATH=/usr/bin:/bin", "LC_ALL=C"}
	env.Exec = modules.HostExec(env.Environ, nil)
}
