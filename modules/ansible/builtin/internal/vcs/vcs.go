// Package vcs runs the host's own version control programs, for the modules that check out working copies.
package vcs

import (
	"context"
	"path/filepath"

	"hark/modules"
	"hark/modules/internal/host/tool"
)

// Program is a version control program with what all its runs have in common.
type Program struct {
	Ctx  context.Context
	Env  *modules.Env
	Path string
	// Environ is added to the environment of each run.
	Environ []string
	Umask   *uint32
}

// Run runs the program in a directory; one that is not there yet counts as none.
func (p *Program) Run(dir string, args ...string) (tool.Output, error) {
	return tool.Run(p.Ctx, p.Env, modules.Command{Argv: append([]string{p.Path}, args...), Dir: dir, Env: p.Environ,
		Umask: p.Umask})
}

// Must is run for what has to succeed.
func (p *Program) Must(dir string, args ...string) (tool.Output, error) {
	out, err := p.Run(dir, args...)
	if err == nil {
		err = out.Check()
	}
	return out, err
}

// Absolute makes a path absolute without looking at links.
func Absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
