package facts

import (
	"strconv"
	"strings"

	"hark/modules/internal/fsx"
)

func hardware(p *probe) {
	processors(p)
	memoryFacts(p)
	firmware(p)
	blockDevices(p)
	if first, _, ok := strings.Cut(content("/proc/uptime"), "."); ok {
		if n, err := strconv.Atoi(first); err == nil {
			p.set("uptime_seconds", n)
		}
	}
	volumes(p)
	mounts(p)
}

// cpuCount is what /proc/cpuinfo adds up to.
type cpuCount struct {
	names                         []string
	entries, vendors, models, cpu int
	sockets, cores                ordered
}

// ordered is a map of counts that knows what came first.
type ordered struct {
	keys []string
	vals map[string]int
}

func (o *ordered) set(key string, n int) {
	if o.vals == nil {
		o.vals = map[string]int{}
	}
	if _, ok := o.vals[key]; !ok {
		o.keys = append(o.keys, key)
	}
	o.vals[key] = n
}

func (o *ordered) first() int {
	if len(o.keys) == 0 {
		return 0
	}
	return o.vals[o.keys[0]]
}

func processors(p *probe) {
	c := countCPUs(lines("/proc/cpuinfo"))
	if c.names == nil {
		return
	}
	n := c.entries
	if c.vendors > 0 && c.vendors == c.models {
		n = c.vendors
	}
	for _, prefix := range []string{"armv", "aarch", "ppc"} {
		if strings.HasPrefix(p.text("architecture"), prefix) {
			n = c.cpu
		}
	}
	p.set("processor", c.names)
	if p.text("architecture") == "s390x" {
		return
	}
	count, cores := n, 1
	if len(c.sockets.keys) > 0 {
		count = len(c.sockets.keys)
	}
	if s := c.sockets.first(); s > 0 {
		cores = s
	}
	threads := 1 / cores
	if len(c.cores.keys) > 0 {
		threads = c.cores.first() / cores
	}
	p.set("processor_count", count)
	p.set("processor_cores", cores)
	p.set("processor_threads_per_core", threads)
	p.set("processor_vcpus", threads*count*cores)
	p.set("processor_nproc", usableCPUs(c.cpu))
}

func countCPUs(text []string) cpuCount {
	var c cpuCount
	socket, core := "0", "0"
	for _, line := range text {
		key, val, _ := strings.Cut(line, ":")
		key, val = strings.TrimSpace(key), strings.TrimSpace(val)
		n, _ := strconv.Atoi(val)
		switch key {
		case "model name", "Processor", "vendor_id", "cpu", "Vendor", "processor":
			c.names = append(c.names, val)
			c.entries++
			switch key {
			case "vendor_id":
				c.vendors++
			case "model name":
				c.models++
			case "processor":
				c.cpu++
			}
		case "physical id":
			if socket = val; c.sockets.vals[socket] == 0 {
				c.sockets.set(socket, 1)
			}
		case "core id":
			core = val
			if _, ok := c.sockets.vals[core]; !ok { // of the sockets: a slip of Ansible's, on which the counts depend
				c.cores.set(core, 1)
			}
		case "cpu cores":
			c.sockets.set(socket, n)
		case "siblings":
			c.cores.set(core, n)
		}
	}
	return c
}

func memoryFacts(p *probe) {
	mb := map[string]int{}
	for _, line := range lines("/proc/meminfo") {
		key, val, _ := strings.Cut(line, ":")
		if f := strings.Fields(val); len(f) > 0 {
			n, _ := strconv.Atoi(f[0])
			mb[key] = n / 1024
		}
	}
	if len(mb) == 0 {
		return
	}
	for _, key := range []string{"MemTotal", "SwapTotal", "MemFree", "SwapFree"} {
		p.set(strings.ToLower(key)+"_mb", mb[key])
	}
	free := mb["Cached"] + mb["MemFree"] + mb["Buffers"]
	p.set("memory_mb", map[string]any{
		"real":    map[string]any{"total": mb["MemTotal"], "used": mb["MemTotal"] - mb["MemFree"], "free": mb["MemFree"]},
		"nocache": map[string]any{"free": free, "used": mb["MemTotal"] - free},
		"swap": map[string]any{"total": mb["SwapTotal"], "free": mb["SwapFree"], "used": mb["SwapTotal"] - mb["SwapFree"],
			"cached": mb["SwapCached"]},
	})
}

// formFactors are the chassis types of the SMBIOS specification (DSP0134), by number.
var formFactors = []string{
	"Unknown", "Other", "Unknown", "Desktop", "Low Profile Desktop", "Pizza Box", "Mini Tower", "Tower", "Portable",
	"Laptop", "Notebook",
	"Hand Held", "Docking Station", "All In One", "Sub Notebook", "Space-saving", "Lunch Box", "Main Server Chassis",
	"Expansion Chassis",
	"Sub Chassis", "Bus Expansion Chassis", "Peripheral Chassis", "RAID Chassis", "Rack Mount Chassis", "Sealed-case PC",
	"Multi-system",
	"CompactPCI", "AdvancedTCA", "Blade", "Blade Enclosure", "Tablet", "Convertible", "Detachable", "IoT Gateway",
	"Embedded PC", "Mini PC", "Stick PC",
}

// dmiNames: the fact, the kernel's file and dmidecode's keyword.
var dmiNames = []struct{ fact, file, keyword string }{
	{"bios_date", "bios_date", "bios-release-date"}, {"bios_vendor", "bios_vendor", "bios-vendor"},
	{"bios_version", "bios_version", "bios-version"},
	{"board_asset_tag", "board_asset_tag", "baseboard-asset-tag"}, {"board_name", "board_name", "baseboard-product-name"},
	{"board_serial", "board_serial", "baseboard-serial-number"},
	{"board_vendor", "board_vendor", "baseboard-manufacturer"},
	{"board_version", "board_version", "baseboard-version"},
	{"chassis_asset_tag", "chassis_asset_tag", "chassis-asset-tag"},
	{"chassis_serial", "chassis_serial", "chassis-serial-number"},
	{"chassis_vendor", "chassis_vendor", "chassis-manufacturer"},
	{"chassis_version", "chassis_version", "chassis-version"}, {"form_factor", "chassis_type", "chassis-type"},
	{"product_name", "product_name", "system-product-name"}, {"product_serial", "product_serial", "system-serial-number"},
	{"product_uuid", "product_uuid", "system-uuid"}, {"product_version", "product_version", "system-version"},
	{"system_vendor", "sys_vendor", "system-manufacturer"},
}

func firmware(p *probe) {
	const dir = "/sys/devices/virtual/dmi/id/"
	kernel := fsx.Exists(dir + "product_name")
	tool := p.env.LookPath("dmidecode") != ""
	for _, d := range dmiNames {
		text := ""
		if kernel {
			text = content(dir + d.file)
		} else if tool {
			out, _ := p.runKnown("", "dmidecode", "-s", d.keyword)
			text = uncommented(out)
		}
		if n, err := strconv.Atoi(text); kernel && d.fact == "form_factor" && err == nil {
			if n < len(formFactors) {
				text = formFactors[n]
			} else {
				text = "unknown (" + text + ")"
			}
		}
		p.set(d.fact, orNA(text))
	}
}

func uncommented(text string) string {
	var keep []string
	for _, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "#") && line != "" {
			keep = append(keep, line)
		}
	}
	return strings.Join(keep, "")
}
