package utils

import (
	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/argspec"
	"hark/playbook/jinja/netaddr"
)

func cidrMerge(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := argspec.Bind(in, args, argspec.Option{Name: "value", Kind: "list"},
		argspec.Option{Name: "action", Kind: "str", Default: text("merge")})
	if err != nil {
		return nil, err
	}
	items, isList := value.Items(a[0])
	action, _ := value.Text(a[1])
	switch {
	case !isList:
		return nil, value.FilterErrorf("cidr_merge: expected iterable, got None")
	case action != "merge" && action != "span":
		return nil, value.FilterErrorf("cidr_merge: invalid action '%s'", action)
	}
	var networks []netaddr.Network
	for _, item := range items {
		n, err := network(item)
		if err != nil {
			return nil, value.FilterErrorf("cidr_merge: error in netaddr:\n%s", err)
		}
		networks = append(networks, n)
	}
	if action == "span" {
		return span(networks)
	}
	out := value.NewList()
	for _, n := range netaddr.Merge(networks) {
		out.Items = append(out.Items, text(n.String()))
	}
	return out, nil
}

// network reads a network in any form that netaddr takes.
func network(v value.Value) (netaddr.Network, error) {
	s, ok := value.Text(v)
	if !ok {
		return netaddr.Network{}, value.TypeErrorf("unexpected type %s for addr arg", value.ClassOf(v).Str())
	}
	return netaddr.ParseNetwork(s)
}

func span(networks []netaddr.Network) (value.Value, error) {
	switch len(networks) {
	case 0:
		return none, nil
	case 1:
		return text(networks[0].String()), nil
	}
	n, err := netaddr.Span(networks)
	if err != nil {
		return nil, value.FilterErrorf("cidr_merge: error in netaddr:\n%s", err)
	}
	return text(n.String()), nil
}

func ipWrap(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	if err := accepted(in, "ipwrap"); err != nil {
		return nil, err
	}
	a, err := argspec.Bind(in, &jinja.Args{Kw: args.Kw}, argspec.Option{Name: "value", Kind: "raw"},
		argspec.Option{Name: "query", Kind: "str", Default: text("")})
	if err != nil {
		return nil, err
	}
	query, _ := value.Text(a[1])
	items, isList := value.Items(a[0])
	if !isList {
		return wrap(a[0], query), nil
	}
	out := value.NewList()
	for _, item := range items {
		out.Items = append(out.Items, wrap(item, query))
	}
	return out, nil
}

// wrap puts IPv6 addresses in brackets and leaves everything else as it is.
func wrap(v value.Value, query string) value.Value {
	got, err := ipaddr(v, query, 0, "ipwrap")
	if err != nil {
		return v
	}
	if ok, err := value.Truth(got); err != nil || !ok {
		return v
	}
	out, err := ipaddr(got, "wrap", 0, "ipaddr")
	if err != nil {
		return v
	}
	return out
}
