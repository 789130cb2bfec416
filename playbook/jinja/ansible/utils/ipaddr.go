package utils

import (
	"strconv"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/argspec"
	"hark/playbook/jinja/netaddr"
)

func ipaddrFilter(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	if err := accepted(in, "ipaddr"); err != nil {
		return nil, err
	}
	a, err := argspec.Bind(in, args, argspec.Option{Name: "value", Kind: "raw"},
		argspec.Option{Name: "query", Kind: "str", Default: text("")}, argspec.Option{Name: "version", Kind: "int"},
		argspec.Option{Name: "alias", Kind: "str"})
	if err != nil {
		return nil, err
	}
	query, _ := value.Text(a[1])
	version, _ := value.AsInt(a[2])
	alias, _ := value.Text(a[3])
	return ipaddr(a[0], query, int(version), alias)
}

// versioned is ipaddr for addresses of one version.
func versioned(name string, version int) jinja.Filter {
	return func(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
		if err := accepted(in, name); err != nil {
			return nil, err
		}
		a, err := argspec.Bind(in, args, argspec.Option{Name: "value", Kind: "raw"},
			argspec.Option{Name: "query", Kind: "str", Default: text("")})
		if err != nil {
			return nil, err
		}
		query, _ := value.Text(a[1])
		return ipaddr(a[0], query, version, name)
	}
}

// accepted refuses what is neither text, number nor list.
func accepted(v value.Value, filter string) error {
	_, isList := v.(*value.List)
	if isText(v) || isList || value.AsBig(v) != nil && filter != "ipwrap" {
		return nil
	}
	if _, isBool := v.(value.Bool); isBool {
		return nil
	}
	return value.FilterErrorf("Unrecognized type <%s> for %s filter <value>", value.ClassOf(v).Str(), filter)
}

func isText(v value.Value) bool { _, ok := value.Text(v); return ok }

// subject is what a query is about.
type subject struct {
	netaddr.Network
	// whole is true for what was written with a prefix, and false for an address only.
	whole bool
	// as is the value that is given back when a query is only a question.
	as value.Value
}

// ipaddr answers a query about an address or a network, or about each of a list of them. An empty alias is one that
// was not given, which Ansible cannot print in its error.
func ipaddr(v value.Value, query string, version int, alias string) (value.Value, error) {
	if items, isList := value.Items(v); isList {
		out := value.NewList()
		for _, item := range items {
			got, err := ipaddr(item, query, version, "ipaddr")
			if err != nil {
				return nil, err
			}
			if ok, err := value.Truth(got); err != nil {
				return nil, err
			} else if ok {
				out.Items = append(out.Items, got)
			}
		}
		return out, nil
	}
	s, ok, err := parse(v, version)
	if err != nil || !ok {
		return never, err
	}
	answer, known := queries()[query]
	lookup, isNetwork := queryNetwork(query)
	if version != 0 && s.Version() != version {
		return never, nil
	}
	switch {
	case query == "cidr_lookup":
		return nil, value.Errorf("KeyError", "'iplist'")
	case known:
		return answer(s)
	case isNetwork:
		if lookup.CIDR().Contains(s.Network) {
			return s.as, nil
		}
		return none, nil
	}
	return s.byIndex(query, alias)
}

// queryNetwork returns the network that a query names, to ask whether an address lies in it.
func queryNetwork(query string) (netaddr.Network, bool) {
	if query == "" || allDigits(query) {
		return netaddr.Network{}, false
	}
	if _, known := queries()[query]; known {
		return netaddr.Network{}, false
	}
	n, err := netaddr.ParseNetwork(query)
	return n, err == nil
}

func allDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// parse reads what is asked about: text, or a number.
func parse(v value.Value, version int) (subject, bool, error) {
	given, err := value.Truth(v)
	if err != nil || !given || v == value.Bool(true) {
		return subject{}, false, err
	}
	s, err := value.ToStr(v)
	if err != nil {
		return subject{}, false, err
	}
	if allDigits(s) {
		n, ok := number(s, version)
		if !ok {
			return subject{}, false, nil
		}
		return subject{Network: n, as: text(n.String())}, true, nil
	}
	if !isText(v) {
		return subject{}, false, nil
	}
	if n, err := netaddr.ParseNetwork(s); err == nil {
		return subject{Network: n, as: v, whole: strings.Count(s, "/") == 1}, true, nil
	}
	n, ok := numberAndPrefix(s)
	if !ok {
		return subject{}, false, nil
	}
	return subject{Network: n, as: text(n.String()), whole: true}, true, nil
}

// number returns an address that is written as a number, of IPv4 if it fits.
func number(digits string, version int) (netaddr.Network, bool) {
	n, ok := value.ParseInt(digits, 10)
	if !ok {
		return netaddr.Network{}, false
	}
	if version != 6 {
		if net, err := netaddr.NumberNetwork(n, 4, 32); err == nil {
			return net, true
		}
	}
	net, err := netaddr.NumberNetwork(n, 6, 128)
	return net, err == nil
}

// numberAndPrefix returns a network whose address is written as a number.
func numberAndPrefix(s string) (netaddr.Network, bool) {
	address, suffix, _ := strings.Cut(s, "/")
	n, ok := netaddr.PythonInt(address)
	prefix, okPrefix := netaddr.PythonInt(suffix)
	if !ok || !okPrefix || !prefix.IsInt64() || prefix.Int64() > 128 {
		return netaddr.Network{}, false
	}
	for _, version := range []int{4, 6} {
		if net, err := netaddr.NumberNetwork(n, version, int(prefix.Int64())); err == nil {
			return net, true
		}
	}
	return netaddr.Network{}, false
}

// byIndex returns the address of a network with a number.
func (s subject) byIndex(query, alias string) (value.Value, error) {
	if _, err := strconv.ParseFloat(strings.TrimSpace(query), 64); err != nil {
		if alias == "" {
			return nil, value.TypeErrorf("unsupported operand type(s) for +: 'NoneType' and 'str'")
		}
		return nil, value.FilterErrorf("%s: unknown filter type: %s", alias, query)
	}
	switch {
	case s.SizeIs(1) == 0 && s.whole:
		return text(s.String()), nil
	case s.SizeIs(1) == 0:
		return text(s.IP().String()), nil
	}
	n, ok := netaddr.PythonInt(query)
	if !ok {
		return never, nil
	}
	a, err := s.At(n)
	if err != nil {
		return never, nil
	}
	return text(a.String() + "/" + strconv.Itoa(s.Prefix())), nil
}
