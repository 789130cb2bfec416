package cli

import (
	"context"
	"errors"
	"path"
	"slices"

	"hark/agent"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/fleet"
	"hark/controller/internal/fleet/jobs"
	"hark/controller/internal/play/link"
	"hark/modules"
	"hark/modules/py/value"
)

// thisHost is the name under which jobs of this machine's own agent are listed when no inventory is given.
const thisHost = "localhost"

// jobHosts are the hosts that a command is about, and how they are reached.
type jobHosts struct {
	jobs.Hosts
	local map[string]bool
	agent map[string]string // names of agents that are not those of their hosts
}

// findJobHosts finds the hosts: those of the inventory if one is given, else every agent that is present, and this
// machine.
func findJobHosts(a *app, ctx context.Context, o *project.Options, pattern string) (*jobHosts, error) {
	h := &jobHosts{Hosts: jobs.Hosts{Run: link.NewID()}, local: map[string]bool{}, agent: map[string]string{}}
	var err error
	if len(o.Inventory.Sources) > 0 || o.Inventory.Limit != "" {
		err = h.fromInventory(ctx, a, o, pattern)
	} else {
		err = h.fromRoster(ctx, a, o, pattern)
	}
	if err != nil {
		return nil, err
	}
	h.Link, err = jobLink(a, ctx, o, h)
	return h, err
}

func (h *jobHosts) fromInventory(ctx context.Context, a *app, o *project.Options, pattern string) error {
	p, err := a.open(ctx, o, "")
	if err != nil {
		return err
	}
	if pattern == "" {
		pattern = "all"
	}
	hosts, err := p.Limit(pattern)
	if err != nil {
		return err
	}
	for _, host := range hosts {
		vars, err := p.Inventory.Vars(host)
		if err != nil {
			return err
		}
		text := func(name string) string {
			v, _ := vars.Get(name)
			s, _ := value.Text(v)
			return s
		}
		connection := text("ansible_connection")
		if connection == "" && o.Connect.Kind != "smart" {
			connection = o.Connect.Kind
		}
		h.Names = append(h.Names, host.Name)
		h.local[host.Name] = modules.ShortName(connection) == "local"
		if name := text("hark_agent"); name != "" {
			h.agent[host.Name] = name
		}
	}
	return nil
}

func (h *jobHosts) fromRoster(ctx context.Context, a *app, o *project.Options, pattern string) error {
	if matchesHost(pattern, thisHost) {
		h.Names, h.local[thisHost] = append(h.Names, thisHost), true
	}
	agents, err := a.fleet.Agents(ctx, o.Broker)
	if errors.Is(err, fleet.ErrNoBroker) {
		return nil
	}
	for _, x := range agents {
		if x.Present && x.Name != thisHost && matchesHost(pattern, x.Name) {
			h.Names = append(h.Names, x.Name)
		}
	}
	return err
}

func matchesHost(pattern, name string) bool {
	ok, _ := path.Match(pattern, name)
	return ok || pattern == "" || pattern == "all" || pattern == name
}

func jobLink(a *app, ctx context.Context, o *project.Options, h *jobHosts) (link.Link, error) {
	state, err := stateDir(a)
	if err != nil {
		return nil, err
	}
	commands, err := innerCommands()
	if err != nil {
		return nil, err
	}
	registry, err := project.Registry(a.cfg, levelOf(a), a.display.Warn)
	if err != nil {
		return nil, err
	}
	cfg := link.Config{
		Run: h.Run, Agent: agent.Local{Modules: registry, StateDir: state, Commands: commands,
			Logger: a.logTo()}.Run, Asks: jobs.NoAsks{}, Logger: a.logTo(),
		Local: func(host string) bool { return h.local[host] },
		AgentName: func(host string) string {
			if name := h.agent[host]; name != "" {
				return name
			}
			return host
		},
	}
	if !slices.ContainsFunc(h.Names, func(name string) bool { return !h.local[name] }) {
		return link.New(cfg), nil
	}
	b, err := a.fleet.Dial(ctx, o.Broker)
	if err != nil {
		cfg.BrokerErr = err
		return link.New(cfg), nil
	}
	cfg.Broker, cfg.Operator, cfg.Roster = b.Transport, b.Operator, b.Roster
	return &ownedLink{Link: link.New(cfg), owned: b.Transport}, nil
}
