package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"hark/controller/internal/fleet/connections"
	"hark/controller/internal/fleet/trust"
	"hark/controller/internal/ui/hint"
)

// Host is one of the inventory.
type Host struct {
	Name  string
	Agent string // the name that its agent would have
	// Connection is what flags, settings and the host's variables name, "" or smart for what is there.
	Connection string
	// Address is where ssh would go.
	Address string
	// Way describes how it is reached without an agent; Err is why its variables make no sense.
	Way string
	Err error
}

// hosts describes how each host of the inventory is reached: those that are reached alike stand together.
func (d *doctor) hosts(ctx context.Context) {
	if d.Inventory != nil {
		d.add(Finding{"inventory", "failed", "the inventory cannot be read: " + d.Inventory.Error(),
			"give the inventory with -i, and the passwords of its vaults with --vault-password-file or --ask-vault-password"})
	}
	if len(d.Hosts) == 0 {
		return
	}
	enrolled := d.enrolled(ctx)
	d.judgeHosts(enrolled, d.tried(ctx, enrolled))
	d.judgeNames(enrolled)
}

// tried returns the hosts that ssh does not get to, with why.
func (d *doctor) tried(ctx context.Context, enrolled []string) map[string]error {
	failed := map[string]error{}
	if d.Try == nil {
		return failed
	}
	var (
		mu sync.Mutex
		wg sync.WaitGroup
	)
	slots := make(chan struct{}, 16)
	for _, h := range d.Hosts {
		if h.Err != nil || !strings.HasPrefix(d.reached(h, enrolled).text, "over ssh") {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := d.Try(ctx, h.Name); err != nil {
				mu.Lock()
				failed[h.Name] = err
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return failed
}

// judgeHosts does that for a broker that knows the agents of some names, and hosts that ssh was tried with.
func (d *doctor) judgeHosts(enrolled []string, failed map[string]error) {
	var order []string
	by := map[string][]string{}
	for _, h := range d.Hosts {
		if h.Err != nil {
			d.add(Finding{"host " + h.Name, "failed", h.Err.Error(), "correct its variables: hark inventory --host " + h.Name})
			continue
		}
		how, state := d.reached(h, enrolled), "ok"
		if err := failed[h.Name]; err != nil {
			how.text, how.detail, how.warning = "that ssh does not get to", fmt.Sprintf(" (%s)", oneLine(err)), true
		}
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
		f := Finding{Check: "hosts", State: state, Text: fmt.Sprintf("%d %s: %s", len(by[key]), text, list(by[key]))}
		if state == "warning" {
			f.Do = "these hosts are UNREACHABLE as it stands"
		}
		d.add(f)
	}
}

// judgeNames compares the names of the inventory with those of agents: a host that is reached over ssh may have an
// agent under another name.
func (d *doctor) judgeNames(enrolled []string) {
	var unnamed []string
	for _, name := range enrolled {
		if !slices.ContainsFunc(d.Hosts, func(h Host) bool { return h.Agent == name }) {
			unnamed = append(unnamed, name)
		}
	}
	for _, h := range d.Hosts {
		if h.Err != nil || slices.Contains(enrolled, h.Agent) || connections.KindOf(h.Connection) != connections.Smart {
			continue
		}
		if name, why := h.other(unnamed); name != "" {
			d.add(Finding{"names", "warning", fmt.Sprintf("%s is reached over ssh, and there is an agent %s, %s", h.Name, name,
				why),
				"if it is the same host: write hark_agent=" + name + " into its variables, or call the host " + name})
		}
	}
	if len(unnamed) > 0 {
		d.ok("names", "%s that no host of this inventory has: %s", counted(len(unnamed), "agent", "agents"), list(unnamed))
	}
}

// other returns an agent that may be the host's, with what speaks for it.
func (h Host) other(agents []string) (name, why string) {
	short, _, _ := strings.Cut(h.Agent, ".")
	for _, name := range agents {
		plain, _, _ := strings.Cut(name, ".")
		switch {
		case h.Address != "" && name == h.Address:
			return name, "which is its address"
		case plain == short:
			return name, "whose name begins alike"
		}
	}
	if near := hint.Nearest(h.Agent, agents); near != "" && len(h.Agent) > 4 && hint.Close(h.Agent, near) &&
		digits(near) == digits(h.Agent) {
		return near, "whose name is nearly the same"
	}
	return "", ""
}

// digits returns those of a name: web1 and web2 are two hosts.
func digits(name string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, name)
}

// how a host is reached; the detail is the host's own.
type how struct {
	text, detail string
	warning      bool
}

// enrolled returns the names of the agents that the broker knows, nil if nobody could be asked.
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

// oneLine returns the last line of an error, which is the one of ssh that says why.
func oneLine(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
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
		return how{text: "in no way, since the connection plug-in " + h.Connection +
			" takes ansible-core, which is not on this machine", warning: true}
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
