package initd

import (
	"os"
	"path/filepath"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

func write(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, mode); err != nil {
		t.Fatal(err)
	}
}

func TestScriptsAreFilesThatCanBeRun(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "web"), 0o755)
	write(t, filepath.Join(dir, "README"), 0o644)
	write(t, filepath.Join(dir, "sub", "x"), 0o755)
	for name, want := range map[string]bool{"web": true, "README": false, "sub": false, "none": false} {
		if got := isScript(dir, name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestLinksOfRunlevelsStartScripts(t *testing.T) {
	etc := t.TempDir()
	for _, link := range []string{"rc2.d/S20web", "rc3.d/K20web", "rc3.d/S1xweb", "rc4.d/S05a[b", "rc5.d/S01other"} {
		write(t, filepath.Join(etc, link), 0o755)
	}
	for _, c := range []struct {
		name, level string
		want        bool
	}{
		{"web", "", true}, {"web", "2", true}, {"web", "3", false}, {"web", "5", false}, {"we", "", false},
		{"we?", "", false}, {"*", "", false}, {"a[b", "", true}, {"a[b", "4", true},
	} {
		if got := hasStartLink(etc, c.name, c.level); got != c.want {
			t.Errorf("%q in %q: %t", c.name, c.level, got)
		}
	}
}

func TestToolsSpeakTheLanguageThatModulesRead(t *testing.T) {
	h := &modtest.Host{Act: func(c modules.Command) modules.Output {
		return modules.Output{Rc: 3, Stdout: []byte(c.Env[0]), Stderr: []byte(c.Argv[1])}
	}}
	rc, stdout, stderr, err := Output(t.Context(), h.Env(t), "some-tool", "word")
	if rc != 3 || stdout != "LANG=C.UTF-8" || stderr != "word" || err != nil {
		t.Errorf("%d %q %q %v", rc, stdout, stderr, err)
	}
	if r, _ := Missing("web"); !r.Failed || r.Msg != "Could not find the requested service web: host" {
		t.Errorf("%+v", r)
	}
}
