package all

import (
	"context"

	"hark/modules"
)

// foreignNames are the modules of ansible-core 2.14 to 2.19 for Linux. Those that are native are in their families.
func foreignNames() []string {
	return []string{
		"apt", "apt_key", "apt_repository", "cron", "deb822_repository", "debconf", "dnf", "dnf5", "dpkg_selections", "expect",
		"gather_facts", "get_url", "getent", "git", "group", "hostname", "iptables", "known_hosts", "mount_facts", "package",
		"package_facts", "pip", "reboot", "rpm_key", "service", "service_facts", "setup", "subversion", "systemd",
		"sysvinit", "uri", "user", "wait_for", "yum", "yum_repository",
	}
}

// missing stands for the modules of ansible-core that are not among native: a playbook may name them, in a task for
// another kind of host, but a task that runs one fails and says why.
func missing(native []*modules.Module) []*modules.Module {
	have := map[string]bool{}
	for _, m := range native {
		have[m.Name] = true
		for _, other := range m.OtherNames {
			have[other] = true
		}
	}
	var list []*modules.Module
	for _, short := range foreignNames() {
		if name := "ansible.builtin." + short; !have[name] {
			list = append(list, foreignModule(name))
		}
	}
	return list
}

type anyArgs struct {
	Args map[string]any `arg:"*"`
}

func foreignModule(name string) *modules.Module {
	return modules.Define(name, "Not native: a task that runs it fails.",
		func(context.Context, *modules.Env, anyArgs) (modules.Result, error) {
			return modules.Fail("%s is not native to hark, and modules written in Python do not run here", name)
		},
		modules.With(func(m *modules.Module) { m.AnyArgs, m.FreeForm, m.Foreign = true, true, true }))
}
