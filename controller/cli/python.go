package cli

import (
	"os"
	"path/filepath"
	"strings"

	"hark/controller/internal/ansible/project"
	"hark/playbook/foreign"
)

// ansiblePython is the ansible-core that is installed beside hark, as editors and other tools ask for it.
type ansiblePython struct {
	// ansible is the directory of the package, "" where there is none.
	ansible       string
	path, version string
}

// jinja returns the version of the Jinja beside it. It takes a look at a large directory.
func (p ansiblePython) jinja() string {
	version := "unknown"
	for _, pattern := range []string{"Jinja2-*.dist-info", "Jinja2-*.egg-info", "jinja2-*.dist-info"} {
		if found, _ := filepath.Glob(filepath.Join(filepath.Dir(p.ansible), pattern)); len(found) > 0 {
			_, rest, _ := strings.Cut(filepath.Base(found[0]), "-")
			version = strings.TrimSuffix(strings.TrimSuffix(rest, ".dist-info"), ".egg-info")
		}
	}
	return version
}

// pythonOfAnsible returns the one that is installed, which is looked for once.
func pythonOfAnsible(a *app) ansiblePython {
	if a.core == nil {
		found := findAnsible(a)
		a.core = &found
	}
	return *a.core
}

// findAnsible looks at files: nothing is run for a line of --version.
func findAnsible(a *app) ansiblePython {
	environ := func(name string) string { v, _ := a.cfg.Getenv(name); return v }
	for _, home := range foreign.PythonDirs(environ, environ("HOME")) {
		dir := filepath.Join(home, "ansible")
		if !project.Exists(filepath.Join(dir, "cli")) {
			continue
		}
		prefix, _, _ := strings.Cut(home, "/lib/python")
		p := ansiblePython{ansible: dir, path: filepath.Join(prefix, "bin", "python3"), version: "3"}
		if to, err := os.Readlink(p.path); err == nil && strings.HasPrefix(filepath.Base(to), "python3.") {
			p.version = strings.TrimPrefix(filepath.Base(to), "python")
		}
		return p
	}
	return ansiblePython{}
}
