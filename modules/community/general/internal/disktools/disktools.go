// Package disktools runs the programs by which modules change partitions, volumes and file systems, and reads what they print.
package disktools

import (
	"context"
	"strings"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

// Host runs the programs of one call of a module, in the language that modules read.
func Host(ctx context.Context, env *modules.Env) tool.Host {
	return tool.Host{Ctx: ctx, Env: env, Environ: []string{"LANG=C", "LC_ALL=C", "LC_MESSAGES=C", "LC_CTYPE=C"}}
}

// Failed is a failure with what a program said.
func Failed(out tool.Output, format string, a ...any) error {
	return tool.Fail(value.DictOf("rc", int64(out.Rc), "err", out.Stderr), format, a...)
}

// Rows are the fields of a report of LVM, parted by semicolons.
func Rows(out string) [][]string {
	var list [][]string
	for line := range strings.Lines(out) {
		list = append(list, strings.Split(strings.TrimSpace(line), ";"))
	}
	return list
}
