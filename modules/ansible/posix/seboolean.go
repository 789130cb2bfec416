package posix

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type sebooleanArgs struct {
	Name        string `arg:"name,required" doc:"The boolean."`
	Persistent  bool   `arg:"persistent,default=no" doc:"Whether it outlives a restart."`
	State       bool   `arg:"state,required" doc:"Its value."`
	IgnoreState bool   `arg:"ignore_selinux_state,default=no" doc:"Go on although SELinux does not run, as in a chroot."`
}

// SEBoolean is ansible.posix.seboolean.
var SEBoolean = modules.Define("ansible.posix.seboolean", "Toggles SELinux booleans", runSEBoolean,
	modules.Operands("name"),
	modules.Is(modules.ReadsInCheck),
	modules.With(func(m *modules.Module) {
		m.Examples = "- ansible.posix.seboolean: {name: httpd_can_network_connect, state: true, persistent: true}\n"
	}))

func runSEBoolean(ctx context.Context, env *modules.Env, a sebooleanArgs) (modules.Result, error) {
	if runtimeMode() == "disabled" && !a.IgnoreState {
		return modules.Fail("SELinux is disabled on this host.")
	}
	raw, err := os.ReadFile(filepath.Join(selinuxFS, "booleans", filepath.Base(a.Name)))
	if err != nil && !a.IgnoreState {
		return modules.Fail("SELinux boolean %s does not exist.", a.Name)
	}
	now := strings.HasPrefix(string(raw), "1")
	if a.Persistent {
		if kept, known := persistentBoolean("/var/lib/selinux", a.Name); known {
			now = kept
		}
	}
	res := modules.Result{Changed: now != a.State, Data: value.DictOf("name", a.Name, "persistent", a.Persistent, "state",
		a.State)}
	if !res.Changed || env.Check {
		return res, nil
	}
	setsebool, err := tool.Find(env, "setsebool")
	if err != nil {
		return modules.Result{}, err
	}
	argv := []string{setsebool, a.Name, map[bool]string{true: "1", false: "0"}[a.State]}
	if a.Persistent {
		argv = []string{setsebool, "-P", a.Name, argv[2]}
	}
	out, err := tool.Run(ctx, env, modules.Command{Argv: argv})
	if err == nil && out.Rc != 0 {
		err = tool.Fail(nil, "Failed to set boolean %s to %s: %s", a.Name, argv[len(argv)-1], strings.TrimSpace(out.Stderr))
	}
	return res, err
}

// persistentBoolean is what the policy store says of a boolean that was set before; known is false for those that
// have the policy's own value.
func persistentBoolean(store, name string) (on, known bool) {
	files, _ := filepath.Glob(filepath.Join(store, "*", "active", "booleans.local"))
	for _, file := range files {
		if !fsx.IsFile(file) {
			continue
		}
		raw, _ := os.ReadFile(file)
		for _, line := range strings.Split(string(raw), "\n") {
			if key, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(key) == name {
				return strings.TrimSpace(value) == "1", true
			}
		}
	}
	return false, false
}
