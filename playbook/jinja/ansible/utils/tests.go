package utils

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"hark/modules/nss"
	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/argspec"
	"hark/playbook/jinja/netaddr"
)

// Tests returns the tests by short name. They read addresses as Python's ipaddress does, which is stricter than
// netaddr.
func Tests() map[string]jinja.Test {
	return map[string]jinja.Test{
		"in_any_network": inNetworks("_in_any_network", func(n int) bool { return n > 0 }),
		"in_one_network": inNetworks("_in_one_network", func(n int) bool { return n == 1 }),
		"in_network":     pair("_in_network", "network", func(a, b netaddr.Network) bool { return b.Contains(a) }),
		"subnet_of":      pair("_subnet_of", "network_b", func(a, b netaddr.Network) bool { return b.Contains(a) }),
		"supernet_of":    pair("_supernet_of", "network_b", func(a, b netaddr.Network) bool { return a.Contains(b) }),
		"ip":             about("_ip", func(s string) bool { _, err := strictNetwork(s); return err == nil }),
		"ipv4":           about("_ipv4", networkOf(4)),
		"ipv6":           about("_ipv6", networkOf(6)),
		"ip_address":     address("_ip_address", func(netip.Addr) bool { return true }),
		"ipv4_address":   address("_ipv4_address", netip.Addr.Is4),
		"ipv6_address":   address("_ipv6_address", netip.Addr.Is6),
		"ipv4_hostmask": about("_ipv4_hostmask", func(s string) bool {
			n, err := strictNetwork("10.0.0.0/" + s)
			return err == nil && n.Hostmask().String() == s
		}),
		"ipv4_netmask": about("_ipv4_netmask", func(s string) bool {
			n, err := strictNetwork("10.0.0.0/" + s)
			return err == nil && n.Netmask().String() == s
		}),
		"ipv6_ipv4_mapped": address("_ipv6_ipv4_mapped", netip.Addr.Is4In6),
		"ipv6_sixtofour":   address("_ipv6_sixtofour", in("2002::/16")),
		"ipv6_teredo":      address("_ipv6_teredo", in("2001::/32")),
		"loopback":         address("_loopback", in("127.0.0.0/8", "::1/128")),
		"multicast":        address("_multicast", in("224.0.0.0/4", "ff00::/8")),
		"private":          address("_private", isPrivate),
		"public":           address("_public", func(a netip.Addr) bool { return !isPrivate(a) && !in("100.64.0.0/10")(a) }),
		"reserved":         address("_reserved", isReserved),
		"unspecified":      address("_unspecified", in("0.0.0.0/32", "::/128")),
		"mac":              onText(about("_mac", isMAC)),
		"resolvable":       resolvable,
	}
}

// about returns a test of one text.
func about(fn string, f func(s string) bool) jinja.Test {
	return func(_ *jinja.Call, in value.Value, args *jinja.Args) (bool, error) {
		if _, err := args.Bind(fn); err != nil {
			return false, err
		}
		s, err := argspec.Text(in)
		return err == nil && f(s), err
	}
}

// onText returns a test that hands its value to Python's expressions unlooked at, which take text only.
func onText(test jinja.Test) jinja.Test {
	return func(c *jinja.Call, in value.Value, args *jinja.Args) (bool, error) {
		if !value.IsText(in) {
			return false, value.TypeErrorf("expected string or bytes-like object, got '%s'", value.NativeType(in))
		}
		return test(c, in, args)
	}
}

// address returns a test of one address.
func address(fn string, f func(a netip.Addr) bool) jinja.Test {
	return about(fn, func(s string) bool {
		a, err := netip.ParseAddr(s)
		return err == nil && f(a.WithZone(""))
	})
}

// pair returns a test of two networks.
func pair(fn, second string, f func(a, b netaddr.Network) bool) jinja.Test {
	return func(_ *jinja.Call, in value.Value, args *jinja.Args) (bool, error) {
		a, err := args.Bind(fn, value.Req(second))
		if err != nil {
			return false, err
		}
		return related(in, a[0], f)
	}
}

func related(x, y value.Value, f func(a, b netaddr.Network) bool) (bool, error) {
	s, err := argspec.Text(x)
	if err != nil {
		return false, err
	}
	t, err := argspec.Text(y)
	if err != nil {
		return false, err
	}
	a, errA := strictNetwork(s)
	b, errB := strictNetwork(t)
	return errA == nil && errB == nil && f(a, b), nil
}

// inNetworks counts the networks of a list that an address is in.
func inNetworks(fn string, enough func(n int) bool) jinja.Test {
	return func(_ *jinja.Call, in value.Value, args *jinja.Args) (bool, error) {
		a, err := args.Bind(fn, value.Req("networks"))
		if err != nil {
			return false, err
		}
		networks, err := value.Elements(a[0])
		if err != nil {
			return false, err
		}
		count := 0
		for _, n := range networks {
			ok, err := related(in, n, func(a, b netaddr.Network) bool { return b.Contains(a) })
			if err != nil {
				return false, err
			}
			if ok {
				count++
			}
		}
		return enough(count), nil
	}
}

func networkOf(version int) func(s string) bool {
	return func(s string) bool {
		n, err := strictNetwork(s)
		return err == nil && n.Version() == version
	}
}

// strictNetwork reads a network without bits of a host.
func strictNetwork(s string) (netaddr.Network, error) {
	text, suffix, hasPrefix := strings.Cut(s, "/")
	n, err := netaddr.ParseNetwork(s)
	_, isAddress := netaddr.Parse(text)
	_, notLength := strconv.ParseUint(suffix, 10, 8)
	if err != nil || !isAddress || hasPrefix && notLength != nil && n.Version() == 6 {
		return n, value.ValueErrorf("%s does not appear to be an IPv4 or IPv6 network", value.ReprText(s))
	}
	if !n.IP().Equal(n.First()) {
		return n, value.ValueErrorf("%s has host bits set", s)
	}
	return n, nil
}

// in asks whether an address is in one of the networks.
func in(networks ...string) func(a netip.Addr) bool {
	return func(a netip.Addr) bool {
		for _, s := range networks {
			if p, err := netip.ParsePrefix(s); err == nil && p.Contains(a) {
				return true
			}
		}
		return false
	}
}

// isPrivate follows IANA's registries of special addresses.
func isPrivate(a netip.Addr) bool {
	if a.Is4In6() {
		a = a.Unmap()
	}
	special := in("0.0.0.0/8", "10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
		"192.0.2.0/24",
		"192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::1/128", "::/128", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fc00::/7", "fe80::/10")
	global := in("192.0.0.9/32", "192.0.0.10/32", "2001:1::1/128", "2001:1::2/128", "2001:3::/32", "2001:4:112::/48",
		"2001:20::/28", "2001:30::/28")
	return special(a) && !global(a)
}

func isReserved(a netip.Addr) bool {
	return in("240.0.0.0/4", "::/8", "100::/8", "200::/7", "400::/6", "800::/5", "1000::/4", "4000::/3", "6000::/3",
		"8000::/3",
		"a000::/3", "c000::/3", "e000::/4", "f000::/5", "f800::/6", "fe00::/9")(a)
}

var macForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}\n?$|^([0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4})\n?$|` +
		`^[0-9a-f]{12}\n?$`)
})

func isMAC(s string) bool { return macForm().MatchString(s) }

// resolvable asks the resolver of this machine.
func resolvable(c *jinja.Call, in value.Value, args *jinja.Args) (bool, error) {
	if _, err := args.Bind("_resolvable"); err != nil {
		return false, err
	}
	s, err := argspec.Text(in)
	if err != nil {
		return false, err
	}
	if _, err := netip.ParseAddr(s); err == nil {
		names, err := nss.AddressNames(c.Ctx, s)
		return err == nil && len(names) > 0, nil
	}
	found, err := nss.HostAddresses(c.Ctx, s)
	return err == nil && len(found) > 0, nil
}
