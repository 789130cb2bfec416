package posix

import (
	"context"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type firewalldArgs struct {
	IcmpBlock          *string       `arg:"icmp_block" doc:"Type of ICMP messages that are blocked."`
	IcmpBlockInversion *string       `arg:"icmp_block_inversion" doc:"Whether all types but the blocked ones are blocked."`
	Service            *string       `arg:"service" doc:"A service that firewalld knows."`
	Protocol           *string       `arg:"protocol" doc:"A protocol."`
	Port               *string       `arg:"port" doc:"A port or range with its protocol: 80/tcp, 6000-6010/udp."`
	PortForward        []*value.Dict `arg:"port_forward" doc:"A port that is forwarded: port, proto, toport and perhaps toaddr."`
	RichRule           *string       `arg:"rich_rule" doc:"A rule in the rich language."`
	Zone               *string       `arg:"zone" doc:"The zone; by itself firewalld's default."`
	Immediate          bool          `arg:"immediate,default=no" doc:"What runs is changed; yes if not permanent."`
	Source             *string       `arg:"source" doc:"A network whose packets belong to the zone."`
	Permanent          *bool         `arg:"permanent,type=bool" doc:"What will be after a restart is changed."`
	State              string        `arg:"state,required,choices=absent|disabled|enabled|present" doc:"Whether it shall be there; present and absent are for zones and targets."`
	Timeout            int           `arg:"timeout,default=0" doc:"Seconds after which what runs goes back."`
	Interface          *string       `arg:"interface" doc:"An interface that belongs to the zone."`
	Forward            *bool         `arg:"forward,extra" doc:"Whether packets go from one interface of the zone to another."`
	Masquerade         *string       `arg:"masquerade" doc:"Whether the zone masquerades."`
	Offline            *bool         `arg:"offline,type=bool" doc:"Where firewalld does not run, immediate is of no effect. Its files are changed there in any case, if permanent."`
	Target             *string       `arg:"target,choices=default|ACCEPT|DROP|%%REJECT%%" doc:"What becomes of packets that no rule is about."`
}

// Firewalld is ansible.posix.firewalld.
var Firewalld = modules.Define("ansible.posix.firewalld", "Manage the firewall with firewalld", runFirewalld,
	modules.StartsInCheck("firewall-cmd", "firewall-offline-cmd"),
	modules.WithRules(modules.Rules{
		Exclusive: [][]string{{"icmp_block", "icmp_block_inversion", "service", "protocol", "port", "port_forward",
			"rich_rule", "interface",
			"masquerade", "source", "target"}},
		By: map[string][]string{"interface": {"zone"}, "target": {"zone"}, "source": {"permanent"}},
	}),
	modules.Documented(`- ansible.posix.firewalld: {service: https, permanent: true, immediate: true, state: enabled}
- ansible.posix.firewalld: {zone: internal, source: 10.0.0.0/8, permanent: true, state: enabled}
- ansible.posix.firewalld: {rich_rule: 'rule service name="ftp" audit limit value="1/m" accept', permanent: true, state: enabled}
- ansible.posix.firewalld: {zone: custom, permanent: true, state: present}
`,
		modules.Return{Name: "msg", Type: "str", When: "always", Doc: "What was done."},
	))

// wall is one call of the module.
type wall struct {
	ctx     context.Context
	env     *modules.Env
	args    firewalldArgs
	path    string
	offline bool
	zone    string
	msgs    []string
	changed bool
}

// wallRule is something that a zone has or has not.
type wallRule struct {
	// has reports whether it is there, add and drop change that; each for what is permanent or what runs.
	has       func(permanent bool) (bool, error)
	add, drop func(permanent bool) error
	// on and off are the states that mean each.
	on, off []string
	// added, dropped and done are called with each change.
	added, dropped, done string
}

func runFirewalld(ctx context.Context, env *modules.Env, a firewalldArgs) (modules.Result, error) {
	w := &wall{ctx: ctx, env: env, args: a}
	if err := w.start(); err != nil {
		return modules.Result{}, err
	}
	if a.Permanent == nil || !*a.Permanent {
		w.args.Immediate = true
	}
	if w.offline && a.Offline != nil && *a.Offline && a.Permanent != nil && *a.Permanent {
		w.args.Immediate = false
	}
	if w.args.Immediate && w.offline {
		return modules.Fail("firewall is not currently running, unable to perform immediate actions without a running " +
			"firewall daemon")
	}
	rule, err := w.rule()
	if err != nil {
		return modules.Result{}, err
	}
	if rule != nil {
		ended, err := w.bring(rule)
		if err != nil || ended {
			return modules.Result{Changed: ended}, err
		}
	}
	if w.offline {
		w.msgs = append(w.msgs, "(offline operation: only on-disk configs were altered)")
	}
	res := modules.Result{Changed: w.changed}
	res.Set("msg", strings.Join(w.msgs, ", "))
	return res, nil
}

// start finds out whether firewalld runs, and the zone.
func (w *wall) start() error {
	online, err := tool.Find(w.env, "firewall-cmd")
	if err != nil {
		return err
	}
	w.path = online
	out, err := tool.Run(w.ctx, w.env, modules.Command{Argv: []string{online, "--state"}, Env: tool.Plain()})
	if err != nil {
		return err
	}
	if out.Rc != 0 {
		w.offline = true
		if w.path, err = tool.Find(w.env, "firewall-offline-cmd"); err != nil {
			return err
		}
	}
	if w.zone = modules.Text(w.args.Zone); w.zone == "" {
		w.zone, err = w.cmd(false, "--get-default-zone")
	}
	return err
}

// cmd runs firewall-cmd and gives what it prints. An error of firewalld fails the task.
func (w *wall) cmd(permanent bool, words ...string) (string, error) {
	out, err := w.run(permanent, words...)
	if err == nil && out.Rc != 0 {
		err = w.failure(out)
	}
	return strings.TrimSpace(out.Stdout), err
}

func (w *wall) run(permanent bool, words ...string) (tool.Output, error) {
	argv := []string{w.path}
	if permanent && !w.offline {
		argv = append(argv, "--permanent")
	}
	return tool.Run(w.ctx, w.env, modules.Command{Argv: append(argv, words...), Env: tool.Plain()})
}

// failure words an error of firewalld.
func (w *wall) failure(out tool.Output) error {
	lines := strings.Split(strings.TrimSpace(out.Stdout+"\n"+out.Stderr), "\n")
	said := strings.TrimPrefix(lines[len(lines)-1], "Error: ")    // there may be warnings before it
	if !w.offline && !strings.HasPrefix(said, "INVALID_RULE: ") { // rich rules are read on this side of the bus
		said = "org.fedoraproject.FirewallD1.Exception: " + said
	}
	msgs := w.msgs
	if strings.Contains(said, "INVALID_SERVICE") {
		msgs = append(msgs[:len(msgs):len(msgs)],
			"Services are defined by port/tcp relationship and named as they are in /etc/services (on most systems)")
	}
	if len(msgs) > 0 {
		said += " " + strings.Join(msgs, ", ")
	}
	return tool.Fail(nil, "ERROR: Exception caught: %s", said)
}

// query asks a yes or no of a zone.
func (w *wall) query(permanent bool, option string) (bool, error) {
	out, err := w.run(permanent, "--zone="+w.zone, option)
	if err != nil {
		return false, err
	}
	if answer := strings.TrimSpace(out.Stdout); out.Rc > 1 || answer != "yes" && answer != "no" {
		return false, w.failure(out)
	}
	return out.Rc == 0, nil
}

// bring makes the rule so. In check mode a change ends the call, without a word, as in Ansible.
func (w *wall) bring(r *wallRule) (ended bool, err error) {
	var kinds []bool
	word := "Non-permanent operation"
	switch permanent := w.args.Permanent != nil && *w.args.Permanent; {
	case permanent && w.args.Immediate:
		kinds, word = []bool{true, false}, "Permanent and Non-Permanent(immediate) operation"
	case permanent:
		kinds, word = []bool{true}, "Permanent operation"
	default:
		kinds = []bool{false}
	}
	has := map[bool]bool{}
	for _, permanent := range kinds {
		if has[permanent], err = r.has(permanent); err != nil {
			return false, err
		}
	}
	w.msgs = append(w.msgs, word)
	want, change, told := true, r.add, r.added
	switch state := w.args.State; {
	case slices.Contains(r.on, state):
	case slices.Contains(r.off, state):
		want, change, told = false, r.drop, r.dropped
	default:
		return false, nil
	}
	for _, permanent := range kinds {
		if has[permanent] == want {
			continue
		}
		if w.env.Check {
			return true, nil
		}
		if err := change(permanent); err != nil {
			return false, err
		}
		w.changed = true
	}
	for _, msg := range []string{told, r.done} {
		if w.changed && msg != "" {
			w.msgs = append(w.msgs, msg)
		}
	}
	return false, nil
}
