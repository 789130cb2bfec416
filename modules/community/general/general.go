// Package general holds modules of the collection community.general, a file each, named as the module.
package general

import (
	"context"

	"hark/modules"
	"hark/modules/internal/host/tool"
)

// All returns the modules of the collection.
func All() []*modules.Module {
	return []*modules.Module{
		Alternatives,
		Archive,
		Capabilities,
		IniFile,
		LocaleGen,
		Modprobe,
		Npm,
		Timezone,
		Ufw,
	}
}

// hostOf runs the host's programs for a call of a module, in the language that modules read.
func hostOf(ctx context.Context, env *modules.Env) tool.Host {
	return tool.Host{Ctx: ctx, Env: env, Environ: []string{"LC_ALL=C"}}
}
