package builtin

import (
	"context"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
)

// Shell runs a line through a shell.
var Shell = modules.Define("ansible.builtin.shell", "Execute shell commands on targets.",
	func(ctx context.Context, env *modules.Env, a commandArgs) (modules.Result, error) {
		return runCommand(ctx, env, a)
	}, modules.Is(modules.ReadsInCheck),
	modules.With(func(m *modules.Module) {
		m.FreeForm, m.ReportsAs = true, "ansible.legacy.command"
		m.Examples = `- ansible.builtin.shell: grep -c error *.log > count.txt
  args: {chdir: /var/log/app, creates: count.txt, executable: /bin/bash}
`
		m.Returns = commandReturns()
	}),
	// It is command with this argument, and its results say so.
	modules.WithParam("_uses_shell", func(p *modules.Param) { p.Default = value.Bool(true) }),
	modules.From(dialect.ModuleOptions219, oneCommand), modules.RunsPrograms)
