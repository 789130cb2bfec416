package builtin

import (
	"slices"
	"strings"

	"hark/modules"
)

// rule writes the rule as iptables takes it, the options in the order of Ansible: users see it.
func (a *iptablesArgs) rule() []string {
	r := &ruleText{}
	if a.Wait != nil && *a.Wait != "" {
		r.words = append(r.words, "-w", *a.Wait)
	}
	r.option("-p", a.Protocol)
	r.option("-s", a.Source)
	r.option("-d", a.Destination)
	for _, m := range a.Match {
		r.option("-m", &m)
	}
	if f := a.TCPFlags; f != nil {
		r.words = append(r.words, "--tcp-flags", strings.Join(f.Flags, ","), strings.Join(f.FlagsSet, ","))
	}
	r.option("-j", a.Jump)
	if strings.EqualFold(modules.Text(a.Jump), "tee") {
		r.option("--gateway", a.Gateway)
	}
	r.option("--log-prefix", a.LogPrefix)
	r.option("--log-level", a.LogLevel)
	r.option("--to-destination", a.ToDestination)
	if len(a.DestPorts) > 0 {
		r.words = append(r.words, "-m", "multiport")
		r.list("--dports", a.DestPorts)
	}
	r.option("--to-source", a.ToSource)
	r.option("-g", a.Goto)
	r.option("-i", a.InInterface)
	r.option("-o", a.OutInterface)
	r.option("-f", a.Fragment)
	r.option("-c", a.SetCounters)
	r.option("--source-port", a.SourcePort)
	r.option("--destination-port", a.DestinationPort)
	r.option("--to-ports", a.ToPorts)
	r.option("--set-dscp", a.DSCPMark)
	r.option("--set-dscp-class", a.DSCPClass)
	switch a.Syn {
	case "match":
		r.words = append(r.words, "--syn")
	case "negate":
		r.words = append(r.words, "!", "--syn")
	}
	a.extensions(r)
	if a.Jump == nil && modules.Text(a.RejectWith) != "" {
		r.words = append(r.words, "-j", "REJECT")
	}
	r.option("--reject-with", a.RejectWith)
	icmp := "--icmp-type"
	if a.IPVersion == "ipv6" {
		icmp = "--icmpv6-type"
	}
	r.option(icmp, a.ICMPType)
	if modules.Text(a.Comment) != "" {
		r.words = append(r.words, "-m", "comment")
	}
	r.option("--comment", a.Comment)
	return r.words
}

// extensions are the options that need an extension, which is loaded unless match does.
func (a *iptablesArgs) extensions(r *ruleText) {
	loads := func(name string) bool { return slices.Contains(a.Match, name) }
	switch {
	case loads("conntrack"):
		r.list("--ctstate", a.CTState)
	case loads("state"):
		r.list("--state", a.CTState)
	case len(a.CTState) > 0:
		r.words = append(r.words, "-m", "conntrack")
		r.list("--ctstate", a.CTState)
	}
	if !loads("iprange") && (modules.Text(a.SrcRange) != "" || modules.Text(a.DstRange) != "") {
		r.words = append(r.words, "-m", "iprange")
	}
	r.option("--src-range", a.SrcRange)
	r.option("--dst-range", a.DstRange)
	if loads("set") || modules.Text(a.MatchSet) != "" {
		if !loads("set") {
			r.words = append(r.words, "-m", "set")
		}
		r.option("--match-set", a.MatchSet)
		if a.MatchSetFlags != nil {
			r.words = append(r.words, *a.MatchSetFlags)
		}
	}
	if modules.Text(a.Limit) != "" || modules.Text(a.LimitBurst) != "" {
		r.words = append(r.words, "-m", "limit")
	}
	r.option("--limit", a.Limit)
	r.option("--limit-burst", a.LimitBurst)
	for _, owner := range []struct {
		flag string
		name *string
	}{{"--uid-owner", a.UIDOwner}, {"--gid-owner", a.GIDOwner}} {
		if modules.Text(owner.name) == "" {
			continue
		}
		r.words = append(r.words, "-m", "owner")
		r.option(owner.flag, owner.name)
	}
}

// ruleText gathers the words of a rule.
type ruleText struct{ words []string }

// option adds an option that was given; a value that begins with ! negates it.
func (r *ruleText) option(flag string, v *string) {
	switch {
	case v == nil:
	case strings.HasPrefix(*v, "!"):
		r.words = append(r.words, "!", flag, (*v)[1:])
	default:
		r.words = append(r.words, flag, *v)
	}
}

func (r *ruleText) list(flag string, items []string) {
	if len(items) > 0 {
		r.words = append(r.words, flag, strings.Join(items, ","))
	}
}
