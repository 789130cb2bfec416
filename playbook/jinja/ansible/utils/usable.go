package utils

import (
	"math/big"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/argspec"
	"hark/playbook/jinja/netaddr"
)

// usable returns the first and the last address that hosts of a network of more than one can have, as numbers.
func usable(n netaddr.Network) (first, last *big.Int) {
	first, last = n.First().Int(), n.Last().Int()
	if n.SizeIs(2) > 0 {
		first = new(big.Int).Add(first, big.NewInt(1))
		last = new(big.Int).Sub(last, big.NewInt(1))
	}
	return first, last
}

// addressOf returns the address of a number. As in Ansible the version is forgotten: small ones are IPv4.
func addressOf(n *big.Int) (value.Value, error) {
	a, err := netaddr.FromInt(n)
	if err != nil {
		return nil, err
	}
	return text(a.String()), nil
}

// ofNetwork returns an answer about a network of more than one address.
func ofNetwork(f func(s subject) (value.Value, error)) answer {
	return func(s subject) (value.Value, error) {
		if !s.whole {
			return nil, errNoNetwork
		}
		if s.SizeIs(1) == 0 {
			return none, nil
		}
		return f(s)
	}
}

func firstUsable(s subject) (value.Value, error) {
	return ofNetwork(func(s subject) (value.Value, error) {
		first, _ := usable(s.Network)
		return addressOf(first)
	})(s)
}

func lastUsable(s subject) (value.Value, error) {
	return ofNetwork(func(s subject) (value.Value, error) {
		_, last := usable(s.Network)
		return addressOf(last)
	})(s)
}

func rangeUsable(s subject) (value.Value, error) {
	return ofNetwork(func(s subject) (value.Value, error) {
		first, last := usable(s.Network)
		from, err := netaddr.FromInt(first)
		if err != nil {
			return nil, err
		}
		to, err := netaddr.FromInt(last)
		return text(from.String() + "-" + to.String()), err
	})(s)
}

// neighbour returns the usable address that is by further on.
func neighbour(by int64) answer {
	return ofNetwork(func(s subject) (value.Value, error) { return nearby(s.Network, big.NewInt(by)) })
}

func nearby(n netaddr.Network, by *big.Int) (value.Value, error) {
	at := new(big.Int).Add(n.IP().Int(), by)
	if _, err := netaddr.FromInt(at); err != nil {
		return nil, err
	}
	first, last := usable(n)
	if at.Cmp(first) < 0 || at.Cmp(last) > 0 {
		return none, nil
	}
	return addressOf(at)
}

func peer(s subject) (value.Value, error) {
	if !s.whole {
		return nil, errNoNetwork
	}
	n := s.IP().Int()
	low := new(big.Int).And(n, big.NewInt(3)).Int64()
	switch {
	case s.SizeIs(2) == 0:
		return addressOf(new(big.Int).Xor(n, big.NewInt(1)))
	case s.SizeIs(4) == 0 && low == 0:
		return nil, value.FilterErrorf("Network address of /30 has no peer")
	case s.SizeIs(4) == 0 && low == 3:
		return nil, value.FilterErrorf("Broadcast address of /30 has no peer")
	case s.SizeIs(4) == 0:
		return addressOf(new(big.Int).Xor(n, big.NewInt(3)))
	}
	return nil, value.FilterErrorf("Not a point-to-point network")
}

// nthUsable is next_nth_usable or, with sign -1, previous_nth_usable.
func nthUsable(sign int64) jinja.Filter {
	return func(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
		a, err := argspec.Bind(in, args, argspec.Option{Name: "value", Kind: "str"},
			argspec.Option{Name: "offset", Kind: "int"})
		if err != nil {
			return nil, err
		}
		n, ok, err := normal(a[0])
		if err != nil || !ok {
			return never, err
		}
		offset := value.AsBig(a[1])
		if _, isBool := a[1].(value.Bool); isBool || offset == nil {
			return nil, value.FilterErrorf("Must pass in an integer")
		}
		if n.SizeIs(1) == 0 {
			return none, nil
		}
		return nearby(n, new(big.Int).Mul(offset, big.NewInt(sign)))
	}
}

// normal returns an address or network: that of a host keeps its address.
func normal(v value.Value) (netaddr.Network, bool, error) {
	s, ok, err := parse(v, 0)
	return s.Network, ok, err
}
