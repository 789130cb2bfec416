package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/fleet"
	"hark/controller/internal/link"
	"hark/playbook/jinja/value"
)

// thisHost is the name under which jobs of this machine's own agent are listed when no inventory is given.
const thisHost = "localhost"

// jobHosts are the hosts whose jobs a command is about, with the link to their agents.
type jobHosts struct {
	link  link.Link
	run   string
	names []string
	local map[string]bool
	agent map[string]string // names of agents that are not those of their hosts
}

// jobHosts finds the hosts: those of the inventory if one is given, else every agent that is present, and this machine.
func (a *app) jobHosts(ctx context.Context, o *options, pattern string) (*jobHosts, error) {
	h := &jobHosts{run: newRunID(), local: map[string]bool{}, agent: map[string]string{}}
	var err error
	if len(o.inventories) > 0 || o.limit != "" {
		err = h.fromInventory(ctx, a, o, pattern)
	} else {
		err = h.fromRoster(ctx, a, o, pattern)
	}
	if err != nil {
		return nil, err
	}
	h.link, err = a.jobLink(ctx, o, h)
	return h, err
}

func (h *jobHosts) fromInventory(ctx context.Context, a *app, o *options, pattern string) error {
	p, err := a.open(ctx, o, "")
	if err != nil {
		return err
	}
	if pattern == "" {
		pattern = "all"
	}
	hosts, err := p.limit(pattern)
	if err != nil {
		return err
	}
	for _, host := range hosts {
		vars, err := p.inventory.Vars(host)
		if err != nil {
			return err
		}
		text := func(name string) string {
			v, _ := vars.Get(name)
			s, _ := value.Text(v)
			return s
		}
		connection := text("ansible_connection")
		if connection == "" && o.connection != "smart" {
			connection = o.connection
		}
		h.names = append(h.names, host.Name)
		h.local[host.Name] = connection == "local" || connection == "ansible.builtin.local"
		if name := text("hark_agent"); name != "" {
			h.agent[host.Name] = name
		}
	}
	return nil
}

func (h *jobHosts) fromRoster(ctx context.Context, a *app, o *options, pattern string) error {
	if matchesHost(pattern, thisHost) {
		h.names, h.local[thisHost] = append(h.names, thisHost), true
	}
	agents, err := a.fleet.Agents(ctx, o.broker)
	if errors.Is(err, fleet.ErrNoBroker) {
		return nil
	}
	for _, x := range agents {
		if x.Present && x.Name != thisHost && matchesHost(pattern, x.Name) {
			h.names = append(h.names, x.Name)
		}
	}
	return err
}

func matchesHost(pattern, name string) bool {
	ok, _ := path.Match(pattern, name)
	return ok || pattern == "" || pattern == "all" || pattern == name
}

// noAsks answers the agents' questions, of which there are none: no plan runs.
type noAsks struct{}

func (noAsks) Answer(context.Context, wire.Ask) wire.Answer {
	return wire.Answer{Err: "there is nothing to ask"}
}

func (a *app) jobLink(ctx context.Context, o *options, h *jobHosts) (link.Link, error) {
	state, err := a.stateDir()
	if err != nil {
		return nil, err
	}
	commands, err := innerCommands()
	if err != nil {
		return nil, err
	}
	registry, err := a.registry()
	if err != nil {
		return nil, err
	}
	cfg := link.Config{
		Run: h.run, Commands: commands, Asks: noAsks{}, Modules: registry, StateDir: state, Logger: a.logTo(),
		Local: func(host string) bool { return h.local[host] },
		AgentName: func(host string) string {
			if name := h.agent[host]; name != "" {
				return name
			}
			return host
		},
	}
	if !slices.ContainsFunc(h.names, func(name string) bool { return !h.local[name] }) {
		return link.New(cfg), nil
	}
	b, err := a.fleet.Dial(ctx, o.broker)
	if err != nil {
		cfg.BrokerErr = err
		return link.New(cfg), nil
	}
	cfg.Broker, cfg.Operator, cfg.Roster = b.Transport, b.Operator, b.Roster
	return &ownedLink{Link: link.New(cfg), owned: b.Transport}, nil
}

// close ends the link; the agents forget the run.
func (h *jobHosts) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return errors.Join(h.link.End(ctx), h.link.Close())
}

// ask puts a question to the agent of one host.
func (h *jobHosts) ask(ctx context.Context, host string, q wire.JobsQuery) (wire.JobsReply, error) {
	args, err := json.Marshal(q)
	if err != nil {
		return wire.JobsReply{}, err
	}
	raw, err := h.link.Exec(ctx, wire.Exec{
		Run: h.run, ID: newRunID(), Host: host, Origin: host, Call: wire.Call{Module: wire.JobsModule, Args: args},
	})
	if err != nil {
		return wire.JobsReply{}, err
	}
	var reply struct {
		wire.JobsReply
		Failed bool   `json:"failed"`
		Msg    string `json:"msg"`
	}
	if err := wire.Decode(raw, &reply); err != nil {
		return wire.JobsReply{}, fmt.Errorf("cannot read the answer of %s: %w", host, err)
	}
	if reply.Failed {
		return wire.JobsReply{}, errors.New(reply.Msg)
	}
	if reply.Err != "" {
		return wire.JobsReply{}, errors.New(reply.Err)
	}
	if q.Op != "list" {
		if _, err := reply.About(); err != nil {
			return wire.JobsReply{}, fmt.Errorf("cannot use the answer of %s: %w", host, err)
		}
	}
	return reply.JobsReply, nil
}

// found is a job with the host whose agent keeps it.
type found struct {
	Agent string `json:"agent"`
	wire.Job
}

// askers is how many agents are asked at the same time.
const askers = 32

// find lists the jobs of all hosts, and why some hosts could not be asked. The hosts are in order, and so are the jobs of each.
func (h *jobHosts) find(ctx context.Context, q wire.JobsQuery) ([]found, []error) {
	q.Op = "list"
	replies := make([]wire.JobsReply, len(h.names))
	errs := make([]error, len(h.names))
	places := make(chan struct{}, askers)
	var asking sync.WaitGroup
	for i, name := range h.names {
		places <- struct{}{}
		asking.Go(func() {
			defer func() { <-places }()
			reply, err := h.ask(ctx, name, q)
			if err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
			replies[i], errs[i] = reply, err
		})
	}
	asking.Wait()
	all := []found{}
	for i, reply := range replies {
		for _, j := range reply.Jobs {
			all = append(all, found{h.names[i], j})
		}
	}
	return all, slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// named finds jobs by their ids or patterns. None is an error.
func (h *jobHosts) named(ctx context.Context, ids []string) ([]found, error) {
	var all []found
	for _, id := range ids {
		some, errs := h.find(ctx, wire.JobsQuery{Pattern: id})
		if len(some) == 0 {
			text := fmt.Sprintf("could not find job %s on %s", id, counted(len(h.names), "host"))
			for _, err := range errs {
				text += "\n" + err.Error()
			}
			return nil, errors.New(strings.TrimSpace(text))
		}
		all = append(all, some...)
	}
	return all, nil
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
