package utils

import (
	"math/big"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/argspec"
	"hark/playbook/jinja/netaddr"
)

func ipSubnet(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := argspec.Bind(in, args, argspec.Option{Name: "value", Kind: "str"},
		argspec.Option{Name: "query", Kind: "str", Default: text("")}, argspec.Option{Name: "index", Kind: "int"})
	if err != nil {
		return nil, err
	}
	n, ok, err := normal(a[0])
	if err != nil || !ok {
		return never, err
	}
	n = n.CIDR()
	query, _ := value.Text(a[1])
	index := value.AsBig(a[2])
	size, isSize := netaddr.PythonInt(query)
	switch {
	case query == "":
		return text(n.String()), nil
	case !allDigits(query):
		return rankIn(n, a[1], query)
	case !isSize || !size.IsInt64() || size.Int64() > int64(bits(n)):
		return never, nil
	case n.SizeIs(1) == 0:
		return supernet(n, int(size.Int64()), index)
	}
	return subnet(n, int(size.Int64()), index)
}

func bits(n netaddr.Network) int { return n.Netmask().Host().Prefix() }

// supernet returns one of the networks around an address, from those with the prefix size on.
func supernet(n netaddr.Network, size int, index *big.Int) (value.Value, error) {
	around := n.Supernets(size)
	at := 0
	if index != nil {
		if !index.IsInt64() || index.Int64() > int64(bits(n)+1)-index.Int64() || index.Int64() < int64(size-bits(n)) {
			return never, nil
		}
		at = int(index.Int64())
	}
	if at < 0 {
		at += len(around)
	}
	if at < 0 || at >= len(around) {
		return nil, value.Errorf("IndexError", "list index out of range")
	}
	return text(around[at].String()), nil
}

// subnet returns one of the networks of a size in n, or how many there are of them.
func subnet(n netaddr.Network, size int, index *big.Int) (value.Value, error) {
	more := size - n.Prefix()
	if index == nil {
		if more < 0 {
			return nil, value.FilterErrorf("Requested subnet size of %d is invalid", size)
		}
		return text(new(big.Int).Lsh(big.NewInt(1), uint(more)).String()), nil
	}
	count := big.NewInt(1) // of a larger network there is the part that n is
	if more > 0 {
		count.Lsh(count, uint(more))
	}
	if index.Sign() < 0 && more < 0 {
		return never, nil
	}
	if index.Sign() < 0 {
		index = new(big.Int).Add(index, count)
	}
	if index.Sign() < 0 || index.Cmp(count) >= 0 {
		return never, nil
	}
	at := new(big.Int).Lsh(index, uint(bits(n)-size))
	a, err := netaddr.FromInt(at.Add(at, n.First().Int()))
	if err != nil {
		return nil, err
	}
	out, err := netaddr.NetworkOf(a, size)
	if err != nil {
		return nil, err
	}
	return text(out.String()), nil
}

// rankIn returns the number of n among the networks of its size in another.
func rankIn(n netaddr.Network, v value.Value, query string) (value.Value, error) {
	outer, ok, err := normal(v)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, value.FilterErrorf("You must pass a valid subnet or IP address; %s is invalid", query)
	}
	if !outer.CIDR().Contains(n) {
		return nil, value.FilterErrorf("%s is not in the subnet %s", n, outer.CIDR())
	}
	rank := new(big.Int).Sub(n.First().Int(), outer.First().Int())
	rank.Rsh(rank, uint(bits(n)-n.Prefix()))
	return text(rank.Add(rank, big.NewInt(1)).String()), nil
}

func nthHost(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := argspec.Bind(in, args, argspec.Option{Name: "value", Kind: "str"},
		argspec.Option{Name: "query", Kind: "str"})
	if err != nil {
		return nil, err
	}
	n, ok, err := normal(a[0])
	query, _ := value.Text(a[1])
	index, isInt := netaddr.PythonInt(query)
	if err != nil || !ok || !isInt || n.Size().Cmp(index) <= 0 {
		return never, err
	}
	at, err := n.At(index)
	if err != nil {
		return nil, err
	}
	return text(at.String()), nil
}

// bounds returns the first and the last address of a network, or of the part of it that hosts can use, as numbers.
// What is no network is 0.
func bounds(v value.Value, onlyUsable bool) (first, last *big.Int, err error) {
	n, ok, err := normal(v)
	if err != nil || !ok {
		return new(big.Int), new(big.Int), err
	}
	first, last = n.First().Int(), n.First().Int()
	switch {
	case onlyUsable && n.SizeIs(1) > 0:
		first, last = usable(n)
	case n.SizeIs(2) > 0: // a network of two has no broadcast address, and Ansible then takes the first
		last = n.Last().Int()
	}
	return first, last, nil
}

// within asks whether a network lies in another, or in the part of it that hosts can use.
func within(onlyUsable bool) jinja.Filter {
	return func(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
		a, err := argspec.Bind(in, args, argspec.Option{Name: "value", Kind: "str"},
			argspec.Option{Name: "test", Kind: "str"})
		if err != nil {
			return nil, err
		}
		first, last, err := bounds(a[0], onlyUsable)
		if err != nil {
			return nil, err
		}
		low, high, err := bounds(a[1], false)
		if err != nil {
			return nil, err
		}
		return value.Bool(between(low, first, last) && between(high, first, last)), nil
	}
}

func between(n, low, high *big.Int) bool { return low.Cmp(n) <= 0 && n.Cmp(high) <= 0 }

func reduceOnNetwork(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := argspec.Bind(in, args, argspec.Option{Name: "value", Kind: "list"},
		argspec.Option{Name: "network", Kind: "str"})
	if err != nil {
		return nil, err
	}
	first, last, err := bounds(a[1], false)
	if err != nil {
		return nil, err
	}
	out := value.NewList()
	items, _ := value.Items(a[0])
	for _, item := range items {
		low, high, err := bounds(item, false)
		if err != nil {
			return nil, err
		}
		if between(low, first, last) && between(high, first, last) {
			out.Items = append(out.Items, item)
		}
	}
	return out, nil
}

func ipMath(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := argspec.Bind(in, args, argspec.Option{Name: "value", Kind: "str"},
		argspec.Option{Name: "amount", Kind: "int"})
	if err != nil {
		return nil, err
	}
	s, ok := value.Text(a[0])
	if !ok {
		return nil, value.TypeErrorf("argument of type '%s' is not iterable", a[0].Type())
	}
	ip, valid := netaddr.ParseLoose(s)
	if n, err := netaddr.ParseNetwork(s); !valid && err == nil && strings.Contains(s, "/") {
		ip, valid = n.IP(), true
	}
	if !valid {
		return nil, value.FilterErrorf("You must pass a valid IP address; %s is invalid", s)
	}
	amount := value.AsBig(a[1])
	if amount == nil {
		shown, err := value.ToStr(a[1])
		if err != nil {
			return nil, err
		}
		return nil, value.FilterErrorf("You must pass an integer for arithmetic; %s is not a valid integer", shown)
	}
	sum, err := ip.Add(amount)
	if err != nil {
		return nil, err
	}
	return text(sum.String()), nil
}

// wide is the most addresses that usable_range lists.
const wide = 1 << 20

func usableRange(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	if _, err := args.Bind("_usable_range"); err != nil {
		return nil, err
	}
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	n, err := strictNetwork(s)
	if err != nil {
		return nil, value.FilterErrorf("Error while using plugin 'usable_range': %s", err)
	}
	if n.SizeIs(wide) > 0 {
		return nil, value.FilterErrorf("Error while using plugin 'usable_range': %s has more than %d addresses", s, wide)
	}
	ips := value.NewList()
	for i := range n.Size().Int64() {
		ip, err := n.At(big.NewInt(i))
		if err != nil {
			return nil, err
		}
		ips.Items = append(ips.Items, text(ip.String()))
	}
	out := value.NewDict()
	out.SetKey(text("usable_ips"), ips)
	out.SetKey(text("number_of_ips"), value.NewInt(n.Size()))
	return out, nil
}
