package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/ansible/docs"
	"hark/controller/internal/ansible/project"
)

// beyondHark reports whether the call is ansible-core's. Called as ansible-doc, all is that it has itself: editors
// and scripts read its words and its data. As hark doc, it is what hark has no description of: plug-ins of
// collections, roles, lists of everything.
func (j *docJob) beyondHark(p ansiblePython) bool {
	if j.name == "ansible-doc" {
		return len(j.names) == 0 || j.list || j.file || j.dump || slices.ContainsFunc(j.names,
			func(name string) bool { return j.hasAnsible(p, name) })
	}
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
	return slices.ContainsFunc(j.names, func(name string) bool { return j.described(name) == "" })
}

// described returns the full name of what hark describes under a name, "" for what it does not.
func (j *docJob) described(name string) string {
	if j.kind == "module" {
		if m, ok := j.modules.Get(name); ok {
			return m.Name
		}
		return ""
	}
	if p, ok := docs.Find(j.kind, name); ok {
		return p.FullName()
	}
	return ""
}

// hasAnsible reports whether a name is left to ansible-core: all that hark does not describe, and of that what is in
// ansible-core or in an installed collection.
func (j *docJob) hasAnsible(p ansiblePython, name string) bool {
	full := j.described(name)
	at := strings.LastIndexByte(full, '.')
	switch {
	case at < 0:
		return true
	case full[:at] != "ansible.builtin":
		return hasCollection(j.app, full[:at])
	}
	return j.kind != "module" || project.Exists(filepath.Join(p.ansible, "modules", full[at+1:]+".py"))
}

// askAnsible hands the call over to ansible-core, which is on this machine: its documentation is in Python's files,
// with fragments that only its loaders put together.
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
	cmd.Env = append(cmd.Environ(), "PYTHONPATH="+strings.Trim(filepath.Dir(p.ansible)+string(os.PathListSeparator)+path,
		string(os.PathListSeparator)))
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return &quietError{exit.ExitCode()}
	case err != nil:
		return ansibleerror.Errorf("cannot ask ansible-core for its documentation: %v", err)
	}
	return nil
}
