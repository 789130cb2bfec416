package posix

import (
	"fmt"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

const notPermanent = "Zone operations must be permanent. Make sure you didn't set the 'permanent' flag to 'false' " +
	"or the 'immediate' flag to 'true'."

// rule returns what the arguments are about, nil for nothing.
func (w *wall) rule() (*wallRule, error) {
	a := w.args
	port, err := w.port()
	if err != nil {
		return nil, err
	}
	forward, err := w.forward()
	if err != nil {
		return nil, err
	}
	about := ""
	for _, v := range []*string{a.IcmpBlock, a.IcmpBlockInversion, a.Service, a.Protocol, port, forward, a.RichRule,
		a.Interface, a.Masquerade, a.Source, a.Target} {
		about += modules.Text(v)
	}
	zoneState := a.State == "present" || a.State == "absent"
	if a.Forward != nil && about != "" {
		return nil, tool.Fail(nil,
			"parameters are mutually exclusive: icmp_block|icmp_block_inversion|service|protocol|port|port_forward|"+
				"rich_rule|interface|forward|masquerade|source|target")
	}
	if (about != "" || a.Forward != nil) && zoneState && a.Target == nil {
		return nil, tool.Fail(nil, "absent and present state can only be used in zone level operations")
	}
	changed := func(what string, name *string) string {
		return "Changed " + what + " " + modules.Text(name) + " to " + a.State
	}
	switch {
	case a.IcmpBlock != nil:
		return w.listed("icmp-block", *a.IcmpBlock, changed("icmp-block", a.IcmpBlock)), nil
	case a.IcmpBlockInversion != nil:
		r := w.flag("icmp-block-inversion", "icmp_block_inversion", *a.IcmpBlockInversion)
		r.done = changed("icmp-block-inversion", a.IcmpBlockInversion)
		return r, nil
	case a.Service != nil:
		return w.listed("service", *a.Service, changed("service", a.Service)), nil
	case a.Protocol != nil:
		return w.listed("protocol", *a.Protocol, changed("protocol", a.Protocol)), nil
	case a.Source != nil:
		r := w.listed("source", *a.Source, "")
		r.added, r.dropped = "Added "+*a.Source+" to zone "+w.zone, "Removed "+*a.Source+" from zone "+w.zone
		return r, nil
	case port != nil:
		return w.portRule(*port, changed("port", port)), nil
	case forward != nil:
		full := *forward
		if !strings.Contains(full, ":toaddr=") {
			full += ":toaddr="
		}
		return w.queried("forward-port", *forward, changed("port_forward", &full)), nil
	case a.RichRule != nil:
		return w.queried("rich-rule", *a.RichRule, changed("rich_rule", a.RichRule)), nil
	case a.Interface != nil:
		return w.interfaceRule(*a.Interface), nil
	case a.Forward != nil:
		r := w.flag("forward", "forward", modules.Str(*a.Forward))
		r.added, r.dropped = "Added forward to zone "+w.zone, "Removed forward from zone "+w.zone
		return r, nil
	case a.Masquerade != nil:
		r := w.flag("masquerade", "masquerade", *a.Masquerade)
		r.added, r.dropped = "Added masquerade to zone "+w.zone, "Removed masquerade from zone "+w.zone
		return r, nil
	case a.Target != nil:
		return w.targetRule(*a.Target), nil
	case zoneState:
		zone := "None"
		if a.Zone != nil {
			zone = *a.Zone
		}
		return w.zoneRule(changed("zone", &zone)), nil
	}
	return nil, nil
}

// port returns the argument in firewalld's form.
func (w *wall) port() (*string, error) {
	if w.args.Port == nil {
		return nil, nil
	}
	port, protocol, _ := strings.Cut(strings.TrimSpace(*w.args.Port), "/")
	if protocol == "" {
		return nil, tool.Fail(nil, "improper port format (missing protocol?)")
	}
	port += "/" + protocol
	return &port, nil
}

// forward returns the argument in firewalld's form.
func (w *wall) forward() (*string, error) {
	if w.args.PortForward == nil {
		return nil, nil
	}
	if len(w.args.PortForward) != 1 {
		return nil, tool.Fail(nil, "Only one port forward supported at a time")
	}
	f := w.args.PortForward[0]
	for _, need := range []struct{ key, words string }{{"port", "port"}, {"proto", "proto udp/tcp"},
		{"toport", "toport"}} {
		if !f.Has(need.key) {
			return nil, tool.Fail(nil, "%s must be specified for port forward", need.words)
		}
	}
	line := fmt.Sprintf("port=%s:proto=%s:toport=%s", modules.Str(modules.Argument(f, "port")),
		modules.Str(modules.Argument(f, "proto")), modules.Str(modules.Argument(f, "toport")))
	if address := modules.Argument(f, "toaddr"); value.IsTrue(address) {
		line += ":toaddr=" + modules.Str(address)
	}
	return &line, nil
}

// change makes the func that adds or removes something; what runs may go back after a time.
func (w *wall) change(verb, what, value string) func(bool) error {
	option := "--" + verb + "-" + what
	if w.offline && option == "--remove-service" {
		option += "-from-zone" // without it is of another, older syntax
	}
	if value != "" {
		option += "=" + value
	}
	return func(permanent bool) error {
		words := []string{"--zone=" + w.zone, option}
		timed := what != "interface" && what != "source" && what != "forward" && what != "masquerade" &&
			what != "icmp-block-inversion"
		if verb == "add" && !permanent && timed && w.args.Timeout > 0 {
			words = append(words, fmt.Sprintf("--timeout=%d", w.args.Timeout))
		}
		_, err := w.cmd(permanent, words...)
		return err
	}
}

// plain returns a rule for the states enabled and disabled.
func (w *wall) plain(what, value, done string) *wallRule {
	return &wallRule{
		add: w.change("add", what, value), drop: w.change("remove", what, value),
		on: []string{"enabled"}, off: []string{"disabled"}, done: done,
	}
}

// listed returns a rule about what is among those that a zone lists. A name that firewalld does not know is not
// there, and no error.
func (w *wall) listed(what, value, done string) *wallRule {
	r := w.plain(what, value, done)
	r.has = func(permanent bool) (bool, error) {
		out, err := w.cmd(permanent, "--zone="+w.zone, "--list-"+what+"s")
		return slices.Contains(strings.Fields(out), value), err
	}
	return r
}

// portRule takes a port within a range for there where that counts: in what runs, and not in what is configured.
func (w *wall) portRule(port, done string) *wallRule {
	configured, running := w.listed("port", port, done), w.queried("port", port, done)
	has := running.has
	running.has = func(permanent bool) (bool, error) {
		if permanent {
			return configured.has(true)
		}
		return has(false)
	}
	return running
}

// queried returns a rule that firewalld compares itself, since it can be written in several ways.
func (w *wall) queried(what, value, done string) *wallRule {
	r := w.plain(what, value, done)
	r.has = func(permanent bool) (bool, error) { return w.query(permanent, "--query-"+what+"="+value) }
	return r
}

// flag returns a rule about something that a zone does or does not; the argument turns the state around if it is
// false.
func (w *wall) flag(what, name, value string) *wallRule {
	r := w.plain(what, "", "")
	r.has = func(permanent bool) (bool, error) { return w.query(permanent, "--query-"+what) }
	is, err := modules.Bool(value)
	if err != nil {
		w.env.Warn("The value of the %s option is \"%s\". The type of the option will be changed from string to boolean "+
			"in a future release. "+
			"To avoid unexpected behavior, please change the value to boolean.", name, value)
		is = true
	}
	if !is {
		r.on, r.off = []string{"disabled", "absent", "present"}, []string{"enabled"}
	} else {
		r.off = []string{"disabled", "absent", "present"}
	}
	return r
}

// interfaceRule moves an interface from the zone that it is in.
func (w *wall) interfaceRule(name string) *wallRule {
	r := w.listed("interface", name, "")
	r.added, r.dropped = "Changed "+name+" to zone "+w.zone, "Removed "+name+" from zone "+w.zone
	add := r.add
	r.add = func(permanent bool) error {
		if !permanent {
			_, err := w.cmd(false, "--zone="+w.zone, "--change-interface="+name)
			return err
		}
		if err := w.leaveZone(name); err != nil {
			return err
		}
		return add(true)
	}
	return r
}

// leaveZone takes an interface out of the zone that it is in for good.
func (w *wall) leaveZone(name string) error {
	out, err := w.run(true, "--get-zone-of-interface="+name)
	if err != nil || out.Rc != 0 {
		return err // in none
	}
	if old := strings.TrimSpace(out.Stdout); old != "" && old != w.zone {
		_, err = w.cmd(true, "--zone="+old, "--remove-interface="+name)
	}
	return err
}

// onlyPermanent refuses what firewalld can only do for good.
func onlyPermanent(permanent bool) error {
	if permanent {
		return nil
	}
	return tool.Fail(nil, "%s", notPermanent)
}

func (w *wall) targetRule(target string) *wallRule {
	set := func(target string) func(bool) error {
		return func(bool) error {
			_, err := w.cmd(true, "--zone="+w.zone, "--set-target="+target)
			return err
		}
	}
	return &wallRule{
		has: func(permanent bool) (bool, error) {
			if err := onlyPermanent(permanent); err != nil {
				return false, err
			}
			now, err := w.cmd(true, "--zone="+w.zone, "--get-target")
			return now == target, err
		},
		add: set(target), drop: set("default"), on: []string{"present", "enabled"}, off: []string{"absent", "disabled"},
		added: "Set zone " + w.zone + " target to " + target, dropped: "Reset zone " + w.zone + " target to default",
	}
}

func (w *wall) zoneRule(done string) *wallRule {
	change := func(option string) func(bool) error {
		return func(bool) error {
			_, err := w.cmd(true, option+w.zone)
			return err
		}
	}
	return &wallRule{
		has: func(permanent bool) (bool, error) {
			if err := onlyPermanent(permanent); err != nil {
				return false, err
			}
			out, err := w.cmd(true, "--get-zones")
			return slices.Contains(strings.Fields(out), w.zone), err
		},
		add: change("--new-zone="), drop: change("--delete-zone="), on: []string{"present"}, off: []string{"absent"},
		added: "Added zone " + w.zone, dropped: "Removed zone " + w.zone, done: done,
	}
}
