package utils

import (
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/argspec"
	"hark/playbook/jinja/netaddr"
)

// dialects returns the ways to print hardware addresses by the name of their query.
func dialects() map[string]netaddr.Dialect {
	pairs := func(sep, format string) netaddr.Dialect { return netaddr.Dialect{Bits: 8, Sep: sep, Format: format} }
	halves := netaddr.Dialect{Bits: 24, Sep: ":", Format: "%06x"}
	return map[string]netaddr.Dialect{
		"bare":       {Bits: 48, Format: "%012X"},
		"cisco":      {Bits: 16, Sep: ".", Format: "%04x"},
		"eui48":      pairs("-", "%02X"),
		"win":        pairs("-", "%02X"),
		"linux":      pairs(":", "%02x"),
		"unix":       pairs(":", "%x"),
		"pgsql":      halves,
		"postgresql": halves,
		"psql":       halves,
	}
}

// hardware is hwaddr or macaddr.
func hardware(alias string) jinja.Filter {
	return func(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
		options := []argspec.Option{{Name: "value", Kind: "str"}, {Name: "query", Kind: "str", Default: text("")}}
		if alias == "hwaddr" {
			options = append(options, argspec.Option{Name: "alias", Kind: "str", Default: text(alias)})
		}
		a, err := argspec.Bind(in, args, options...)
		if err != nil {
			return nil, err
		}
		query, _ := value.Text(a[1])
		name := alias
		if len(a) > 2 {
			name, _ = value.Text(a[2])
		}
		return hwaddr(a[0], query, name)
	}
}

func hwaddr(v value.Value, query, alias string) (value.Value, error) {
	s, _ := value.Text(v)
	mac, err := netaddr.ParseEUI(s)
	if err != nil && query != "" && query != "bool" {
		return nil, value.FilterErrorf("%s: not a hardware address: %s", alias, s)
	}
	dialect, known := dialects()[query]
	switch {
	case (query == "" || query == "bool") && err != nil:
		return none, nil
	case query == "":
		return v, nil
	case query == "bool":
		return value.Bool(true), nil
	case query == "int":
		return value.NewInt(mac.Int()), nil
	case !known:
		return nil, value.FilterErrorf("%s: unknown filter type: %s", alias, query)
	}
	printed, err := mac.Format(dialect)
	if err != nil {
		return nil, err
	}
	return text(printed), nil
}

func slaac(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := argspec.Bind(in, args, argspec.Option{Name: "value", Kind: "str"},
		argspec.Option{Name: "query", Kind: "str"})
	if err != nil {
		return nil, err
	}
	n, ok, err := normal(a[0])
	if err != nil || !ok || n.Version() != 6 {
		return never, err
	}
	query, _ := value.Text(a[1])
	mac, err := netaddr.ParseEUI(query)
	if err != nil {
		return never, nil
	}
	ip, err := mac.IPv6(n.First())
	if err != nil {
		return nil, err
	}
	return text(ip.String()), nil
}

func ip4Hex(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := argspec.Bind(in, args, argspec.Option{Name: "arg", Kind: "str"},
		argspec.Option{Name: "delimiter", Kind: "str", Default: text("")})
	if err != nil {
		return nil, err
	}
	s, _ := value.Text(a[0])
	sep, _ := value.Text(a[1])
	var words []string
	for _, part := range strings.Split(s, ".") {
		n, ok := netaddr.PythonInt(part)
		if !ok {
			return nil, value.ValueErrorf("invalid literal for int() with base 10: %s", value.ReprText(part))
		}
		digits := n.Text(16)
		words = append(words, strings.Repeat("0", max(0, 2-len(digits)))+digits)
	}
	if len(words) < 4 {
		return nil, value.Errorf("IndexError", "Replacement index %d out of range for positional args tuple", len(words))
	}
	return text(strings.Join(words[:4], sep)), nil
}
