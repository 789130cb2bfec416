package foreign

import (
	"os"
	"path/filepath"
	"strings"
)

// PythonDirs returns the directories in which Python's packages lie on this machine, of a virtual environment and the
// user first. Nothing is run to find them.
func PythonDirs(environ func(string) string, home string) []string {
	var patterns []string
	patterns = append(patterns, filepath.SplitList(environ("PYTHONPATH"))...)
	if venv := environ("VIRTUAL_ENV"); venv != "" {
		patterns = append(patterns, venv+"/lib/python3*/site-packages")
	}
	if home != "" {
		patterns = append(patterns, home+"/.local/lib/python3*/site-packages",
			home+"/.local/share/pipx/venvs/ansible*/lib/python3*/site-packages")
	}
	for _, prefix := range []string{"/usr/local/lib", "/usr/lib", "/usr/local/lib64", "/usr/lib64"} {
		patterns = append(patterns, prefix+"/python3*/site-packages", prefix+"/python3*/dist-packages")
	}
	patterns = append(patterns, "/usr/lib/python3/dist-packages", "/opt/ansible/lib/python3*/site-packages")
	var dirs []string
	seen := map[string]bool{}
	for _, p := range patterns {
		if strings.TrimSpace(p) == "" {
			continue
		}
		found, _ := filepath.Glob(p)
		for _, dir := range found {
			if info, err := os.Stat(dir); err == nil && info.IsDir() && !seen[dir] {
				seen[dir] = true
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}
