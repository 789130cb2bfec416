package facts

import (
	"net"
	"strconv"

	"hark/modules/nss"
)

// network returns what package net knows about interfaces: names, hardware addresses, MTU, addresses, and which the
// routes to the internet use.
func network(p *probe) {
	interfaces, _ := net.Interfaces()
	names, all4, all6 := []string{}, []string{}, []string{}
	default4, default6 := outward("udp4", "8.8.8.8"), outward("udp6", "2404:6800:400a:800::1012")
	for _, link := range interfaces {
		d := map[string]any{"device": link.Name, "mtu": link.MTU, "active": link.Flags&net.FlagUp != 0}
		if len(link.HardwareAddr) > 0 {
			d["macaddress"] = link.HardwareAddr.String()
		}
		var v4, v6 []any
		addresses, _ := link.Addrs()
		for _, address := range addresses {
			n, ok := address.(*net.IPNet)
			if !ok {
				continue
			}
			ones, _ := n.Mask.Size()
			entry := map[string]any{"address": n.IP.String(), "prefix": strconv.Itoa(ones)}
			def, list, external := default6, &all6, !n.IP.IsLoopback()
			if n.IP.To4() != nil {
				entry["netmask"], entry["network"] = net.IP(n.Mask).String(), n.IP.Mask(n.Mask).String()
				def, list = default4, &all4
				v4 = append(v4, entry)
			} else {
				v6 = append(v6, entry)
			}
			if external {
				*list = append(*list, n.IP.String())
			}
			if def["address"] == entry["address"] {
				def["interface"], def["macaddress"], def["mtu"] = link.Name, d["macaddress"], link.MTU
			}
		}
		d["ipv4"], d["ipv6"] = v4, v6 // lists, as ansible-core has them there
		names = append(names, link.Name)
		p.set(link.Name, d)
	}
	p.set("interfaces", names)
	p.set("default_ipv4", default4)
	p.set("default_ipv6", default6)
	p.set("all_ipv4_addresses", all4)
	p.set("all_ipv6_addresses", all6)
}

// outward returns the address that a packet to an address of the internet would have; none is sent.
func outward(network, address string) map[string]any {
	conn, err := new(nss.Dialer).Dial(network, net.JoinHostPort(address, "53"))
	if err != nil {
		return map[string]any{}
	}
	defer conn.Close()
	return map[string]any{"address": conn.LocalAddr().(*net.UDPAddr).IP.String()}
}
