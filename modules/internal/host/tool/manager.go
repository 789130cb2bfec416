package tool

import (
	"os"
	"path/filepath"
	"strings"

	"hark/modules"
	"hark/modules/internal/fsx"
)

// ServiceManager names what starts services on this host, as the fact service_mgr does: systemd (also where it is
// only installed, as in a container's image), sysvinit, openrc, upstart, runit and others by the name of process 1;
// service if nothing is known.
func ServiceManager(env *modules.Env) string {
	if name := firstProcess(); name != "" {
		return name
	}
	init, _ := os.Readlink("/sbin/init")
	systemctl := env.LookPath("systemctl") != ""
	switch {
	case fsx.Exists("/etc/openwrt_release"):
		return "openwrt_init"
	case systemctl &&
		(fsx.Exists("/run/systemd/system/") || fsx.Exists("/dev/.run/systemd/") || fsx.Exists("/dev/.systemd/")):
		return "systemd"
	case env.LookPath("initctl") != "" && fsx.Exists("/etc/init/"):
		return "upstart"
	case fsx.Exists("/sbin/openrc"):
		return "openrc"
	case systemctl && filepath.Base(init) == "systemd":
		return "systemd"
	case fsx.Exists("/etc/init.d/"):
		return "sysvinit"
	}
	return "service"
}

// firstProcess returns what process 1 says about the service manager. Many systems call it init, and a shell is only a
// container's.
func firstProcess() string {
	comm, err := os.ReadFile("/proc/1/comm")
	name := filepath.Base(strings.TrimSpace(string(comm)))
	if err != nil {
		target, err := os.Readlink("/sbin/init")
		if err != nil {
			return ""
		}
		name = filepath.Base(target)
	}
	if name == "init" || strings.HasSuffix(name, "sh") {
		return ""
	}
	switch name {
	case "procd":
		return "openwrt_init"
	case "runit-init":
		return "runit"
	case "svscan":
		return "svc"
	case "openrc-init":
		return "openrc"
	}
	return name
}
