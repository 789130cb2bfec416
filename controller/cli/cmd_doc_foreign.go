package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"hark/controller/internal/docs"
	"hark/controller/internal/project"
	"hark/controller/internal/said"
)

// beyondHark tells whether the call asks for what hark has no description of: plug-ins of collections, roles, lists of everything.
func (j *docJob) beyondHark() bool {
	switch {
	case j.dump || j.kind == "keyword":
		return false
	case j.kind == "role":
		return true
	case j.list || j.file:
		return len(j.names) == 0 || slices.ContainsFunc(j.names, func(name string) bool {
			parts := append(strings.Split(name, "."), "")
			return hasCollection(j.app, parts[0]+"."+parts[1])
		})
	}
	for _, name := range j.names {
		_, known := docs.Find(j.kind, name)
		if j.kind == "module" {
			_, known = j.modules.Get(name)
		}
		if !known {
			return true
		}
	}
	return false
}

// askAnsible hands the call over to ansible-core, which is on this machine: its documentation is in Python's files, with fragments that only
// its loaders put together.
func (j *docJob) askAnsible(ctx context.Context, p ansiblePython) error {
	args := j.args[1:]
	if j.name == "hark" {
		for len(args) > 0 && args[0] != "doc" {
			args = args[1:]
		}
		args = args[min(1, len(args)):]
	}
	python := p.path
	if !project.Exists(python) {
		python = "python3"
	}
	const program = "import sys; sys.argv[0] = 'ansible-doc'; from ansible.cli.doc import main; main()"
	cmd := exec.CommandContext(ctx, python, append([]string{"-c", program}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = j.term.In, j.term.Out, j.term.Err
	if j.term.Terminal != nil {
		cmd.Stdout = j.term.Terminal // its pager asks
	}
	path, _ := j.cfg.Getenv("PYTHONPATH")
	cmd.Env = append(cmd.Environ(), "PYTHONPATH="+strings.Trim(filepath.Dir(p.ansible)+string(os.PathListSeparator)+path, string(os.PathListSeparator)))
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return &quietError{exit.ExitCode()}
	case err != nil:
		return said.Errorf("cannot ask ansible-core for its documentation: %v", err)
	}
	return nil
}
