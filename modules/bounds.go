package modules

import (
	"context"
	"errors"
	"path/filepath"

	"hark/modules/internal/hostfs"
)

// Bounds are what the host's policy forbids a call, whatever its arguments say. They come from the agent, never from a
// message.
type Bounds struct {
	// NoPrograms, if set, says why the module may start no program.
	NoPrograms string `json:"no_programs,omitempty"`
	// Paths are the only directories in which the module may open files; with none it may open files everywhere. It runs
	// in a process that is confined to them.
	Paths []string `json:"paths,omitempty"`
}

// Confine confines the whole process to the paths from now on, if there are any: it is for processes that run only
// modules.
func (b Bounds) Confine() error {
	if len(b.Paths) == 0 {
		return nil
	}
	return hostfs.Confine(b.Paths)
}

// kept returns an error unless the process keeps a module to its paths.
func (b Bounds) kept(m *Module) error {
	if len(b.Paths) > 0 && !(hostfs.Confined() && m.Has(OpensByPath)) {
		return errors.New("internal error: the module " + m.Name +
			" is not confined to the paths that this host's policy allows")
	}
	return nil
}

// bounded returns the Env of a module that keeps its bounds: every program that it starts goes through Env.Exec.
func (e *Env) bounded() *Env {
	if e.Bounds.NoPrograms == "" {
		return e
	}
	own := *e
	own.Exec = func(_ context.Context, c Command) (Output, error) {
		return Output{}, errors.New("this host's policy does not allow it: to start " + c.Program() + ": " +
			e.Bounds.NoPrograms)
	}
	return &own
}

// Program returns the name of the program that a command starts.
func (c Command) Program() string {
	switch {
	case c.Shell != "" && c.Executable != "":
		return filepath.Base(c.Executable)
	case c.Shell != "":
		return "sh"
	case len(c.Argv) > 0:
		return filepath.Base(c.Argv[0])
	}
	return "a program"
}
