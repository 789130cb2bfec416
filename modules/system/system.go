// Package system holds the modules that look at and set what belongs to the host as a whole: its name, its databases, its
// crontabs, the hosts it knows.
package system

import (
	"context"
	"fmt"

	"hark/modules"
)

// All are the modules of this family.
func All() []*modules.Module { return []*modules.Module{Cron, Getent, Hostname, KnownHosts, Timezone} }

// ran is what a tool left.
type ran struct {
	rc             int
	stdout, stderr string
}

// run runs a tool that the host must have. Its exit code is the caller's to judge.
func run(ctx context.Context, env *modules.Env, tool string, args ...string) (ran, error) {
	path := env.LookPath(tool)
	if path == "" {
		return ran{}, fmt.Errorf("Failed to find required executable %q in paths: %s", tool, env.Getenv("PATH")) //lint:ignore ST1005 the words that users see
	}
	out, err := env.Exec(ctx, modules.Command{Argv: append([]string{path}, args...)})
	return ran{out.Rc, string(out.Stdout), string(out.Stderr)}, err
}
