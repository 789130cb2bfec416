package builtin

import (
	"context"

	"hark/modules"
	"hark/modules/py/value"
)

// Raw runs a line through the login shell's place, /bin/sh, and adds nothing to it.
var Raw = modules.Define("ansible.builtin.raw", "Executes a low-down and dirty command.", runRaw,
	modules.Is(modules.ReadsInCheck), modules.Is(modules.StartsNoPython|modules.IsAction),
	modules.With(func(m *modules.Module) {
		m.FreeForm, m.AnyArgs = true, true
		m.Examples = "- ansible.builtin.raw: cat < /tmp/*txt\n  args: {executable: /bin/bash}\n"
		m.Returns = commandReturns()[1:4]
	}), modules.RunsPrograms)

type rawArgs struct {
	RawParams  string  `arg:"_raw_params" doc:"The command line."`
	Executable *string `arg:"executable" doc:"The shell to use."`
}

func runRaw(ctx context.Context, env *modules.Env, a rawArgs) (modules.Result, error) {
	if env.Check {
		return modules.Result{Skipped: true}, nil
	}
	return lowLevel(ctx, env, modules.Command{Shell: a.RawParams, Executable: modules.Text(a.Executable)})
}

// lowLevel runs a line and gives the result of Ansible's low-level actions.
func lowLevel(ctx context.Context, env *modules.Env, c modules.Command) (modules.Result, error) {
	if c.Shell == "" {
		c.Shell = ":"
	}
	c.ToEnd = true // as the connections of Ansible
	c.MaxOutput = modules.KeptOutput
	out, err := env.Exec(ctx, c)
	if err != nil {
		return modules.Result{}, err
	}
	env.WarnOfDropped(out)
	r := modules.Result{Changed: true, Data: value.DictOf(
		"rc", int64(out.Rc), "stdout", modules.Printed(out.Stdout), "stderr", modules.Printed(out.Stderr), "changed",
		modules.Here,
	)}
	if out.Rc != 0 {
		r.Failed, r.Msg = true, "non-zero return code"
	}
	return r, nil
}
