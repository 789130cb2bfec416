package general

import (
	"os"
	"path/filepath"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

// toolsOf is an environment with the programs of testdata/tools, which keep what they know in files of $HOME, the case's directory, and write
// how they were called to $HOME/told.
func toolsOf(t *testing.T, env *modules.Env, dir string) string {
	t.Helper()
	tools, err := filepath.Abs("testdata/tools")
	if err != nil {
		t.Fatal(err)
	}
	env.Environ = append(os.Environ(), "HOME="+dir, "LC_ALL=C", "PATH="+tools+":/usr/bin:/bin")
	env.Exec = modules.HostExec(env.Environ, nil)
	return tools
}

func TestCases(t *testing.T) {
	for _, m := range []*modules.Module{Alternatives, Capabilities, DpkgDivert, GitConfig, IniFile, Npm} {
		t.Run(m.Name, func(t *testing.T) {
			tools := toolsOf(t, &modules.Env{}, "/")
			modtest.Run(t, m, modtest.Options{Setup: func(t *testing.T, env *modules.Env, dir string) {
				env.Name = m.Name
				toolsOf(t, env, dir)
			}, Vars: map[string]string{"TOOLS": tools}})
		})
	}
}

// lay writes files under a directory.
func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(raw)
}

// resultOf is a result, or the failure that an error stands for.
func resultOf(res modules.Result, err error) modules.Result {
	if err != nil {
		return modules.Failure(err)
	}
	return res
}
