package builtin

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type iptablesArgs struct {
	Table           string        `arg:"table,default=filter,choices=filter|nat|mangle|raw|security" doc:"The table."`
	State           string        `arg:"state,default=present,choices=absent|present" doc:"Whether the rule shall be there."`
	Action          string        `arg:"action,default=append,choices=append|insert" doc:"Whether a new rule goes to the end of the chain or to its beginning."`
	IPVersion       string        `arg:"ip_version,default=ipv4,choices=ipv4|ipv6|both" doc:"Which internet protocol."`
	Chain           *string       `arg:"chain" doc:"The chain; needed unless flush is true."`
	RuleNum         *string       `arg:"rule_num" doc:"Number to insert the rule at."`
	Protocol        *string       `arg:"protocol" doc:"tcp, udp, icmp, all and so on; ! before it negates, here and below."`
	Wait            *string       `arg:"wait" doc:"Seconds to wait for another iptables."`
	Source          *string       `arg:"source" doc:"Address or network that packets come from."`
	ToSource        *string       `arg:"to_source" doc:"New source address, with jump SNAT."`
	Destination     *string       `arg:"destination" doc:"Address or network that packets go to."`
	ToDestination   *string       `arg:"to_destination" doc:"New destination address, with jump DNAT."`
	Match           []string      `arg:"match,default=" doc:"Extensions to load."`
	TCPFlags        *tcpFlagsArgs `arg:"tcp_flags" doc:"Flags of TCP to look at, and those of them that must be set."`
	Jump            *string       `arg:"jump" doc:"Target of the rule."`
	Gateway         *string       `arg:"gateway" doc:"Host that gets the copies, with jump TEE."`
	LogPrefix       *string       `arg:"log_prefix" doc:"Text before each line in the log."`
	LogLevel        *string       `arg:"log_level,choices=0|1|2|3|4|5|6|7|emerg|alert|crit|error|warning|notice|info|debug" doc:"Level of lines in the log."`
	Goto            *string       `arg:"goto" doc:"Chain to go on in."`
	InInterface     *string       `arg:"in_interface" doc:"Interface that packets come in by."`
	OutInterface    *string       `arg:"out_interface" doc:"Interface that packets go out by."`
	Fragment        *string       `arg:"fragment" doc:"Only second and further fragments."`
	SetCounters     *string       `arg:"set_counters" doc:"First values of the counters."`
	SourcePort      *string       `arg:"source_port" doc:"Port, or range first:last, that packets come from."`
	DestinationPort *string       `arg:"destination_port" doc:"Port, or range first:last, that packets go to."`
	DestPorts       []string      `arg:"destination_ports,default=" doc:"Several ports that packets go to."`
	ToPorts         *string       `arg:"to_ports" doc:"New destination port, with jump REDIRECT."`
	DSCPMark        *string       `arg:"set_dscp_mark" doc:"DSCP to set."`
	DSCPClass       *string       `arg:"set_dscp_mark_class" doc:"DiffServ class to set."`
	Comment         *string       `arg:"comment" doc:"Comment of the rule."`
	CTState         []string      `arg:"ctstate,default=" doc:"States of connections."`
	SrcRange        *string       `arg:"src_range" doc:"Range of addresses that packets come from."`
	DstRange        *string       `arg:"dst_range" doc:"Range of addresses that packets go to."`
	MatchSet        *string       `arg:"match_set" doc:"Name of an ipset."`
	MatchSetFlags   *string       `arg:"match_set_flags" doc:"src, dst, or both in the order of the set."`
	Limit           *string       `arg:"limit" doc:"Mean rate of matches: 5/minute."`
	LimitBurst      *string       `arg:"limit_burst" doc:"Matches before the limit counts."`
	UIDOwner        *string       `arg:"uid_owner" doc:"User whose process sends."`
	GIDOwner        *string       `arg:"gid_owner" doc:"Group whose process sends."`
	RejectWith      *string       `arg:"reject_with" doc:"Error to answer with; jump is REJECT then."`
	ICMPType        *string       `arg:"icmp_type" doc:"Type of ICMP."`
	Syn             string        `arg:"syn,default=ignore,choices=ignore|match|negate" doc:"Whether packets that open a TCP connection match."`
	Flush           bool          `arg:"flush,default=no" doc:"Remove all rules of the chain, or of the table."`
	Policy          *string       `arg:"policy,choices=ACCEPT|DROP|QUEUE|RETURN" doc:"Policy of the chain."`
	ChainManagement bool          `arg:"chain_management,default=no" doc:"Make the chain, or remove it where no rule is named."`
	Numeric         bool          `arg:"numeric,since=2.15,default=no" doc:"List addresses as numbers, without asking the name service."`
}

type tcpFlagsArgs struct {
	Flags    []string `arg:"flags" doc:"Flags to look at."`
	FlagsSet []string `arg:"flags_set" doc:"Those that must be set."`
}

// Iptables is ansible.builtin.iptables.
var Iptables = modules.Define("ansible.builtin.iptables", "Modify iptables rules", runIptables,
	modules.StartsInCheck("iptables", "ip6tables"),
	modules.WithRules(modules.Rules{
		Exclusive: [][]string{{"set_dscp_mark", "set_dscp_mark_class"}, {"flush", "policy"}},
		If: []modules.RequiredIf{
			{Param: "jump", Value: "TEE", Names: []string{"gateway"}},
			{Param: "jump", Value: "tee", Names: []string{"gateway"}},
		},
	}),
	modules.From(dialect.ModuleOptions219, func(s *modules.Spec) {
		s.Rules.If = append(slices.Clone(s.Rules.If),
			modules.RequiredIf{Param: "flush", Value: false, Names: []string{"chain"}})
		s.Rules.By = map[string][]string{"set_dscp_mark": {"jump"}, "set_dscp_mark_class": {"jump"}}
	}),
	modules.WithParam("match_set_flags", func(p *modules.Param) {
		p.Choices = []string{"src", "dst", "src,dst", "dst,src", "src,src", "dst,dst"} // commas part the words of a tag
	}),
	modules.With(func(m *modules.Module) {
		m.Examples = `- ansible.builtin.iptables: {chain: INPUT, protocol: tcp, destination_port: "22", ctstate: [NEW], jump: ACCEPT}
- ansible.builtin.iptables: {chain: INPUT, policy: DROP}
- ansible.builtin.iptables: {table: nat, chain: POSTROUTING, out_interface: eth0, jump: MASQUERADE}
`
		m.Returns = []modules.Return{
			{Name: "rule", Type: "str", When: "always", Doc: "The rule as iptables takes it."},
			{Name: "chain", Type: "str", When: "always", Doc: "The chain."},
			{Name: "table", Type: "str", When: "always", Doc: "The table."},
		}
	}))

// filter is one call of the module, for one internet protocol.
type filter struct {
	ctx  context.Context
	env  *modules.Env
	args iptablesArgs
	path string
}

func runIptables(ctx context.Context, env *modules.Env, a iptablesArgs) (modules.Result, error) {
	rule := strings.Join(a.rule(), " ")
	res := modules.Result{Data: value.DictOf(
		"failed", false, "ip_version", a.IPVersion, "table", a.Table, "chain", nil, "flush", a.Flush, "rule", rule,
		"state", a.State, "chain_management", a.ChainManagement,
	)}
	if a.Chain != nil {
		res.Data.Put("chain", *a.Chain)
	}
	filters, err := filtersOf(ctx, env, a)
	if err != nil {
		return modules.Result{}, err
	}
	if !a.Flush && a.Chain == nil {
		return modules.Fail("Either chain or flush parameter must be specified.")
	}
	if modules.Text(a.LogPrefix) != "" || modules.Text(a.LogLevel) != "" {
		if a.Jump != nil && *a.Jump != "LOG" {
			return modules.Fail("Logging options can only be used with the LOG jump target.")
		}
		log := "LOG"
		for _, f := range filters {
			f.args.Jump = &log
		}
	}
	for _, f := range filters {
		changed, err := f.apply()
		if err != nil {
			return modules.Result{}, err
		}
		res.Changed = res.Changed || changed
	}
	return res, nil
}

// filtersOf returns one filter for each internet protocol that is asked for.
func filtersOf(ctx context.Context, env *modules.Env, a iptablesArgs) ([]*filter, error) {
	versions := []string{a.IPVersion}
	if a.IPVersion == "both" {
		versions = []string{"ipv4", "ipv6"}
	}
	var filters []*filter
	for _, version := range versions {
		path, err := tool.Find(env, map[string]string{"ipv4": "iptables", "ipv6": "ip6tables"}[version])
		if err != nil {
			return nil, err
		}
		a.IPVersion = version
		filters = append(filters, &filter{ctx: ctx, env: env, args: a, path: path})
	}
	return filters, nil
}

// apply does what is asked for and reports whether that changes anything.
func (f *filter) apply() (bool, error) {
	if err := f.waits(); err != nil {
		return false, err
	}
	switch {
	case f.args.Flush:
		return true, f.change("-F", false)
	case modules.Text(f.args.Policy) != "":
		return f.setPolicy()
	case f.args.State == "absent" && len(f.args.rule()) == 0:
		return f.dropChain()
	}
	return f.bring()
}

// waits drops the wait option where this version of iptables does not have it.
func (f *filter) waits() error {
	out, err := tool.Must(f.ctx, f.env, modules.Command{Argv: []string{f.path, "--version"}})
	if err != nil {
		return err
	}
	none := ""
	switch version := versionNumbers(out.Stdout); {
	case before(version, 1, 4, 20):
		f.args.Wait = nil
	case before(version, 1, 6, 0):
		f.args.Wait = &none
	}
	return nil
}

var versionPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`v(\d+)\.(\d+)(?:\.(\d+))?`) })

func versionNumbers(text string) [3]int {
	var v [3]int
	for i, part := range versionPattern().FindStringSubmatch(text) {
		if i > 0 {
			v[i-1], _ = strconv.Atoi(part)
		}
	}
	return v
}

func before(v [3]int, a, b, c int) bool {
	for i, n := range []int{a, b, c} {
		if v[i] != n {
			return v[i] < n
		}
	}
	return false
}

// run runs iptables with an action on the chain, and with the rule if wanted.
func (f *filter) run(action string, rule bool, more ...string) (tool.Output, error) {
	argv := []string{f.path, "-t", f.args.Table, action}
	if f.args.Chain != nil {
		argv = append(argv, *f.args.Chain)
	}
	if action == "-I" && modules.Text(f.args.RuleNum) != "" {
		argv = append(argv, *f.args.RuleNum)
	}
	if rule {
		argv = append(argv, f.args.rule()...)
	}
	if action == "-L" && f.args.Numeric {
		argv = append(argv, "--numeric")
	}
	return tool.Run(f.ctx, f.env, modules.Command{Argv: append(argv, more...)})
}

// change is run for what must succeed; in check mode it does nothing.
func (f *filter) change(action string, rule bool, more ...string) error {
	if f.env.Check {
		return nil
	}
	out, err := f.run(action, rule, more...)
	if err == nil {
		err = out.Check()
	}
	return err
}

var policyPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\(policy ([A-Z]+)\)`) })

func (f *filter) setPolicy() (bool, error) {
	out, err := f.run("-L", false)
	if err == nil {
		err = out.Check()
	}
	if err != nil {
		return false, err
	}
	header, _, _ := strings.Cut(out.Stdout, "\n")
	m := policyPattern().FindStringSubmatch(header)
	if m == nil {
		return false, tool.Fail(nil, "Can't detect current policy")
	}
	if m[1] == *f.args.Policy {
		return false, nil
	}
	return true, f.change("-P", false, *f.args.Policy)
}

func (f *filter) hasChain() (bool, error) {
	out, err := f.run("-L", false)
	return out.Rc == 0, err
}

func (f *filter) dropChain() (bool, error) {
	there, err := f.hasChain()
	if err == nil && there && f.args.ChainManagement {
		err = f.change("-X", false)
	}
	return there, err
}

// bring adds or removes the rule.
func (f *filter) bring() (bool, error) {
	out, err := f.run("-C", true)
	there := out.Rc == 0
	wanted := f.args.State == "present"
	if err != nil || there == wanted {
		return false, err
	}
	if !wanted {
		return true, f.change("-D", true)
	}
	if f.args.ChainManagement {
		chain, err := f.hasChain()
		if err == nil && !chain {
			err = f.change("-N", false)
		}
		if err != nil {
			return false, err
		}
	}
	action := "-A"
	if f.args.Action == "insert" {
		action = "-I"
	}
	return true, f.change(action, true)
}
