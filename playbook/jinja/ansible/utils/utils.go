// Package utils holds the filters, tests and lookups of the collection ansible.utils: ipaddr and its family, and
// those that look into nested data, by paths, keys and positions.
package utils

import (
	"maps"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// Filters returns the filters by short name.
func Filters() map[string]jinja.Filter {
	all := addressFilters()
	maps.Copy(all, pathFilters())
	return all
}

func addressFilters() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"cidr_merge":          cidrMerge,
		"hwaddr":              hardware("hwaddr"),
		"ip4_hex":             ip4Hex,
		"ipaddr":              ipaddrFilter,
		"ipmath":              ipMath,
		"ipsubnet":            ipSubnet,
		"ipv4":                versioned("ipv4", 4),
		"ipv6":                versioned("ipv6", 6),
		"ipwrap":              ipWrap,
		"macaddr":             hardware("macaddr"),
		"network_in_network":  within(false),
		"network_in_usable":   within(true),
		"next_nth_usable":     nthUsable(1),
		"nthhost":             nthHost,
		"previous_nth_usable": nthUsable(-1),
		"reduce_on_network":   reduceOnNetwork,
		"slaac":               slaac,
		"usable_range":        usableRange,
	}
}

var (
	none  = value.None{}
	never = value.Bool(false)
)

func text(s string) value.Value { return value.Str(s) }
