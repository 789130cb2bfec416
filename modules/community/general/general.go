// Package general holds modules of the collection community.general, a file each, named as the module.
package general

import (
	"context"

	"hark/modules"
	"hark/modules/internal/host/tool"
)

// All are the modules of the collection.
func All() []*modules.Module {
	return []*modules.Module{
		Alternatives,
		Archive,
		Capabilities,
		Cronvar,
		DpkgDivert,
		Filesystem,
		GitConfig,
		GitConfigInfo,
		Htpasswd,
		IniFile,
		LocaleGen,
		LVG,
		LVol,
		Modprobe,
		Npm,
		PamLimits,
		Parted,
		Sudoers,
		Timezone,
		Ufw,
		XML,
	}
}

// host is what a module needs to run the host's programs.
type host struct {
	ctx context.Context
	env *modules.Env
}

// run runs a program that the host must have. Its exit code is the caller's to judge.
func (h host) run(name string, args ...string) (tool.Output, error) {
	path, err := tool.Find(h.env, name)
	if err != nil {
		return tool.Output{}, err
	}
	return tool.Run(h.ctx, h.env, modules.Command{Argv: append([]string{path}, args...), Env: []string{"LC_ALL=C"}})
}
