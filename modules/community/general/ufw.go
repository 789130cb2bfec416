package general

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/shlex"
	"hark/modules/py/value"
)

type ufwArgs struct {
	State            *string `arg:"state,choices=enabled|disabled|reloaded|reset" doc:"Whether the firewall runs now and from boot on; reloaded reads its rules again, reset throws them away."`
	Default          *string `arg:"default,alias=policy,choices=allow|deny|reject" doc:"What happens to traffic that no rule is about."`
	Logging          *string `arg:"logging,choices=full|high|low|medium|off|on" doc:"Whether, and how much, is logged."`
	Direction        *string `arg:"direction,choices=in|incoming|out|outgoing|routed" doc:"Way of the traffic: in or out with rule, one of the others with default."`
	Delete           bool    `arg:"delete,default=no" doc:"Remove the rule; insert does not count then."`
	Route            bool    `arg:"route,default=no" doc:"The rule is about traffic that the host passes on."`
	Insert           *int    `arg:"insert" doc:"Number of the new rule, from 1 on."`
	InsertRelativeTo string  `arg:"insert_relative_to,default=zero,choices=zero|first-ipv4|last-ipv4|first-ipv6|last-ipv6" doc:"Where insert counts from."`
	Rule             *string `arg:"rule,choices=allow|deny|limit|reject" doc:"What the rule does."`
	Interface        *string `arg:"interface,alias=if" doc:"Interface of the rule; needs direction."`
	InterfaceIn      *string `arg:"interface_in,alias=if_in" doc:"Interface that packets come in by."`
	InterfaceOut     *string `arg:"interface_out,alias=if_out" doc:"Interface that packets go out by."`
	Log              bool    `arg:"log,default=no" doc:"Log new connections that the rule is about."`
	FromIP           string  `arg:"from_ip,default=any,alias=from|src" doc:"Address or network that packets come from."`
	FromPort         *string `arg:"from_port" doc:"Port that packets come from."`
	ToIP             string  `arg:"to_ip,default=any,alias=dest|to" doc:"Address or network that packets go to."`
	ToPort           *string `arg:"to_port,alias=port" doc:"Port, or range first:last, that packets go to."`
	Proto            *string `arg:"proto,alias=protocol,choices=ah|any|esp|ipv6|tcp|udp|gre|igmp|vrrp" doc:"The protocol."`
	Name             *string `arg:"name,alias=app" doc:"Profile of an application, from /etc/ufw/applications.d."`
	Comment          *string `arg:"comment" doc:"Comment of the rule; ufw has them from 0.35 on."`
}

// Ufw is community.general.ufw.
var Ufw = modules.Define("community.general.ufw", "Manage the firewall with ufw", runUfw,
	modules.Operands("interface", "interface_in", "interface_out", "from_ip", "from_port", "to_ip", "to_port", "name",
		"comment"),
	modules.StartsInCheck("grep", "ufw"),
	modules.WithRules(modules.Rules{
		Exclusive: [][]string{{"name", "proto", "logging"}, {"direction", "interface_in"}, {"direction", "interface_out"}},
		OneOf:     [][]string{{"state", "default", "rule", "logging"}},
		By:        map[string][]string{"interface": {"direction"}},
	}),
	modules.Documented(`- community.general.ufw: {state: enabled, policy: deny}
- community.general.ufw: {rule: limit, port: ssh, proto: tcp}
- community.general.ufw: {rule: allow, src: 10.0.0.0/8, port: "443", comment: inner network}
- community.general.ufw: {rule: allow, name: OpenSSH, delete: true}
`,
		modules.Return{Name: "commands", Type: "list", When: "always", Doc: "The commands that were run."},
		modules.Return{Name: "msg", Type: "str", When: "success, not in check mode", Doc: "What ufw says of its state then."},
	))

// ufw is one call of the module.
type ufw struct {
	ctx     context.Context
	env     *modules.Env
	args    ufwArgs
	path    string
	grep    string
	told    []any  // the commands so far
	state   string // before
	rules   string // before
	changed bool
}

func runUfw(ctx context.Context, env *modules.Env, a ufwArgs) (modules.Result, error) {
	u := &ufw{ctx: ctx, env: env, args: a}
	var err error
	if u.path, err = tool.Find(env, "ufw"); err != nil {
		return modules.Result{}, err
	}
	if u.grep, err = tool.Find(env, "grep"); err != nil {
		return modules.Result{}, err
	}
	if u.state, err = u.run("status verbose"); err != nil {
		return modules.Result{}, err
	}
	if u.rules, err = u.saved(); err != nil {
		return modules.Result{}, err
	}
	for _, step := range []struct {
		value *string
		bring func() error
	}{{a.State, u.setState}, {a.Default, u.setDefault}, {a.Rule, u.setRule}, {a.Logging, u.setLogging}} {
		if modules.Text(step.value) == "" {
			continue
		}
		if err := step.bring(); err != nil {
			return modules.Result{}, err
		}
	}
	if env.Check {
		return modules.Result{Changed: u.changed, Data: value.DictOf("commands", u.told)}, nil
	}
	return u.outcome()
}

// outcome compares what is there now with what was.
func (u *ufw) outcome() (modules.Result, error) {
	state, err := u.run("status verbose")
	if err == nil && !u.changed {
		var rules string
		rules, err = u.saved()
		u.changed = state != u.state || rules != u.rules
	}
	return modules.Result{
		Changed: u.changed, Msg: strings.TrimRight(state, " \t\r\n"), Data: value.DictOf("commands", u.told),
	}, err
}

// exec runs a command line without a shell and keeps it for the result.
func (u *ufw) exec(line string) (tool.Output, error) {
	u.told = append(u.told, line)
	argv, err := shlex.Split(line)
	if err != nil {
		return tool.Output{}, err
	}
	return tool.Run(u.ctx, u.env, modules.Command{Argv: argv, Env: []string{"LANG=C"}})
}

// run runs ufw, which must succeed, and gives what it prints.
func (u *ufw) run(words ...string) (string, error) {
	out, err := u.exec(u.path + " " + strings.Join(words, " "))
	if err != nil || out.Rc == 0 {
		return out.Stdout, err
	}
	msg := out.Stderr
	if msg == "" {
		msg = out.Stdout
	}
	return "", tool.Fail(value.DictOf("commands", u.told), "%s", msg)
}

// saved returns the rules in the files of ufw. Only some of the files are there, so that grep fails anyway.
func (u *ufw) saved() (string, error) {
	line := u.grep + " -h '^### tuple'"
	for _, dir := range []string{"/lib/ufw", "/etc/ufw", "/var/lib/ufw"} {
		line += " " + dir + "/user.rules " + dir + "/user6.rules"
	}
	out, err := u.exec(line)
	return out.Stdout, err
}

func (u *ufw) setState() error {
	verb := map[string]string{"enabled": "enable", "disabled": "disable", "reloaded": "reload",
		"reset": "reset"}[*u.args.State]
	if verb == "reload" || verb == "reset" {
		u.changed = true
	}
	if !u.env.Check {
		_, err := u.run("-f", verb)
		return err
	}
	active := strings.Contains(u.state, " active") // with the space: there is inactive
	if verb == "disable" && active || verb == "enable" && !active {
		u.changed = true
	}
	return nil
}

var loggingPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`Logging: (on|off)(?: ` +
		`\(([a-z]+)\))?`)
})

func (u *ufw) setLogging() error {
	wanted := *u.args.Logging
	m := loggingPattern().FindStringSubmatch(u.state)
	switch {
	case m == nil:
		u.changed = true
	case wanted == "off" || m[1] == "off":
		u.changed = u.changed || wanted != m[1]
	case wanted != "on" && wanted != m[2]:
		u.changed = true
	}
	if u.env.Check {
		return nil
	}
	_, err := u.run("logging", wanted)
	return err
}

var defaultPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`Default: (deny|allow|reject) \(incoming\), (deny|allow|reject) \(outgoing\), (deny|` +
		`allow|reject|disabled) \(routed\)`)
})

func (u *ufw) setDefault() error {
	number := 1
	switch modules.Text(u.args.Direction) {
	case "", "incoming":
	case "outgoing":
		number = 2
	case "routed":
		number = 3
	default:
		return tool.Fail(nil,
			`For default, direction must be one of "outgoing", "incoming" and "routed", or direction must not be specified.`)
	}
	if u.env.Check {
		m := defaultPattern().FindStringSubmatch(u.state)
		if m == nil || m[number] != *u.args.Default && m[number] != "disabled" {
			u.changed = true
		}
		return nil
	}
	words := []string{"default", *u.args.Default}
	if u.args.Direction != nil {
		words = append(words, *u.args.Direction)
	}
	_, err := u.run(words...)
	return err
}

var numberedPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[ *([0-9]+)\] `) })

// place returns the number that a new rule is inserted as; "" is after all others.
func (u *ufw) place() (string, error) {
	at := *u.args.Insert
	if u.args.InsertRelativeTo == "zero" {
		return strconv.Itoa(at), nil
	}
	out, err := tool.Run(u.ctx, u.env, modules.Command{Argv: []string{u.path, "status", "numbered"}})
	if err != nil {
		return "", err
	}
	last4, last6 := 0, 0
	for line := range strings.Lines(out.Stdout) {
		m := numberedPattern().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[1])
		if strings.Contains(line, "(v6)") {
			last6 = max(last6, n)
		} else {
			last4 = max(last4, n)
		}
	}
	last := max(last4, last6)
	switch u.args.InsertRelativeTo {
	case "first-ipv4":
		at++
	case "last-ipv4":
		at += max(last4, 1)
	case "first-ipv6":
		at += last4 + 1
	case "last-ipv6":
		if last6 == 0 {
			at++
		}
		at += last
	}
	if at > last {
		return "", nil // ufw refuses a number beyond its rules
	}
	return strconv.Itoa(at), nil
}
