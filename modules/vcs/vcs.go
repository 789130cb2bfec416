// Package vcs holds the modules that check out working copies with the host's own version control programs.
package vcs

import (
	"context"
	"path/filepath"

	"hark/modules"
	"hark/modules/internal/tool"
)

// All are the modules of this family.
func All() []*modules.Module { return []*modules.Module{Git, Subversion} }

// program is a version control program with what all its runs have in common.
type program struct {
	ctx  context.Context
	env  *modules.Env
	path string
	// environ is added to the environment of each run.
	environ []string
	umask   *uint32
}

// run runs the program in a directory; one that is not there yet counts as none.
func (p *program) run(dir string, args ...string) (tool.Output, error) {
	return tool.Run(p.ctx, p.env, modules.Command{Argv: append([]string{p.path}, args...), Dir: dir, Env: p.environ, Umask: p.umask})
}

// must is run for what has to succeed.
func (p *program) must(dir string, args ...string) (tool.Output, error) {
	out, err := p.run(dir, args...)
	if err == nil {
		err = out.Check()
	}
	return out, err
}

// absolute makes a path absolute without looking at links.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
