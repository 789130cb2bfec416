package facts

import (
	"regexp"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"hark/modules/internal/fsx"
)

// selinux reads the kernel's interface: no library is needed for what the facts hold.
func selinux(p *probe) {
	p.set("selinux_python_present", true)
	out := map[string]any{"status": "disabled"}
	p.set("selinux", out)
	const mount = "/sys/fs/selinux"
	if !fsx.Exists(mount + "/enforce") {
		return
	}
	modes := map[string]string{"1": "enforcing", "0": "permissive"}
	out["status"] = "enabled"
	out["policyvers"] = contentOr(mount+"/policyvers", "unknown")
	out["mode"] = orUnknown(modes[content(mount+"/enforce")])
	settings := pairs(content("/etc/selinux/config"), "=", map[string]string{"SELINUX": "mode", "SELINUXTYPE": "type"})
	out["config_mode"] = orUnknown(settings["mode"])
	out["type"] = orUnknown(settings["type"])
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func apparmor(p *probe) {
	status := "disabled"
	if fsx.Exists("/sys/kernel/security/apparmor") {
		status = "enabled"
	}
	p.set("apparmor", map[string]any{"status": status})
}

func fips(p *probe) { p.set("fips", content("/proc/sys/crypto/fips_enabled") == "1") }

// chroot compares our root with that of process 1; who may not look there asks whether the root has the
// inode number that roots of file systems have.
func chroot(p *probe) {
	if p.env.Getenv("debian_chroot") != "" {
		p.set("is_chroot", true)
		return
	}
	var mine, first unix.Stat_t
	if unix.Stat("/", &mine) != nil {
		return
	}
	if unix.Stat("/proc/1/root/.", &first) == nil {
		p.set("is_chroot", mine.Ino != first.Ino || mine.Dev != first.Dev)
		return
	}
	p.set("is_chroot", mine.Ino != rootInode())
}

var currentCaps = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^Current:(.*)$`) })

func capabilities(p *probe) {
	p.set("system_capabilities_enforced", "N/A")
	p.set("system_capabilities", "N/A")
	out, ok := p.runKnown(capabilityLines(), "capsh", "--print")
	if !ok {
		return
	}
	enforced, caps := "NA", []string{}
	if m := currentCaps().FindStringSubmatch(out); m != nil {
		set := strings.SplitN(m[1], ":", 2)[0]
		if strings.TrimSpace(set) == "=ep" {
			enforced = "False"
		} else {
			enforced = "True"
			if parts := strings.Split(set, "="); len(parts) > 1 {
				for _, name := range strings.Split(parts[1], ",") {
					caps = append(caps, strings.TrimSpace(name))
				}
			}
		}
	}
	p.set("system_capabilities_enforced", enforced)
	p.set("system_capabilities", caps)
}
