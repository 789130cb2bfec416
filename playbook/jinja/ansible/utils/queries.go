package utils

import (
	"fmt"
	"math/big"
	"strconv"

	"hark/modules/py/value"
	"hark/playbook/jinja/netaddr"
)

// answer is what a query says of its subject. None is "no", as False is.
type answer func(s subject) (value.Value, error)

// always returns an answer in text that there always is.
func always(f func(s subject) string) answer {
	return func(s subject) (value.Value, error) { return text(f(s)), nil }
}

// question returns the value back if f holds.
func question(f func(s subject) bool) answer {
	return func(s subject) (value.Value, error) {
		if f(s) {
			return s.as, nil
		}
		return none, nil
	}
}

// queries returns the queries by name.
func queries() map[string]answer {
	prefix := func(s subject) string { return "/" + strconv.Itoa(s.Prefix()) }
	ip := func(s subject) string { return s.IP().String() }
	hostmask := always(func(s subject) string { return s.Hostmask().String() })
	network := always(func(s subject) string { return s.First().String() })
	subnet := always(func(s subject) string { return s.CIDR().String() })
	loopback := question(func(s subject) bool { return s.IP().Host().IsLoopback() })
	all := map[string]answer{
		"":                 plainAnswer,
		"6to4":             sixToFour,
		"address":          addressAnswer,
		"ip":               addressAnswer,
		"bool":             func(subject) (value.Value, error) { return value.Bool(true), nil },
		"broadcast":        broadcast,
		"cidr":             always(func(s subject) string { return s.String() }),
		"first_usable":     firstUsable,
		"host":             host,
		"hostmask":         hostmask,
		"wildcard":         hostmask,
		"int":              intAnswer,
		"ip/prefix":        hostWith(func(s subject) string { return ip(s) + prefix(s) }),
		"ip_netmask":       hostWith(func(s subject) string { return ip(s) + " " + s.Netmask().String() }),
		"ipv4":             ipv4,
		"v4":               ipv4,
		"ipv6":             ipv6,
		"v6":               ipv6,
		"last_usable":      lastUsable,
		"link-local":       question(func(s subject) bool { return s.IP().Host().IsLinkLocal() }),
		"lo":               loopback,
		"loopback":         loopback,
		"multicast":        question(func(s subject) bool { return s.IsMulticast() }),
		"net":              netAnswer,
		"netmask":          always(func(s subject) string { return s.Netmask().String() }),
		"network":          network,
		"network_id":       network,
		"network/prefix":   subnet,
		"subnet":           subnet,
		"network_netmask":  always(func(s subject) string { return s.First().String() + " " + s.Netmask().String() }),
		"network_wildcard": always(func(s subject) string { return s.First().String() + " " + s.Hostmask().String() }),
		"next_usable":      neighbour(1),
		"previous_usable":  neighbour(-1),
		"peer":             peer,
		"prefix":           func(s subject) (value.Value, error) { return value.Int(s.Prefix()), nil },
		"private":          question(func(s subject) bool { return s.IsPrivate() }),
		"public":           question(func(s subject) bool { return s.IP().IsPublic() }),
		"range_usable":     rangeUsable,
		"revdns":           always(func(s subject) string { return s.IP().ReverseDNS() }),
		"size":             func(s subject) (value.Value, error) { return value.NewInt(s.Size()), nil },
		"size_usable":      sizeUsable,
		"type":             typeAnswer,
		"unicast":          question(func(s subject) bool { return !s.IsMulticast() }),
		"version":          func(s subject) (value.Value, error) { return value.Int(s.Version()), nil },
		"wrap":             wrapped,
	}
	for _, name := range []string{"address/prefix", "gateway", "gw", "host/prefix", "hostnet", "router"} {
		all[name] = hostAddress
	}
	return all
}

// isHost reports whether the address is that of a host, and not of its network.
func (s subject) isHost() bool { return !s.IP().Equal(s.First()) }

func plainAnswer(s subject) (value.Value, error) {
	if s.whole {
		return text(s.String()), nil
	}
	return text(s.IP().String()), nil
}

func sixToFour(s subject) (value.Value, error) {
	if s.Version() == 6 {
		relayed, err := netaddr.ParseNetwork("2002::/16")
		if err == nil && relayed.Contains(s.Network) && (!s.whole || s.isHost()) {
			return s.as, nil
		}
		return never, nil
	}
	single := s.IP().Host()
	if s.SizeIs(1) > 0 && !s.isHost() || !s.IP().IsPublic() && !single.IsPrivate() {
		return never, nil
	}
	n := s.IP().Int().Uint64()
	return text(fmt.Sprintf("2002:%02x%02x:%02x%02x::1/48", n>>24, n>>16&255, n>>8&255, n&255)), nil
}

func addressAnswer(s subject) (value.Value, error) {
	_, hasBroadcast := s.Broadcast()
	if s.SizeIs(1) == 0 || s.isHost() || !hasBroadcast || s.Version() == 6 {
		return text(s.IP().String()), nil
	}
	return none, nil
}

func hostAddress(s subject) (value.Value, error) {
	last, has := s.Broadcast()
	if s.SizeIs(2) > 0 && (!s.isHost() || has && s.IP().Equal(last)) {
		return never, nil
	}
	return text(s.String()), nil
}

func broadcast(s subject) (value.Value, error) {
	if s.SizeIs(2) <= 0 {
		return none, nil
	}
	return text(s.Last().String()), nil
}

func host(s subject) (value.Value, error) {
	_, hasBroadcast := s.Broadcast()
	if s.SizeIs(1) == 0 || s.isHost() || !hasBroadcast {
		return text(s.String()), nil
	}
	return none, nil
}

// hostWith answers for hosts in a network.
func hostWith(f func(s subject) string) answer {
	return func(s subject) (value.Value, error) {
		if s.SizeIs(2) == 0 || s.SizeIs(1) > 0 && s.isHost() {
			return text(f(s)), nil
		}
		return none, nil
	}
}

func intAnswer(s subject) (value.Value, error) {
	if s.whole {
		return text(s.IP().Int().String() + "/" + strconv.Itoa(s.Prefix())), nil
	}
	return value.NewInt(s.IP().Int()), nil
}

func ipv4(s subject) (value.Value, error) {
	if s.Version() == 4 {
		return s.as, nil
	}
	n, err := s.ToIPv4()
	if err != nil {
		return never, nil
	}
	return text(n.String()), nil
}

func ipv6(s subject) (value.Value, error) {
	if s.Version() == 6 {
		return s.as, nil
	}
	return text(s.ToIPv6().String()), nil
}

func netAnswer(s subject) (value.Value, error) {
	if s.SizeIs(1) > 0 && !s.isHost() {
		return text(s.String()), nil
	}
	return none, nil
}

func typeAnswer(s subject) (value.Value, error) {
	if s.SizeIs(1) == 0 || s.isHost() {
		return text("address"), nil
	}
	return text("network"), nil
}

func wrapped(s subject) (value.Value, error) {
	switch {
	case s.Version() == 4:
		return s.as, nil
	case s.whole:
		return text("[" + s.IP().String() + "]/" + strconv.Itoa(s.Prefix())), nil
	}
	return text("[" + s.IP().String() + "]"), nil
}

func sizeUsable(s subject) (value.Value, error) {
	switch {
	case s.SizeIs(1) == 0:
		return value.Int(0), nil
	case s.SizeIs(2) == 0:
		return value.Int(2), nil
	}
	return value.NewInt(new(big.Int).Sub(s.Size(), big.NewInt(2))), nil
}

var errNoNetwork = value.FilterErrorf("Not a network address")
