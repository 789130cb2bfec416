package tool

import (
	"context"

	"hark/modules"
)

// Host runs the programs of the host for one call of a module.
type Host struct {
	Ctx context.Context
	Env *modules.Env
	// Environ is added to the environment of each program: NAME=value.
	Environ []string
}

// Run runs a program that the host must have, by its name. Its exit code is the caller's to judge.
func (h Host) Run(program string, args ...string) (Output, error) {
	path, err := Find(h.Env, program)
	if err != nil {
		return Output{}, err
	}
	return Run(h.Ctx, h.Env, modules.Command{Argv: append([]string{path}, args...), Env: h.Environ})
}

// Must is Run for a program that must succeed: another exit code is a failure with what it printed.
func (h Host) Must(program string, args ...string) (Output, error) {
	out, err := h.Run(program, args...)
	if err == nil {
		err = out.Check()
	}
	return out, err
}
