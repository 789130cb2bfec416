package facts

import (
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// deviceLinks are the names under /dev/disk and the device-mapper parents, by device.
type deviceLinks map[string]map[string][]string

// plain returns the links as facts hold them.
func (l deviceLinks) plain() map[string]any {
	out := map[string]any{}
	for kind, byDevice := range l {
		names := map[string]any{}
		for device, list := range byDevice {
			names[device] = list
		}
		out[kind] = names
	}
	return out
}

func blockDevices(p *probe) {
	links := deviceLinks{
		"ids": linksTo("/dev/disk/by-id"), "uuids": linksTo("/dev/disk/by-uuid"), "labels": linksTo("/dev/disk/by-label"),
		"masters": masters(),
	}
	p.set("device_links", links.plain())
	pci, _ := p.runKnown(pciDevices()+stampOf("/usr/share/misc/pci.ids"), "lspci", "-D")
	devices := map[string]any{}
	for _, name := range entries("/sys/block") {
		dir := sysDir(name)
		devices[filepath.Base(dir)] = blockDevice(p, dir, links, pci)
	}
	p.set("devices", devices)
}

func sysDir(name string) string {
	target, err := os.Readlink("/sys/block/" + name)
	if err != nil {
		return "/sys/block/" + name
	}
	return filepath.Join("/sys/block", target)
}

var (
	activeScheduler = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[(.*)\]`) })
	pciAddress      = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`.+/([a-f0-9]{4}:[a-f0-9]{2}:[0|` + `1][a-f0-9]\.[0-7])/`)
	})
	sgSerial = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:Unit serial|Serial) ` + `number:\s+(\w+)`)
	})
)

func blockDevice(p *probe, dir string, links deviceLinks, pci string) map[string]any {
	name := filepath.Base(dir)
	// "virtual" is 1 for every device of a kernel that has links in /sys/block: so Ansible has it.
	d := map[string]any{"virtual": 1, "links": links.of(name), "partitions": map[string]any{}, "host": "",
		"scheduler_mode": ""}
	for _, key := range []string{"vendor", "model", "sas_address", "sas_device_handle"} {
		d[key] = contentOr(dir+"/device/"+key, nil)
	}
	if out, ok := p.runBlock("sg_inq", "/dev/"+name); ok {
		if m := sgSerial().FindStringSubmatch(out); m != nil {
			d["serial"] = m[1]
		}
	} else if serial := content("/sys/block/" + name + "/device/serial"); serial != "" {
		d["serial"] = serial
	}
	d["removable"] = contentOr(dir+"/removable", nil)
	d["support_discard"] = contentOr(dir+"/queue/discard_granularity", nil)
	d["rotational"] = contentOr(dir+"/queue/rotational", nil)
	for _, link := range links["ids"][name] {
		if wwn, ok := strings.CutPrefix(link, "wwn-"); ok {
			d["wwn"] = wwn
		}
	}
	if m := activeScheduler().FindStringSubmatch(content(dir + "/queue/scheduler")); m != nil {
		d["scheduler_mode"] = m[1]
	}
	size(d, dir, "size")
	if m := pciAddress().FindStringSubmatch(dir); m != nil {
		for _, line := range strings.Split(pci, "\n") {
			if text, ok := strings.CutPrefix(line, m[1]+" "); ok {
				d["host"] = text
			}
		}
	}
	d["holders"] = holders(dir)
	partition := regexp.MustCompile("^" + regexp.QuoteMeta(name) + `p?\d+$`)
	parts := map[string]any{}
	for _, entry := range entries(dir) {
		if partition.MatchString(entry) {
			parts[entry] = partitionFacts(dir+"/"+entry, entry, links)
		}
	}
	d["partitions"] = parts
	return d
}

func partitionFacts(dir, name string, links deviceLinks) map[string]any {
	part := map[string]any{"links": links.of(name), "start": contentOr(dir+"/start", 0), "uuid": nil,
		"holders": holders(dir)}
	size(part, dir, "size")
	if uuids := links["uuids"][name]; len(uuids) > 0 {
		part["uuid"] = uuids[0]
	}
	return part
}

// size sets sectors, sectorsize and the size in words.
func size(d map[string]any, dir, file string) {
	d["sectors"] = contentOr(dir+"/"+file, 0)
	sectorSize := contentOr(dir+"/queue/logical_block_size", nil)
	if sectorSize == nil {
		sectorSize = contentOr(dir+"/queue/hw_sector_size", 512)
	}
	d["sectorsize"] = sectorSize
	n, _ := strconv.ParseFloat(content(dir+"/"+file), 64)
	d["size"] = human(n * 512)
}

// human prints bytes as Ansible's facts do: two decimals and a unit.
func human(bytes float64) string {
	for _, u := range []struct {
		limit float64
		name  string
	}{{1 << 80, "YB"}, {1 << 70, "ZB"}, {1 << 60, "EB"}, {1 << 50, "PB"}, {1 << 40, "TB"}, {1 << 30, "GB"},
		{1 << 20, "MB"}, {1 << 10, "KB"}} {
		if bytes >= u.limit {
			return strconv.FormatFloat(bytes/u.limit, 'f', 2, 64) + " " + u.name
		}
	}
	return strconv.FormatFloat(bytes, 'f', 2, 64) + " Bytes"
}

func (l deviceLinks) of(device string) map[string]any {
	out := map[string]any{}
	for kind, byDevice := range l {
		names := byDevice[device]
		if names == nil {
			names = []string{}
		}
		out[kind] = names
	}
	return out
}

// linksTo returns the names of the links in dir, by the base name of their target.
func linksTo(dir string) map[string][]string {
	out := map[string][]string{}
	for _, name := range entries(dir) {
		if target, err := os.Readlink(filepath.Join(dir, name)); err == nil {
			device := filepath.Base(target)
			out[device] = append(out[device], name)
		}
	}
	return out
}

func masters() map[string][]string {
	out := map[string][]string{}
	paths, _ := filepath.Glob("/sys/block/*/slaves/*")
	for _, path := range paths {
		f := strings.Split(path, "/")
		out[f[5]] = append(out[f[5]], f[3])
	}
	for device := range out {
		sort.Strings(out[device])
	}
	return out
}

func holders(dir string) []string {
	out := []string{}
	for _, name := range entries(dir + "/holders") {
		if !strings.HasPrefix(name, "dm-") {
			continue
		}
		if mapped := content(dir + "/holders/" + name + "/dm/name"); mapped != "" {
			name = mapped
		}
		out = append(out, name)
	}
	return out
}
