// Package storage holds the modules of community.general that deal with disks: partitions, volumes and file systems.
package storage

import (
	"context"
	"strings"

	"hark/modules"
	"hark/modules/internal/tool"
)

// All are the modules of this family.
func All() []*modules.Module {
	return []*modules.Module{Filesystem, LVG, LVol, Parted}
}

// host runs the programs of one call of a module.
type host struct {
	ctx context.Context
	env *modules.Env
}

// run runs a program that the host must have; the exit code is the caller's to judge.
func (h host) run(program string, args ...string) (tool.Output, error) {
	path, err := tool.Find(h.env, program)
	if err != nil {
		return tool.Output{}, err
	}
	return tool.Run(h.ctx, h.env, modules.Command{Argv: append([]string{path}, args...), Env: []string{"LANG=C", "LC_ALL=C", "LC_MESSAGES=C", "LC_CTYPE=C"}})
}

// must is run for a program that must succeed.
func (h host) must(program string, args ...string) (tool.Output, error) {
	out, err := h.run(program, args...)
	if err == nil {
		err = out.Check()
	}
	return out, err
}

// failed is a failure with what a program said.
func failed(out tool.Output, format string, a ...any) error {
	return tool.Fail(map[string]any{"rc": int64(out.Rc), "err": out.Stderr}, format, a...)
}

// rows are the fields of a report of LVM, parted by semicolons.
func rows(out string) [][]string {
	var list [][]string
	for line := range strings.Lines(out) {
		list = append(list, strings.Split(strings.TrimSpace(line), ";"))
	}
	return list
}
