// Package system holds the modules that look at and set what belongs to the host as a whole: its name, its databases, its
// crontabs, the hosts it knows.
package system

import (
	"context"

	"hark/modules"
	"hark/modules/internal/tool"
)

// All are the modules of this family.
func All() []*modules.Module {
	return []*modules.Module{Cron, Cronvar, Getent, Hostname, KnownHosts, Timezone}
}

// run runs a tool that the host must have. Its exit code is the caller's to judge.
func run(ctx context.Context, env *modules.Env, name string, args ...string) (tool.Output, error) {
	path, err := tool.Find(env, name)
	if err != nil {
		return tool.Output{}, err
	}
	return tool.Run(ctx, env, modules.Command{Argv: append([]string{path}, args...)})
}
