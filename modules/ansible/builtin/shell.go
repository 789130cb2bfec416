package builtin

import (
	"context"
	"slices"

	"hark/modules"
)

// Shell runs a line through a shell.
var Shell = modules.Define("ansible.builtin.shell", "Execute shell commands on targets.",
	func(ctx context.Context, env *modules.Env, a commandArgs) (modules.Result, error) {
		return runCommand(ctx, env, a)
	},
	modules.With(func(m *modules.Module) {
		m.FreeForm, m.ReportsAs = true, "ansible.legacy.command"
		// It is command with this argument, and its results say so.
		at := slices.IndexFunc(m.Params, func(p modules.Param) bool { return p.Name == "_uses_shell" })
		m.Params[at].Default = true
		m.Examples = `- ansible.builtin.shell: grep -c error *.log > count.txt
  args: {chdir: /var/log/app, creates: count.txt, executable: /bin/bash}
`
		m.Returns = commandReturns()
	}), modules.RunsPrograms)
