// Package disktools runs the programs by which modules change partitions, volumes and file systems, and reads what they print.
package disktools

import (
	"context"
	"strings"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

// Host runs the programs of one call of a module.
type Host struct {
	Ctx context.Context
	Env *modules.Env
}

// Run runs a program that the host must have; the exit code is the caller's to judge.
func (h Host) Run(program string, args ...string) (tool.Output, error) {
	path, err := tool.Find(h.Env, program)
	if err != nil {
		return tool.Output{}, err
	}
	return tool.Run(h.Ctx, h.Env, modules.Command{Argv: append([]string{path}, args...), Env: []string{"LANG=C", "LC_ALL=C", "LC_MESSAGES=C", "LC_CTYPE=C"}})
}

// Must is run for a program that must succeed.
func (h Host) Must(program string, args ...string) (tool.Output, error) {
	out, err := h.Run(program, args...)
	if err == nil {
		err = out.Check()
	}
	return out, err
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
