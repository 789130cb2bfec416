package call

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"hark/agent/internal/login"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
)

// Env is the Env of one call, with the warnings that the module gives. It is safe for concurrent use.
type Env struct {
	*modules.Env

	mu       sync.Mutex
	warnings []string // guarded by mu
}

// Env makes what a module has that runs on this host; origin is the host whose step it is, ask puts its questions. What
// only a session can offer (Render, Var, Source, ...) is left to the session.
func (h Host) Env(c wire.Call, mod *modules.Module, origin string, ask Ask) (*Env, error) {
	environ, err := h.environ(c.User.User)
	if err != nil {
		return nil, err
	}
	environ = slices.Clip(environ)
	for _, k := range slices.Sorted(maps.Keys(c.Environment)) {
		environ = append(environ, k+"="+c.Environment[k])
	}
	env := &Env{}
	files := files{cache: h.Open, ask: ask, together: newExpected(ask)}
	env.Env = &modules.Env{
		Check: c.Check, Diff: c.Diff, NoLog: c.NoLog, Verbosity: c.Verbosity, Release: modules.Release(c.Level),
		Invocation: c.Invocation, User: c.User.User,
		Environ: environ, Name: c.Name, Host: origin, Task: c.Task, Interpreter: c.Interpreter,
		Open: files.open, Expect: files.together.expect, Upload: files.upload, RemoteSum: files.remoteSum, Warn: env.warn,
	}
	if h.Exec != nil {
		env.Env.Exec = h.Exec(environ)
	} else {
		env.Env.Exec = func(ctx context.Context, c modules.Command) (modules.Output, error) {
			var err error
			if c.Limits, err = login.OfService(); err != nil {
				return modules.Output{}, err
			}
			return modules.LiveExec(environ, nil, env.Env.Live)(ctx, c) // the session sets Live later
		}
	}
	if mod.Has(modules.AsksForJobs) {
		env.Env.Asks.Job = h.Jobs.Tell
	}
	return env, nil
}

// mostWarnings is how many warnings of a call are kept: a module may warn for ever.
const mostWarnings = 1000

func (env *Env) warn(format string, args ...any) {
	env.mu.Lock()
	defer env.mu.Unlock()
	if len(env.warnings) == mostWarnings {
		return
	}
	env.warnings = append(env.warnings, fmt.Sprintf(format, args...))
}

// Warnings takes the warnings that were given since the last time.
func (env *Env) Warnings() []string {
	env.mu.Lock()
	defer env.mu.Unlock()
	out := env.warnings
	env.warnings = nil
	return out
}

// Merge adds the warnings to a module's result.
func (env *Env) Merge(res *value.Dict) *value.Dict {
	given := env.Warnings()
	if len(given) == 0 {
		return res
	}
	have, _ := res.Get("warnings")
	items, _ := value.Items(have)
	all := value.NewList(items...)
	for _, w := range given {
		all.Items = append(all.Items, value.UnsafeStr(w))
	}
	res.Put("warnings", all)
	return res
}
