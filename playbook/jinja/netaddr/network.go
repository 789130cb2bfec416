package netaddr

import (
	"math/big"
	"strconv"
	"strings"

	"hark/modules/py/value"
)

// Network is an address with the length of its network's prefix, as 192.168.1.5/24. It does not change.
type Network struct {
	ip     Addr
	prefix int
}

// NetworkOf makes a network of an address and the length of a prefix.
func NetworkOf(ip Addr, prefix int) (Network, error) {
	if prefix < 0 || prefix > width(ip.v6) {
		return Network{}, errFormat("invalid prefix for IPv%d address!", ip.Version())
	}
	return Network{ip, prefix}, nil
}

// NumberNetwork is NetworkOf for a number, as an address of the version.
func NumberNetwork(n *big.Int, version, prefix int) (Network, error) {
	v6 := version == 6
	if n.Sign() < 0 || n.BitLen() > width(v6) {
		return Network{}, errFormat("invalid address value for IPv%d tuple!", version)
	}
	return NetworkOf(Addr{v6, n}, prefix)
}

// ParseNetwork reads an address with or without a prefix: a length, a netmask or a hostmask. IPv4 may be cut off:
// 10.1 is 10.1.0.0.
func ParseNetwork(s string) (Network, error) {
	for _, v6 := range []bool{false, true} {
		if n, ok := parseAs(s, v6); ok {
			return n, nil
		}
	}
	return Network{}, errFormat("invalid IPNetwork %s", s)
}

func parseAs(s string, v6 bool) (Network, bool) {
	text, suffix, hasPrefix := strings.Cut(s, "/")
	ip, ok := Parse(text)
	if (!ok || ip.v6 != v6) && !v6 {
		ip, ok = expandPartial(text)
	}
	if !ok || ip.v6 != v6 {
		return Network{}, false
	}
	n := Network{ip, width(v6)}
	if !hasPrefix {
		return n, true
	}
	if length, isInt := PythonInt(suffix); isInt {
		if !length.IsInt64() || length.Int64() < 0 || length.Int64() > int64(width(v6)) {
			return Network{}, false
		}
		n.prefix = int(length.Int64())
		return n, true
	}
	mask, ok := Parse(suffix)
	if !ok || mask.v6 != v6 {
		return Network{}, false
	}
	switch {
	case mask.IsNetmask():
		n.prefix = width(v6) - int(mask.n.TrailingZeroBits())
		if mask.n.Sign() == 0 {
			n.prefix = 0
		}
	case mask.IsHostmask():
		n.prefix = width(v6) - mask.n.BitLen()
	default:
		return Network{}, false
	}
	return n, true
}

// expandPartial fills up an IPv4 address of fewer than four numbers.
func expandPartial(s string) (Addr, bool) {
	if strings.Contains(s, ":") {
		return Addr{}, false
	}
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return Addr{}, false
	}
	for i, part := range parts {
		n, ok := PythonInt(part)
		if !ok {
			return Addr{}, false
		}
		parts[i] = n.String()
	}
	for len(parts) < 4 {
		parts = append(parts, "0")
	}
	return Parse(strings.Join(parts, "."))
}

// PythonInt reads text as Python's int does.
func PythonInt(s string) (*big.Int, bool) {
	s = strings.TrimSpace(s)
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 || digits == "" || strings.Trim(digits, "0123456789_") != "" ||
		strings.HasPrefix(digits, "_") || strings.HasSuffix(digits, "_") || strings.Contains(digits, "__") {
		return nil, false
	}
	return value.ParseInt(strings.TrimPrefix(strings.ReplaceAll(s, "_", ""), "+"), 10)
}

// String returns the address and the length of the prefix.
func (n Network) String() string { return n.ip.String() + "/" + strconv.Itoa(n.prefix) }

// Version is 4 or 6.
func (n Network) Version() int { return n.ip.Version() }

// IP returns the address of the host.
func (n Network) IP() Addr { return n.ip }

// Prefix returns the length of the prefix in bits.
func (n Network) Prefix() int { return n.prefix }

func (n Network) hostBits() *big.Int { return ones(width(n.ip.v6) - n.prefix) }

// First returns the first address of the network, which is its own.
func (n Network) First() Addr { return Addr{n.ip.v6, new(big.Int).AndNot(n.ip.n, n.hostBits())} }

// Last returns the last address of the network.
func (n Network) Last() Addr { return Addr{n.ip.v6, new(big.Int).Or(n.ip.n, n.hostBits())} }

// Broadcast returns the last address; the smallest IPv4 networks have none.
func (n Network) Broadcast() (Addr, bool) {
	return n.Last(), n.ip.v6 || width(n.ip.v6)-n.prefix > 1
}

// Hostmask has the bits of the host set.
func (n Network) Hostmask() Addr { return Addr{n.ip.v6, n.hostBits()} }

// Netmask has the bits of the prefix set.
func (n Network) Netmask() Addr {
	return Addr{n.ip.v6, new(big.Int).AndNot(ones(width(n.ip.v6)), n.hostBits())}
}

// CIDR returns the network without the bits of the host.
func (n Network) CIDR() Network { return Network{n.First(), n.prefix} }

// Size returns the number of addresses.
func (n Network) Size() *big.Int {
	return new(big.Int).Lsh(big.NewInt(1), uint(width(n.ip.v6)-n.prefix))
}

// SizeIs compares Size with a small number: -1, 0, 1.
func (n Network) SizeIs(than int64) int { return n.Size().Cmp(big.NewInt(than)) }

// At returns the address with an index, counted from the end if it is negative.
func (n Network) At(index *big.Int) (Addr, error) {
	from := n.First().n
	if index.Sign() < 0 {
		from = new(big.Int).Add(n.Last().n, big.NewInt(1))
	}
	a := Addr{n.ip.v6, new(big.Int).Add(from, index)}
	if a.n.Cmp(n.First().n) < 0 || a.n.Cmp(n.Last().n) > 0 {
		return Addr{}, value.Errorf("IndexError", "index out range for address range size!")
	}
	return a, nil
}

// Contains reports whether the whole of other lies in n.
func (n Network) Contains(other Network) bool {
	return n.ip.v6 == other.ip.v6 && n.prefix <= other.prefix && n.First().Equal(Network{other.ip, n.prefix}.First())
}

// Host returns the address alone as a network.
func (a Addr) Host() Network { return Network{a, width(a.v6)} }

// Supernets returns the networks around n from a prefix on, the largest first.
func (n Network) Supernets(prefix int) []Network {
	var out []Network
	for ; prefix < n.prefix; prefix++ {
		out = append(out, Network{n.ip, prefix}.CIDR())
	}
	return out
}

// mapped returns what precedes an IPv4 address in the IPv6 addresses made of them, ::ffff:0:0.
func mapped() *big.Int { return new(big.Int).Lsh(big.NewInt(0xffff), 32) }

// ToIPv4 returns the IPv4 network that an IPv6 one stands for, if it does.
func (n Network) ToIPv4() (Network, error) {
	if !n.ip.v6 {
		return n, nil
	}
	low := n.ip.n
	if low.BitLen() > 32 {
		low = new(big.Int).Sub(low, mapped())
	}
	if n.ip.n.BitLen() > 48 || low.Sign() < 0 {
		return Network{}, value.Errorf("AddrConversionError", "IPv6 address %s unsuitable for conversion to IPv4!", n)
	}
	return NumberNetwork(low, 4, n.prefix-96)
}

// ToIPv6 returns the IPv6 network that stands for an IPv4 one.
func (n Network) ToIPv6() Network {
	if n.ip.v6 {
		return n
	}
	return Network{Addr{true, new(big.Int).Add(n.ip.n, mapped())}, n.prefix + 96}
}
