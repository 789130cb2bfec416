package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hark/controller/internal/fleet/connections"
	"hark/controller/internal/fleet/trust"
)

// Host is one of the inventory.
type Host struct {
	Name  string
	Agent string // the name that its agent would have
	// Connection is what flags, settings and the host's variables name, "" or smart for what is there.
	Connection string
	// Way describes how it is reached without an agent; Err is why its variables make no sense.
	Way string
	Err error
}

// hosts describes how each host of the inventory is reached: those that are reached alike stand together.
func (d *doctor) hosts(ctx context.Context) {
	if len(d.Hosts) > 0 {
		d.judgeHosts(d.enrolled(ctx))
	}
}

// judgeHosts does that for a broker that knows the agents of some names.
func (d *doctor) judgeHosts(enrolled []string) {
	var order []string
	by := map[string][]string{}
	for _, h := range d.Hosts {
		if h.Err != nil {
			d.add(Finding{"host " + h.Name, "failed", h.Err.Error(), "correct its variables: hark inventory --host " + h.Name})
			continue
		}
		how, state := d.reached(h, enrolled), "ok"
		if how.warning {
			state = "warning"
		}
		key := state + " " + how.text
		if by[key] == nil {
			order = append(order, key)
		}
		by[key] = append(by[key], h.Name+how.detail)
	}
	for _, key := range order {
		state, text, _ := strings.Cut(key, " ")
		f := Finding{Check: "hosts", State: state, Text: fmt.Sprintf("%d %s: %s", len(by[key]), text, strings.Join(by[key], ", "))}
		if state == "warning" {
			f.Do = "these hosts are UNREACHABLE as it stands"
		}
		d.add(f)
	}
}

// how a host is reached; the detail is the host's own.
type how struct {
	text, detail string
	warning      bool
}

// enrolled are the names of the agents that the broker knows, nil if nobody could be asked.
func (d *doctor) enrolled(ctx context.Context) []string {
	if d.link == nil {
		return nil
	}
	all, err := d.link.Roster.All(ctx)
	if err != nil {
		return nil // told with the agents
	}
	names := make([]string, 0, len(all))
	for _, a := range all {
		names = append(names, a.Name)
	}
	return names
}

func (d *doctor) reached(h Host, enrolled []string) how {
	kind := connections.KindOf(h.Connection)
	over := how{text: "over ssh", detail: " (" + strings.TrimPrefix(h.Way, "over ssh: ") + ")"}
	switch {
	case kind == connections.Here:
		return how{text: "in this process"}
	case kind == connections.Smart && slices.Contains(enrolled, h.Agent):
		return how{text: "by their agents"}
	case kind == connections.Smart && d.link == nil && d.mayHaveAgent(h.Agent):
		return how{text: "by their agents, as far as is known while the broker is away"}
	case kind == connections.Smart && d.NoSSH, kind == connections.SSH && d.NoSSH:
		return how{text: "in no way, since they have no agent and HARK_SSH is off", warning: true}
	case kind == connections.Smart:
		over.text = "over ssh, since no agent of their name was ever enrolled"
		return over
	case kind == connections.SSH:
		over.text = "over ssh, as their connection says"
		return over
	case kind == connections.Enter:
		return how{text: "by " + h.Connection}
	}
	if !d.Ansible {
		return how{text: "in no way, since the connection plug-in " + h.Connection + " takes ansible-core, which is not on this machine", warning: true}
	}
	return how{text: "by ansible-core on this machine, over " + h.Connection}
}

// mayHaveAgent tells, of a broker that could not be asked, whether an agent is on record here, or any may be.
func (d *doctor) mayHaveAgent(agent string) bool {
	if _, err := d.Dialer.Access(d.Broker); err != nil {
		return false // there is no broker
	}
	known, err := trust.OpenKnown(d.Dialer.Home, nil)
	return d.Broker != "" || err != nil || known.Key(agent) != ""
}
