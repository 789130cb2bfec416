package facts

import (
	"os"
	"regexp"
	"sort"
	"strings"
	"sync"

	"hark/modules/internal/fsx"
)

// virtualization collects the signs of being a guest or a host. The first sign decides the type and role.
type virtualization struct {
	kind, role  string
	guest, host map[string]bool
}

func (v *virtualization) isGuest(kind string) { v.sign(v.guest, kind, "guest") }
func (v *virtualization) isHost(kind string)  { v.sign(v.host, kind, "host") }

func (v *virtualization) sign(set map[string]bool, kind, role string) {
	set[kind] = true
	if v.kind == "" {
		v.kind, v.role = kind, role
	}
}

func virtual(p *probe) {
	v := &virtualization{guest: map[string]bool{}, host: map[string]bool{}}
	v.containers()
	v.xen()
	v.firmware()
	v.processor()
	v.modules()
	v.dmidecode(p)
	if fsx.Exists("/dev/kvm") {
		v.isHost("kvm")
	}
	if v.kind == "" {
		v.kind, v.role = "NA", "NA"
	}
	p.set("virtualization_type", v.kind)
	p.set("virtualization_role", v.role)
	p.set("virtualization_tech_guest", sorted(v.guest))
	p.set("virtualization_tech_host", sorted(v.host))
}

func sorted(set map[string]bool) []string {
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

var dockerGroup = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/docker(/|-[0-9a-f]+\.scope)`) })

func (v *virtualization) containers() {
	for _, line := range lines("/proc/1/cgroup") {
		switch {
		case dockerGroup().MatchString(line):
			v.isGuest("docker")
		case strings.Contains(line, "/lxc/"), strings.Contains(line, "/machine.slice/machine-lxc"):
			v.isGuest("lxc")
		case strings.Contains(line, "/system.slice/containerd.service"):
			v.isGuest("containerd")
		}
	}
	environ, _ := os.ReadFile("/proc/1/environ")
	for _, entry := range strings.Split(string(environ), "\x00") {
		if strings.Contains(entry, "container=lxc") {
			v.isGuest("lxc")
		}
		if strings.Contains(entry, "container=podman") {
			v.isGuest("podman")
		}
		if name, ok := strings.CutPrefix(entry, "container="); ok && name != "" {
			v.isGuest("container")
		}
	}
	if fsx.Exists("/proc/vz") && !fsx.Exists("/proc/lve") {
		if fsx.Exists("/proc/bc") {
			v.isHost("openvz")
		} else {
			v.isGuest("openvz")
		}
	}
	manager := content("/run/systemd/container")
	if manager != "" {
		v.isGuest(manager)
	}
	if fsx.Exists("/.dockerenv") || fsx.Exists("/.dockerinit") {
		v.isGuest("docker")
	}
	for _, kind := range []string{"docker", "lxc", "podman", "openvz", "containerd", manager} {
		if kind != "" && v.guest[kind] {
			v.guest["container"] = true
		}
	}
}

func (v *virtualization) xen() {
	if !fsx.Exists("/proc/xen") {
		return
	}
	if strings.Contains(content("/proc/xen/capabilities"), "control_d") {
		v.isHost("xen")
	} else if v.kind == "" {
		v.kind, v.role = "xen", "guest"
	}
}

func (v *virtualization) firmware() {
	const dmi = "/sys/devices/virtual/dmi/id/"
	product, vendor, bios := content(dmi+"product_name"), content(dmi+"sys_vendor"), content(dmi+"bios_vendor")
	if kind := map[string]string{
		"KVM": "kvm", "KVM Server": "kvm", "Bochs": "kvm", "AHV": "kvm", "VMware Virtual Platform": "VMware",
		"VMware7,1":         "VMware",
		"OpenStack Compute": "openstack", "OpenStack Nova": "openstack",
	}[product]; kind != "" {
		v.isGuest(kind)
	}
	if vendor == "Red Hat" && content(dmi+"product_family") == "RHV" {
		v.isGuest("RHV")
	} else if vendor == "Red Hat" && product == "RHEV Hypervisor" {
		v.isGuest("RHEV")
	}
	if kind := map[string]string{
		"Xen": "xen", "innotek GmbH": "virtualbox", "Amazon EC2": "kvm", "DigitalOcean": "kvm", "Hetzner": "kvm",
	}[bios]; kind != "" {
		v.isGuest(kind)
	}
	if kind := map[string]string{
		"oVirt": "oVirt", "QEMU": "kvm", "Amazon EC2": "kvm", "DigitalOcean": "kvm", "Google": "kvm", "Scaleway": "kvm",
		"Nutanix":  "kvm",
		"KubeVirt": "KubeVirt", "Microsoft Corporation": "VirtualPC", "Parallels Software International Inc.": "parallels",
		"OpenStack Foundation": "openstack",
	}[vendor]; kind != "" {
		v.isGuest(kind)
	}
}

// processorSign is a line of /proc/cpuinfo that shows a kind of virtual machine.
type processorSign struct {
	re   *regexp.Regexp
	kind string
}

var processorSigns = sync.OnceValue(func() []processorSign {
	return []processorSign{
		{regexp.MustCompile(`^model name.*QEMU Virtual CPU`), "kvm"},
		{regexp.MustCompile(`^vendor_id.*User Mode Linux`), "uml"},
		{regexp.MustCompile(`^model name.*UML`), "uml"},
		{regexp.MustCompile(`^machine.*CHRP IBM pSeries .emulated by qemu.`), "kvm"},
		{regexp.MustCompile(`^vendor_id.*PowerVM Lx86`), "powervm_lx86"},
		{regexp.MustCompile(`^vendor_id.*IBM/S390`), "ibm_systemz"},
	}
})

func (v *virtualization) processor() {
	for _, line := range lines("/proc/cpuinfo") {
		for _, s := range processorSigns() {
			if s.re.MatchString(line) {
				v.isGuest(s.kind)
			}
		}
	}
}

func (v *virtualization) modules() {
	loaded := map[string]bool{}
	for _, line := range lines("/proc/modules") {
		loaded[strings.SplitN(line, " ", 2)[0]] = true
	}
	if loaded["kvm"] {
		v.isHost("kvm")
	}
	if loaded["vboxdrv"] {
		v.isHost("virtualbox")
	}
	if loaded["virtio"] {
		v.host["kvm"] = true
		if v.kind == "" {
			v.kind, v.role = "kvm", "guest"
		}
	}
}

func (v *virtualization) dmidecode(p *probe) {
	out, ok := p.runKnown("", "dmidecode", "-s", "system-product-name")
	if !ok {
		return
	}
	var name strings.Builder
	for _, line := range strings.Split(out, "\n") {
		if !strings.HasPrefix(line, "#") {
			name.WriteString(strings.TrimSpace(line))
		}
	}
	if strings.HasPrefix(name.String(), "VMware") {
		v.isGuest("VMware")
	}
	if strings.Contains(out, "BHYVE") {
		v.isGuest("bhyve")
	}
}
