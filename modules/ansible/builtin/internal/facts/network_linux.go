package facts

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"hark/modules/internal/fsx"
)

// interfaceTypes are the ARPHRD numbers that Ansible names.
var interfaceTypes = map[string]string{"1": "ether", "32": "infiniband", "512": "ppp", "772": "loopback",
	"65534": "tunnel"}

// addresses is what the interfaces have, all together.
type addresses struct{ v4, v6 []string }

func network(p *probe) {
	default4, default6 := defaultRoute("8.8.8.8"), defaultRoute("2404:6800:400a:800::1012")
	all := addresses{v4: []string{}, v6: []string{}}
	interfaces := map[string]map[string]any{}
	var order []string
	for _, name := range entries("/sys/class/net") {
		dir := "/sys/class/net/" + name
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		order = append(order, name)
		interfaces[name] = linkFacts(dir, name)
		all.add(name, interfaces, default4, default6)
	}
	if p.env.LookPath("ethtool") != "" {
		asks := make([]func(), len(order))
		for i, name := range order {
			asks[i] = func() { offloads(p, name, interfaces[name]) }
		}
		together(asks...)
	}
	names := []string{}
	for _, name := range order {
		names = append(names, strings.ReplaceAll(name, ":", "_"))
	}
	for name, facts := range interfaces {
		safe := strings.ReplaceAll(name, ":", "_")
		if !slices.Contains(names, safe) {
			names = append(names, safe)
		}
		p.set(factName(safe), facts)
	}
	p.set("interfaces", names)
	p.set("default_ipv4", default4)
	p.set("default_ipv6", default6)
	p.set("all_ipv4_addresses", all.v4)
	p.set("all_ipv6_addresses", all.v6)
}

// factName returns how a fact's name is written as a variable: - and : become _.
func factName(name string) string { return strings.NewReplacer("-", "_", ":", "_").Replace(name) }

// defaultRoute returns how the host would reach an address of the internet.
func defaultRoute(dst string) map[string]any {
	out := map[string]any{}
	routes, err := netlink.RouteGet(net.ParseIP(dst))
	if err != nil || len(routes) == 0 {
		return out
	}
	r := routes[0]
	if link, err := netlink.LinkByIndex(r.LinkIndex); err == nil {
		out["interface"] = link.Attrs().Name
	}
	if r.Src != nil {
		out["address"] = r.Src.String()
	}
	if r.Gw != nil {
		out["gateway"] = r.Gw.String()
	}
	return out
}

func linkFacts(dir, name string) map[string]any {
	d := map[string]any{"device": name}
	if mac := content(dir + "/address"); mac != "" && mac != "00:00:00:00:00:00" {
		d["macaddress"] = mac
	}
	if mtu, err := strconv.Atoi(content(dir + "/mtu")); err == nil {
		d["mtu"] = mtu
	}
	if fsx.Exists(dir + "/operstate") {
		d["active"] = content(dir+"/operstate") != "down"
	}
	if module, err := filepath.EvalSymlinks(dir + "/device/driver/module"); err == nil {
		d["module"] = filepath.Base(module)
	}
	if number := content(dir + "/type"); number != "" {
		d["type"] = "unknown"
		if kind := interfaceTypes[number]; kind != "" {
			d["type"] = kind
		}
	}
	bridgeFacts(dir, d)
	bondFacts(dir, d)
	if target, err := os.Readlink(dir + "/device"); err == nil {
		d["pciid"] = filepath.Base(target)
	}
	if speed, err := strconv.Atoi(content(dir + "/speed")); err == nil {
		d["speed"] = speed
	}
	if flags, err := strconv.ParseUint(strings.TrimPrefix(content(dir+"/flags"), "0x"), 16, 32); err == nil {
		d["promisc"] = flags&unix.IFF_PROMISC != 0
	}
	return d
}

func bridgeFacts(dir string, d map[string]any) {
	if !fsx.Exists(dir + "/bridge") {
		return
	}
	d["type"] = "bridge"
	ports := entries(dir + "/brif")
	if ports == nil {
		ports = []string{}
	}
	d["interfaces"] = ports
	if fsx.Exists(dir + "/bridge/bridge_id") {
		d["id"] = content(dir + "/bridge/bridge_id")
	}
	if fsx.Exists(dir + "/bridge/stp_state") {
		d["stp"] = content(dir+"/bridge/stp_state") == "1"
	}
}

func bondFacts(dir string, d map[string]any) {
	if fsx.Exists(dir + "/bonding_slave") {
		d["perm_macaddress"] = content(dir + "/bonding_slave/perm_hwaddr")
	}
	if !fsx.Exists(dir + "/bonding") {
		return
	}
	first := func(file string) string { return strings.SplitN(content(dir+"/bonding/"+file)+" ", " ", 2)[0] }
	d["type"] = "bonding"
	d["slaves"] = strings.Fields(content(dir + "/bonding/slaves"))
	d["mode"], d["miimon"], d["lacp_rate"] = first("mode"), first("miimon"), first("lacp_rate")
	if primary := content(dir + "/bonding/primary"); primary != "" {
		d["primary"] = primary
		if fsx.Exists(dir + "/bonding/all_slaves_active") {
			d["all_slaves_active"] = content(dir+"/bonding/all_slaves_active") == "1"
		}
	}
}

// add puts the addresses of one device where Ansible puts them: those with a label of their own (eth0:1)
// under an interface of that name.
func (a *addresses) add(device string, interfaces map[string]map[string]any, default4, default6 map[string]any) {
	link, err := netlink.LinkByName(device)
	if err != nil {
		return
	}
	d := interfaces[device]
	list, _ := netlink.AddrList(link, netlink.FAMILY_V4)
	for _, addr := range list {
		entry := v4Facts(addr)
		secondary := addr.Flags&unix.IFA_F_SECONDARY != 0
		label := addr.Label
		if label == "" {
			label = device
		}
		if label != device {
			interfaces[label] = map[string]any{}
		}
		if _, taken := interfaces[label]["ipv4"]; !secondary && !taken {
			interfaces[label]["ipv4"] = entry
		} else {
			appendTo(interfaces[label], "ipv4_secondaries", entry)
		}
		if secondary && label != device {
			appendTo(d, "ipv4_secondaries", entry)
		}
		address := entry["address"].(string)
		if default4["address"] == address {
			for _, key := range []string{"broadcast", "netmask", "network", "prefix"} {
				default4[key] = entry[key]
			}
			describeDefault(default4, d)
			default4["alias"] = label
		}
		if !strings.HasPrefix(address, "127.") {
			a.v4 = append(a.v4, address)
		}
	}
	list, _ = netlink.AddrList(link, netlink.FAMILY_V6)
	for _, addr := range list {
		ones, _ := addr.Mask.Size()
		entry := map[string]any{"address": addr.IP.String(), "prefix": strconv.Itoa(ones), "scope": scopeName(addr.Scope)}
		appendTo(d, "ipv6", entry)
		if default6["address"] == entry["address"] {
			default6["prefix"], default6["scope"] = entry["prefix"], entry["scope"]
			describeDefault(default6, d)
		}
		if entry["address"] != "::1" {
			a.v6 = append(a.v6, addr.IP.String())
		}
	}
}

func describeDefault(def, device map[string]any) {
	def["macaddress"], def["mtu"], def["type"] = device["macaddress"], device["mtu"], device["type"]
	if def["type"] == nil {
		def["type"] = "unknown"
	}
}

func appendTo(d map[string]any, key string, entry map[string]any) {
	before, _ := d[key].([]any)
	d[key] = append(before, entry)
}

func v4Facts(addr netlink.Addr) map[string]any {
	ones, _ := addr.Mask.Size()
	broadcast := ""
	if addr.Broadcast != nil && !addr.Broadcast.IsUnspecified() {
		broadcast = addr.Broadcast.String()
	}
	return map[string]any{
		"address": addr.IP.String(), "broadcast": broadcast, "netmask": net.IP(addr.Mask).String(),
		"network": addr.IP.Mask(addr.Mask).String(), "prefix": strconv.Itoa(ones),
	}
}

func scopeName(scope int) string {
	switch scope {
	case unix.RT_SCOPE_UNIVERSE:
		return "global"
	case unix.RT_SCOPE_SITE:
		return "site"
	case unix.RT_SCOPE_LINK:
		return "link"
	case unix.RT_SCOPE_HOST:
		return "host"
	}
	return strconv.Itoa(scope)
}

var (
	timestamping = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`SOF_TIMESTAMPING_(\w+)`) })
	stampFilter  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`HWTSTAMP_FILTER_(\w+)`) })
	clockIndex   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`PTP Hardware Clock: (\d+)`) })
)

// offloads asks ethtool.
func offloads(p *probe, device string, d map[string]any) {
	if out, ok := p.run("ethtool", "-k", device); ok {
		features := map[string]any{}
		for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
			key, val, found := strings.Cut(line, ": ")
			if found && val != "" && !strings.HasSuffix(line, ":") {
				features[strings.ReplaceAll(strings.TrimSpace(key), "-", "_")] = strings.TrimSpace(val)
			}
		}
		d["features"] = features
	}
	if out, ok := p.run("ethtool", "-T", device); ok {
		d["timestamping"] = lowerAll(timestamping(), out)
		d["hw_timestamp_filters"] = lowerAll(stampFilter(), out)
		if m := clockIndex().FindStringSubmatch(out); m != nil {
			n, _ := strconv.Atoi(m[1])
			d["phc_index"] = n
		}
	}
}

func lowerAll(re *regexp.Regexp, text string) []string {
	out := []string{}
	for _, m := range re.FindAllStringSubmatch(text, -1) {
		out = append(out, strings.ToLower(m[1]))
	}
	return out
}
