package facts

import (
	"slices"
	"sort"
	"strings"
)

// collector gathers one family of facts. Its ids are the other names by which gather_subset may call it.
type collector struct {
	name     string
	ids      []string
	requires []string
	minimal  bool // gathered even with gather_subset=!all
	collect  func(*probe)
}

// collectors stand in an order in which each comes after what it requires.
var collectors = []collector{
	{name: "platform", ids: []string{"system", "kernel", "kernel_version", "machine", "python_version", "architecture",
		"machine_id"}, minimal: true, collect: platform},
	{name: "distribution", ids: []string{"distribution_version", "distribution_release", "distribution_major_version",
		"os_family"}, minimal: true, collect: distribution},
	{name: "lsb", minimal: true, collect: lsb},
	{name: "selinux", minimal: true, collect: selinux},
	{name: "apparmor", minimal: true, collect: apparmor},
	{name: "chroot", ids: []string{"is_chroot"}, collect: chroot},
	{name: "fips", minimal: true, collect: fips},
	{name: "python", minimal: true, collect: python},
	{name: "caps", ids: []string{"system_capabilities", "system_capabilities_enforced"}, minimal: true,
		collect: capabilities},
	{name: "pkg_mgr", requires: []string{"distribution"}, minimal: true, collect: packageManager},
	{name: "service_mgr", requires: []string{"platform", "distribution"}, minimal: true, collect: serviceManager},
	{name: "cmdline", minimal: true, collect: commandLine},
	{name: "date_time", minimal: true, collect: dateTime},
	{name: "env", minimal: true, collect: environment},
	{name: "loadavg", collect: loadAverage},
	{name: "ssh_pub_keys", ids: []string{"ssh_host_pub_keys", "ssh_host_key_dsa_public", "ssh_host_key_rsa_public",
		"ssh_host_key_ecdsa_public", "ssh_host_key_ed25519_public"}, minimal: true, collect: hostKeys},
	{name: "user", ids: []string{"user_id", "user_uid", "user_gid", "user_gecos", "user_dir", "user_shell", "real_user_id",
		"effective_user_id", "effective_group_ids"}, minimal: true, collect: user},
	{name: "virtual", ids: []string{"virtualization_type", "virtualization_role", "virtualization_tech_guest",
		"virtualization_tech_host"}, collect: virtual},
	{name: "hardware", ids: []string{"processor", "processor_cores", "processor_count", "mounts", "devices"},
		requires: []string{"platform"}, collect: hardware},
	{name: "dns", minimal: true, collect: dns},
	{name: "fibre_channel_wwn", collect: fibreChannel},
	{name: "network", ids: []string{"interfaces", "default_ipv4", "default_ipv6", "all_ipv4_addresses",
		"all_ipv6_addresses"}, requires: []string{"distribution", "platform"}, collect: network},
	{name: "iscsi", collect: iscsi},
	{name: "nvme", collect: nvme},
	{name: "local", minimal: true, collect: local},
	{name: "facter", collect: facter},
	{name: "ohai", collect: ohai},
}

// chosen returns the names of the collectors that a gather_subset asks for: the minimal ones and those added, without
// those excluded, with those named outright, and what all of these require. unknown is the first term that names
// nothing, "" if there is none.
func chosen(subset []string) (names map[string]bool, unknown string) {
	if len(subset) == 0 {
		subset = []string{"all"}
	}
	added, excluded, outright := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, term := range append([]string{"min"}, subset...) {
		name, negated := strings.CutPrefix(term, "!")
		switch {
		case name == "min":
			mark(target(negated, added, excluded), func(c collector) bool { return c.minimal })
		case name == "all" && negated:
			mark(excluded, func(c collector) bool { return !c.minimal })
		case name == "all":
			mark(added, func(collector) bool { return true })
		case negated:
			mark(excluded, func(c collector) bool { return c.is(name) })
		default:
			if !mark(added, func(c collector) bool { return c.is(name) }) {
				return nil, name
			}
			mark(outright, func(c collector) bool { return c.is(name) })
		}
	}
	for name := range excluded {
		if !outright[name] {
			delete(added, name)
		}
	}
	for again := true; again; {
		again = false
		for _, c := range collectors {
			for _, need := range c.requires {
				if added[c.name] && !added[need] {
					added[need], again = true, true
				}
			}
		}
	}
	return added, ""
}

func (c collector) is(name string) bool { return c.name == name || slices.Contains(c.ids, name) }

func target(negated bool, added, excluded map[string]bool) map[string]bool {
	if negated {
		return excluded
	}
	return added
}

// mark puts the collectors that match into set; false means that there was none.
func mark(set map[string]bool, match func(collector) bool) bool {
	found := false
	for _, c := range collectors {
		if match(c) {
			set[c.name], found = true, true
		}
	}
	return found
}

func subsetNames() []string {
	var names []string
	for _, c := range collectors {
		names = append(append(names, c.name), c.ids...)
	}
	sort.Strings(names)
	return names
}
