// Package netaddr is Python's netaddr as far as Ansible's filters of addresses need it: addresses, networks with the
// address of a host in them, and hardware addresses, with its way of reading and printing them.
package netaddr

import (
	"math/big"
	"net/netip"
	"strconv"
	"strings"

	"hark/modules/py/value"
)

// Addr is an IPv4 or IPv6 address. It does not change.
type Addr struct {
	v6 bool
	n  *big.Int
}

// errFormat is netaddr's AddrFormatError.
func errFormat(format string, args ...any) error {
	return value.Errorf("AddrFormatError", format, args...)
}

// Parse reads an address in its usual form, as inet_pton does.
func Parse(s string) (Addr, bool) {
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return Addr{}, false
	}
	return fromNetip(a), true
}

// ParseLoose is Parse that takes IPv4 as inet_aton does too: fewer than four numbers, of which the last fills up the
// rest, in octal and hexadecimal digits.
func ParseLoose(s string) (Addr, bool) {
	if a, ok := Parse(s); ok {
		return a, true
	}
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return Addr{}, false
	}
	n := new(big.Int)
	for i, part := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		v, err := strconv.ParseUint(part, 0, bits)
		if err != nil || strings.HasPrefix(part, "0o") || strings.HasPrefix(part, "0b") || strings.Contains(part, "_") {
			return Addr{}, false
		}
		n.Lsh(n, uint(bits)).Or(n, new(big.Int).SetUint64(v))
	}
	return Addr{n: n}, true
}

func fromNetip(a netip.Addr) Addr {
	return Addr{v6: a.Is6(), n: new(big.Int).SetBytes(a.AsSlice())}
}

// FromInt returns the address of a number; without being told which it is IPv4 if it fits.
func FromInt(n *big.Int) (Addr, error) {
	a := Addr{v6: n.BitLen() > 32, n: n}
	if n.Sign() < 0 || n.BitLen() > 128 {
		return a, errFormat("failed to detect a valid IP address from %s", n)
	}
	return a, nil
}

// width returns the number of bits.
func width(v6 bool) int {
	if v6 {
		return 128
	}
	return 32
}

// ones returns a number of that many bits, all set.
func ones(bits int) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	return n.Sub(n, big.NewInt(1))
}

// Version is 4 or 6.
func (a Addr) Version() int {
	if a.v6 {
		return 6
	}
	return 4
}

// Int returns the address as a number. It must not be changed.
func (a Addr) Int() *big.Int { return a.n }

// Equal reports whether both are the same address of the same version.
func (a Addr) Equal(b Addr) bool { return a.v6 == b.v6 && a.n.Cmp(b.n) == 0 }

// Add returns the address n further on.
func (a Addr) Add(n *big.Int) (Addr, error) {
	sum := new(big.Int).Add(a.n, n)
	if sum.Sign() < 0 || sum.BitLen() > width(a.v6) {
		return Addr{}, value.Errorf("IndexError", "result outside valid IP address boundary!")
	}
	return Addr{a.v6, sum}, nil
}

func (a Addr) netip() netip.Addr {
	if !a.v6 {
		var b [4]byte
		a.n.FillBytes(b[:])
		return netip.AddrFrom4(b)
	}
	var b [16]byte
	a.n.FillBytes(b[:])
	return netip.AddrFrom16(b)
}

// String prints as inet_ntop does.
func (a Addr) String() string {
	if bits := a.n.BitLen(); a.v6 && bits > 16 && bits <= 32 {
		return "::" + Addr{n: a.n}.String()
	}
	return a.netip().String()
}

// ReverseDNS returns the name of the address for questions about its host.
func (a Addr) ReverseDNS() string {
	var labels []string
	if !a.v6 {
		b := a.netip().As4()
		for i := len(b) - 1; i >= 0; i-- {
			labels = append(labels, big.NewInt(int64(b[i])).String())
		}
		return strings.Join(labels, ".") + ".in-addr.arpa."
	}
	digits := a.n.Text(16)
	digits = strings.Repeat("0", 32-len(digits)) + digits
	for i := len(digits) - 1; i >= 0; i-- {
		labels = append(labels, digits[i:i+1])
	}
	return strings.Join(labels, ".") + ".ip6.arpa."
}

// powerOfTwo reports whether at most one bit is set.
func powerOfTwo(n *big.Int) bool {
	return n.Sign() == 0 || new(big.Int).And(n, new(big.Int).Sub(n, big.NewInt(1))).Sign() == 0
}

// IsHostmask reports whether only low bits are set, all of them.
func (a Addr) IsHostmask() bool { return powerOfTwo(new(big.Int).Add(a.n, big.NewInt(1))) }

// IsNetmask reports whether only high bits are set, all of them.
func (a Addr) IsNetmask() bool {
	return powerOfTwo(new(big.Int).Add(new(big.Int).Xor(a.n, ones(width(a.v6))), big.NewInt(1)))
}
