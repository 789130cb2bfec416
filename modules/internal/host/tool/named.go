package tool

import (
	"context"

	"hark/modules"
)

// RunNamed runs a tool that the host must have. Its exit code is the caller's to judge.
func RunNamed(ctx context.Context, env *modules.Env, name string, args ...string) (Output, error) {
	path, err := Find(env, name)
	if err != nil {
		return Output{}, err
	}
	return Run(ctx, env, modules.Command{Argv: append([]string{path}, args...)})
}
