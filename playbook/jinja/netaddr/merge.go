package netaddr

import (
	"math/big"
	"sort"

	"hark/modules/py/value"
)

// before is netaddr's order of networks.
func (n Network) before(other Network) bool {
	if n.ip.v6 != other.ip.v6 {
		return !n.ip.v6
	}
	if c := n.First().n.Cmp(other.First().n); c != 0 {
		return c < 0
	}
	if n.prefix != other.prefix {
		return n.prefix < other.prefix
	}
	return n.ip.n.Cmp(other.ip.n) < 0
}

// span is a run of addresses; whole is the network that it is, as long as it was not joined with another.
type span struct {
	v6          bool
	first, last *big.Int
	whole       *Network
}

// Merge joins networks that overlap or touch and gives the fewest that hold the same addresses.
func Merge(networks []Network) []Network {
	var spans []span
	for _, n := range networks {
		spans = append(spans, span{n.ip.v6, n.First().n, n.Last().n, &n})
	}
	sort.SliceStable(spans, func(i, j int) bool {
		a, b := spans[i], spans[j]
		if a.v6 != b.v6 {
			return !a.v6
		}
		if c := a.last.Cmp(b.last); c != 0 {
			return c < 0
		}
		return a.first.Cmp(b.first) < 0
	})
	for i := len(spans) - 1; i > 0; i-- {
		right, left := spans[i], spans[i-1]
		if right.v6 != left.v6 || new(big.Int).Sub(right.first, big.NewInt(1)).Cmp(left.last) > 0 {
			continue
		}
		first := left.first
		if right.first.Cmp(first) < 0 {
			first = right.first
		}
		spans[i-1] = span{v6: right.v6, first: first, last: right.last}
		spans = append(spans[:i], spans[i+1:]...)
	}
	var out []Network
	for _, s := range spans {
		if s.whole != nil {
			out = append(out, *s.whole)
		} else {
			out = append(out, s.networks()...)
		}
	}
	return out
}

// networks returns the fewest networks that make up the run.
func (s span) networks() []Network {
	var out []Network
	for at := s.first; at.Cmp(s.last) <= 0; {
		bits := width(s.v6)
		if at.Sign() != 0 {
			bits = min(bits, int(at.TrailingZeroBits()))
		}
		for new(big.Int).Add(at, ones(bits)).Cmp(s.last) > 0 {
			bits--
		}
		out = append(out, Network{Addr{s.v6, at}, width(s.v6) - bits})
		at = new(big.Int).Add(at, new(big.Int).Lsh(big.NewInt(1), uint(bits)))
	}
	return out
}

// Span returns the smallest network that holds all of two or more.
func Span(networks []Network) (Network, error) {
	least, most := networks[0], networks[0]
	for _, n := range networks[1:] {
		if n.before(least) {
			least = n
		}
		if most.before(n) {
			most = n
		}
	}
	if least.ip.v6 != most.ip.v6 {
		return Network{}, value.TypeErrorf("IP sequence cannot contain both IPv4 and IPv6!")
	}
	n := Network{most.Last(), most.prefix}
	for n.prefix > 0 && n.ip.n.Cmp(least.First().n) > 0 {
		n = Network{n.ip, n.prefix - 1}.CIDR()
	}
	return n, nil
}
