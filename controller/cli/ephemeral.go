package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"hark/agent/wire"
	"hark/controller/internal/argparse"
	"hark/controller/internal/bootstrap"
	"hark/controller/internal/fleet"
	"hark/controller/internal/link"
	"hark/controller/internal/ssh"
	"hark/controller/internal/view"
)

// overSSH, in place of a broker's URL, has agents brought up over ssh for this run alone.
const overSSH = "ssh:"

func (a *app) ephemeralFlag(fs argparse.Flags, o *options) {
	fs.Toggle(&o.ephemeral, "ephemeral", "", false, "bring up agents over ssh for this run alone; nothing is installed")
	agentBinaryFlag(fs, &o.agentBinaries)
	a.own(fs, "ephemeral", "agent-binary")
}

// bySSH tells whether hosts are reached over ssh: it was asked for, or nobody knows of a broker. implied is the latter.
func (p *project) bySSH() (yes, implied bool) {
	if p.o.ephemeral || p.o.broker == overSSH {
		return true, false
	}
	_, err := p.fleet.Access(p.o.broker)
	return errors.Is(err, fleet.ErrNoBroker), true
}

// passing is the link of a run whose agents live as long as it. The sessions are in this process; each call goes to an agent that was
// reached as the call says, which is brought up when it is first needed. So tasks, and not hosts, decide how a host is reached, as in Ansible.
type passing struct {
	*link.Hub
	p       *project
	implied bool

	opening sync.Once
	base    *passingBase // what all agents share; set by opening
	baseErr error

	mu     sync.Mutex
	agents map[string]*passingAgent // those that new calls may use, by host and way; guarded by mu
	all    []*passingAgent          // guarded by mu
}

// passingAgent is an agent that is being brought up, or was.
type passingAgent struct {
	host   string
	target ssh.Target
	name   string
	ready  chan struct{} // closed when agent or err is set
	agent  *bootstrap.Ephemeral
	err    error
}

// connectOverSSH makes the link of such a run. Nothing is opened before a host is to be reached.
func (p *project) connectOverSSH(cfg link.Config, implied bool) link.Link {
	return &passing{Hub: link.New(cfg), p: p, implied: implied, agents: map[string]*passingAgent{}}
}

// Exec implements link.Link.
func (l *passing) Exec(ctx context.Context, e wire.Exec) ([]byte, error) {
	way := e.Call.Reach
	e.Call.Reach = nil
	switch kind := way["ansible_connection"]; {
	case way == nil: // not from a session of this process
	case kind == "local", kind == "ansible.builtin.local":
		e.Agent = link.ThisProcess
	case kind != "" && !isSSH(kind) && entry(kind) == nil:
		return nil, &link.AbsentError{Host: e.Host, Reason: "it has no agent, and the connection plugin '" + kind + "' is not run: it is in Python"}
	default:
		var err error
		if e.Agent, err = l.bring(ctx, e.Host, way); err != nil {
			return nil, err
		}
	}
	return l.Hub.Exec(ctx, e)
}

// bring gives the name of an agent of the host. A host that cannot be reached is a *link.AbsentError.
func (l *passing) bring(ctx context.Context, host string, way map[string]string) (string, error) {
	c := &connection{find: func(name string) (string, bool, error) { text, ok := way[name]; return text, ok, nil }}
	target := l.p.target(host, c)
	if c.err != nil {
		return "", c.err
	}
	x, own := l.agent(host, target)
	if own {
		x.agent, x.err = l.start(ctx, x)
		close(x.ready)
	}
	select {
	case <-x.ready:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if x.err == nil {
		return x.name, nil
	}
	l.forget(func(other *passingAgent) bool { return other == x }) // the next call tries again
	var reached *bootstrap.UnfitError
	if errors.As(x.err, &reached) {
		return "", x.err
	}
	return "", &link.AbsentError{Host: host, Reason: x.err.Error()}
}

// agent finds the agent of a host and a way to it, or makes one that its caller has to start.
func (l *passing) agent(host string, target ssh.Target) (x *passingAgent, own bool) {
	key := fmt.Sprintf("%s %+q", host, fmt.Sprintf("%#v", target))
	l.mu.Lock()
	defer l.mu.Unlock()
	if x = l.agents[key]; x != nil && !x.over() {
		return x, false
	}
	x = &passingAgent{host: host, target: target, name: fmt.Sprintf("agent%d", len(l.all)+1), ready: make(chan struct{})}
	l.agents[key], l.all = x, append(l.all, x)
	return x, true
}

// over tells that the agent has come and gone.
func (x *passingAgent) over() bool {
	select {
	case <-x.ready:
		return x.agent != nil && x.agent.Over()
	default:
		return false
	}
}

// forget has no more calls go to some agents. Those that they have in hand go on.
func (l *passing) forget(which func(*passingAgent) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, x := range l.agents {
		if which(x) {
			delete(l.agents, key)
		}
	}
}

// Reset implements link.Link.
func (l *passing) Reset(host string) {
	var targets []ssh.Target
	l.forget(func(x *passingAgent) bool {
		if x.host == host {
			targets = append(targets, x.target)
		}
		return x.host == host
	})
	for _, t := range targets {
		l.base.client.Stop(context.Background(), t)
	}
}

func (l *passing) start(ctx context.Context, x *passingAgent) (*bootstrap.Ephemeral, error) {
	l.opening.Do(func() {
		if l.implied && l.p.display.Verbosity() > 0 {
			l.p.display.PrintErr(view.NoColor, "No broker is configured: hosts are reached over ssh, by agents that live as long as this run")
		}
		if l.base, l.baseErr = l.p.openPassing(context.WithoutCancel(ctx)); l.baseErr == nil {
			l.Attach(l.base.bus, l.base.operator, l.base.roster)
		}
	})
	if l.baseErr != nil {
		return nil, l.baseErr
	}
	return l.base.start(ctx, x)
}

// Close implements link.Link: the agents go with the broker, and clean up behind them.
func (l *passing) Close() error {
	err := l.Hub.Close()
	if l.base == nil {
		return err
	}
	l.mu.Lock()
	all := l.all
	l.mu.Unlock()
	return errors.Join(err, l.base.end(all))
}
