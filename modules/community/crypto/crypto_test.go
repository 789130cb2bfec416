package crypto

import (
	"os"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

func TestCases(t *testing.T) {
	for _, m := range All() {
		t.Run(m.Name, func(t *testing.T) {
			o := modtest.Options{
				Setup: func(_ *testing.T, env *modules.Env, dir string) {
					env.Name = m.Name
					env.Environ = append(os.Environ(), "HOME="+dir, "LC_ALL=C", "PATH=/usr/bin:/bin")
					env.Exec = modules.HostExec(env.Environ, nil)
				},
			}
			modtest.Examples(t, m, o)
			modtest.Run(t, m, o)
		})
	}
}
