package crypto

import (
	"os"
	"path/filepath"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

// varies are keys whose values are other ones with every new certificate.
func varies(m *modules.Module) []string {
	if m == X509Certificate || m == X509CertificatePipe {
		return []string{"serial_number", "fingerprints", "certificate"}
	}
	return nil
}

func TestCases(t *testing.T) {
	tools, err := filepath.Abs("testdata/tools")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range All() {
		t.Run(m.Name, func(t *testing.T) {
			modtest.Run(t, m, modtest.Options{
				Any:  varies(m),
				Vars: map[string]string{"TOOLS": tools},
				Setup: func(_ *testing.T, env *modules.Env, dir string) {
					env.Name = m.Name
					env.Environ = append(os.Environ(), "HOME="+dir, "LC_ALL=C", "PATH="+tools+":/usr/bin:/bin")
					env.Exec = modules.HostExec(env.Environ, nil)
				},
			})
		})
	}
}
