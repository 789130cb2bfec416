package netaddr

// inAny reports whether n lies in one of the networks.
func (n Network) inAny(networks ...string) bool {
	for _, s := range networks {
		if net, err := ParseNetwork(s); err == nil && net.Contains(n) {
			return true
		}
	}
	return false
}

// IsMulticast reports whether the network is for multicast.
func (n Network) IsMulticast() bool { return n.inAny("224.0.0.0/4", "ff00::/8") }

// IsLoopback reports whether the network is of the host itself.
func (n Network) IsLoopback() bool { return n.inAny("127.0.0.0/8", "::1/128") }

// IsLinkLocal reports whether the network is of one link.
func (n Network) IsLinkLocal() bool { return n.inAny("169.254.0.0/16", "fe80::/10") }

// IsPrivate reports whether the network is not of the Internet, by netaddr's idea of that.
func (n Network) IsPrivate() bool {
	return n.IsLinkLocal() || n.inAny("10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.0.0.0/24", "192.168.0.0/16",
		"198.18.0.0/15", "239.0.0.0/8", "fc00::/7", "fec0::/10")
}

// IsPublic reports whether the address is of one host of the Internet.
func (a Addr) IsPublic() bool {
	n := a.Host()
	return !n.IsMulticast() && !n.IsPrivate() && !n.IsLoopback() && !a.IsNetmask() && !a.IsHostmask()
}
