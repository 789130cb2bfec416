package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/controller/broker"
	"hark/controller/internal/bootstrap"
	"hark/controller/internal/link"
	"hark/controller/internal/roster"
	"hark/controller/internal/ssh"
	"hark/controller/internal/trust"
	"hark/playbook/inventory"
)

// overSSH, in place of a broker's URL, has agents brought up over ssh for this run alone.
const overSSH = "ssh:"

func (a *app) ephemeralFlag(fs flagSet, o *options) {
	fs.toggle(&o.ephemeral, "ephemeral", "", false, "bring up agents over ssh for this run alone; nothing is installed")
	fs.agentBinaries(&o.agentBinaries)
	a.own(fs, "ephemeral", "agent-binary")
}

// passing brings agents up when their hosts are first needed, and ends them with the run.
type passing struct {
	link.Link
	p      *project
	cfg    bootstrap.EphemeralConfig
	roster *roster.Roster
	known  *trust.Known
	ping   *link.Pinger
	local  func(string) bool
	close  []func() error // first to last

	mu     sync.Mutex
	agents map[string]*passingAgent // by inventory name; guarded by mu
}

// passingAgent is one host's agent; once brings it up.
type passingAgent struct {
	once  sync.Once
	agent *bootstrap.Ephemeral
	err   error
}

// connectOverSSH makes the link of a run whose agents live as long as it.
func (p *project) connectOverSSH(ctx context.Context, cfg link.Config) (_ link.Link, err error) {
	l := &passing{p: p, local: cfg.Local, agents: map[string]*passingAgent{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.release())
		}
	}()
	private, err := broker.OpenPrivate(ctx, p.logTo())
	if err != nil {
		return nil, err
	}
	l.close = append(l.close, private.Close)
	operator, err := wire.NewIdentity()
	if err != nil {
		return nil, err
	}
	token, err := private.Authority.Controller(operator.Key)
	if err != nil {
		return nil, err
	}
	bus, err := nats.Dial(ctx, nats.Config{Open: private.Open, ID: operator.ID(), Name: "hark " + Version, Identity: operator, JWT: token, Logger: p.logTo()})
	if err != nil {
		return nil, err
	}
	l.close = append(l.close, bus.Close)
	dir, err := os.MkdirTemp("", "hark-run-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a directory for the run: %v", err)
	}
	l.close = append(l.close, func() error { return os.RemoveAll(dir) })
	if l.known, err = trust.OpenKnown(dir); err != nil {
		return nil, err
	}
	client, err := ssh.Open(p.cfg.Text("connection/ssh.ssh_executable"))
	if err != nil {
		return nil, err
	}
	l.close = append(l.close, client.Close)
	binaries, err := agentBinaries(p.o.agentBinaries)
	if err != nil {
		return nil, err
	}
	l.roster = roster.New(bus.Conn(), l.known)
	l.ping = &link.Pinger{Transport: bus, Operator: operator}
	l.cfg = bootstrap.EphemeralConfig{
		Client: client, Binaries: binaries, Operators: []string{operator.Key},
		Grant: private.Authority.Agent, Open: private.Open,
	}
	cfg.Broker, cfg.Operator, cfg.Roster, cfg.AgentName = bus, operator, l.roster, nil
	l.Link = link.New(cfg)
	return l, nil
}

// Start implements link.Link.
func (l *passing) Start(ctx context.Context, s wire.Start) error {
	if s.Absent == "" && !s.Remote {
		if err := l.bring(ctx, s.Host); err != nil {
			return err
		}
	}
	return l.Link.Start(ctx, s)
}

// Exec implements link.Link.
func (l *passing) Exec(ctx context.Context, e wire.Exec) ([]byte, error) {
	if err := l.bring(ctx, e.Host); err != nil {
		return nil, err
	}
	return l.Link.Exec(ctx, e)
}

// bring makes sure that a host has its agent. What it cannot do is a *link.AbsentError.
func (l *passing) bring(ctx context.Context, name string) error {
	if l.local != nil && l.local(name) {
		return nil
	}
	l.mu.Lock()
	x := l.agents[name]
	if x == nil {
		x = &passingAgent{}
		l.agents[name] = x
	}
	l.mu.Unlock()
	x.once.Do(func() { x.agent, x.err = l.start(ctx, name) })
	if x.err != nil {
		return &link.AbsentError{Host: name, Reason: x.err.Error()}
	}
	return nil
}

// bringLimit is how long it may take to bring up an agent.
const bringLimit = 3 * time.Minute

func (l *passing) start(ctx context.Context, name string) (*bootstrap.Ephemeral, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, bringLimit, fmt.Errorf("no agent came up within %s", bringLimit))
	defer cancel()
	h := l.p.inventory.Host(name)
	if h == nil {
		return nil, fmt.Errorf("it is not in the inventory")
	}
	targets, err := l.p.sshTargets(ctx, []*inventory.Host{h})
	if err != nil {
		return nil, err
	}
	targets[0].Name = name
	agent, err := l.cfg.Start(ctx, targets[0])
	if err != nil {
		return nil, err
	}
	if err := l.known.Replace(name, agent.Key); err != nil {
		return nil, err
	}
	if _, err := l.ping.Await(ctx, agent.Key); err != nil {
		return nil, err
	}
	return agent, l.listed(ctx, name)
}

// listed waits until the roster has the agent's hello.
func (l *passing) listed(ctx context.Context, name string) error {
	for {
		l.roster.Refresh()
		_, err := l.roster.Find(ctx, name)
		var unknown *roster.UnknownError
		if !errors.As(err, &unknown) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Close implements link.Link: the agents go with the broker, and clean up behind them.
func (l *passing) Close() error { return errors.Join(l.Link.Close(), l.release()) }

func (l *passing) release() error {
	var errs []error
	if len(l.close) > 1 { // the agents' lines end with the broker; ssh is still needed by them
		errs = append(errs, l.close[1](), l.close[0]())
	} else if len(l.close) == 1 {
		errs = append(errs, l.close[0]())
	}
	l.mu.Lock()
	agents := l.agents
	l.agents = nil
	l.mu.Unlock()
	var ending sync.WaitGroup
	for _, x := range agents {
		if x.agent != nil {
			ending.Go(x.agent.End)
		}
	}
	ending.Wait()
	for i := 2; i < len(l.close); i++ {
		errs = append(errs, l.close[i]())
	}
	return errors.Join(errs...)
}
