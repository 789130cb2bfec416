package modules

import (
	"context"
	"errors"
	"path/filepath"
)

// Bounds are what the host's policy does not let a call do, whatever its arguments say. They come from the agent, never from a message.
type Bounds struct {
	// NoPrograms, if set, says why the module may start no program.
	NoPrograms string `json:"no_programs,omitempty"`
}

// bounded is the Env of a module that keeps its bounds: every program that it starts goes through Env.Exec.
func (e *Env) bounded() *Env {
	if e.Bounds.NoPrograms == "" {
		return e
	}
	own := *e
	own.Exec = func(_ context.Context, c Command) (Output, error) {
		return Output{}, errors.New("this host's policy does not allow it: to start " + c.Program() + ": " + e.Bounds.NoPrograms)
	}
	return &own
}

// Program is the name of the program that a command starts.
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
