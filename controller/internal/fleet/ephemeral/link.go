// Package ephemeral is the link of a run whose hosts may have no agent. Those that have one are reached by it, as by
// package link, on which this one stands; for the others agents are brought up over ssh, or by a program that enters
// them, which live as long as the run. The sessions of such hosts are in this process; each of their calls goes to an
// agent that was reached as the call says, and which is brought up when it is first needed. So tasks, and not hosts,
// decide how a host is reached, as in Ansible.
package ephemeral

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/controller/internal/fleet/bootstrap"
	"hark/controller/internal/fleet/connections"
	"hark/controller/internal/fleet/ssh"
	"hark/controller/internal/play/link"
)

// Config is what a Link needs.
type Config struct {
	// Hub is of the sessions, and of the agents that are there anyway.
	Hub link.Config
	// Resident reports whether hosts may have agents behind Hub's broker; else all are reached as their calls say,
	// and Hub has none.
	Resident bool
	// NoSSH is why no host is reached over ssh, "" if hosts are.
	NoSSH string
	// Ways is what flags and settings say of connections.
	Ways connections.Settings
	// Binaries finds the programs of agents, when the first is needed.
	Binaries func() (*bootstrap.Binaries, error)
	// Keep lets programs of agents stay on hosts for the next run. Kept is told each time when one was left on a host
	// where it was not; nil is nobody.
	Keep bool
	Kept func()
	// Forks is how many agents are on their way at once.
	Forks int
	// Name and Logger are of the connection to the broker that agents of the run have.
	Name   string
	Logger zerolog.Logger
	// Say is told once how each host is reached. Because is why none has an agent, where that was not asked for.
	Say     func(host, text string)
	Because string
}

// Link implements link.Link.
type Link struct {
	*link.Hub
	cfg Config

	opening sync.Once
	base    *base // what all agents share; set by opening
	baseErr error

	mu       sync.Mutex
	agents   map[string]*agent // those that new calls may use, by host and way; guarded by mu
	all      []*agent          // guarded by mu
	sessions map[string]*agent // those that have sessions, by host; guarded by mu
	homes    map[string]bool   // whether hosts have agents of their own, once that is known; guarded by mu
	said     map[string]bool   // hosts and ways that were told of; guarded by mu
}

var _ link.Link = (*Link)(nil)

// agent is one that is being brought up, or was.
type agent struct {
	host   string
	target ssh.Target
	name   string
	ready  chan struct{} // closed when up or err is set
	up     *bootstrap.Ephemeral
	err    error
}

// New makes the link. Nothing is opened before a host is to be reached that has no agent.
func New(cfg Config) *Link {
	return &Link{Hub: link.New(cfg.Hub), cfg: cfg, agents: map[string]*agent{}, sessions: map[string]*agent{},
		homes: map[string]bool{}, said: map[string]bool{}}
}

// Settle implements link.Link. Why no agent could be brought in the next call for the host is told, which does not
// try again.
func (l *Link) Settle(ctx context.Context, host string, login *wire.Login) bool {
	switch kind := login.Whole["ansible_connection"]; connections.KindOf(kind) {
	case connections.Smart:
		if has, err := l.resident(ctx, host); has || err != nil || l.cfg.NoSSH != "" {
			return false
		}
	case connections.SSH, connections.Enter:
		if l.cfg.NoSSH != "" {
			return false
		}
	default:
		return false
	}
	x, err := l.bring(ctx, host, login.Whole)
	if err != nil || x.err != nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sessions[host] = x
	return true
}

// Start implements link.Link.
func (l *Link) Start(ctx context.Context, s wire.Start) error {
	if s.Login != nil {
		l.mu.Lock()
		login := *s.Login
		login.Agent = l.sessions[s.Host].name
		l.mu.Unlock()
		s.Login = &login
		return l.base.near.Start(ctx, s)
	}
	err := l.Hub.Start(ctx, s)
	if err == nil && !s.Remote && s.Absent == "" && l.cfg.Hub.Local != nil && !l.cfg.Hub.Local(s.Host) {
		l.say(s.Host, "reached by its agent")
	}
	return err
}

// Exec implements link.Link.
func (l *Link) Exec(ctx context.Context, e wire.Exec) ([]byte, error) {
	way := e.Call.Reach
	e.Call.Reach = nil
	if way == nil { // not from a session of this process
		return l.Hub.Exec(ctx, e)
	}
	kind := way["ansible_connection"]
	switch connections.KindOf(kind) {
	case connections.Here:
		e.Agent = link.ThisProcess
		return l.Hub.Exec(ctx, e)
	case connections.Smart:
		if has, err := l.resident(ctx, e.Host); err != nil || has {
			if err != nil {
				return nil, err
			}
			l.say(e.Host, "reached by its agent")
			return l.Hub.Exec(ctx, e)
		}
		if err := l.refusedSSH(e.Host, "it has no agent"); err != nil {
			return nil, err
		}
	case connections.SSH:
		if err := l.refusedSSH(e.Host, "its connection is "+kind); err != nil {
			return nil, err
		}
	case connections.Enter:
	default:
		return nil, &link.AbsentError{Host: e.Host, Reason: "only whole tasks go over its connection " + kind +
			", which ansible-core opens for them"}
	}
	if e.Call.User.Method == "" {
		e.Call.User = wire.RunAs{} // who is logged in there is the user
	}
	x, err := l.bring(ctx, e.Host, way)
	if err != nil {
		return nil, err
	}
	if x.err != nil {
		l.forget(func(other *agent) bool { return other == x }) // the next call tries again
		return nil, x.failure()
	}
	e.Agent = x.name
	return l.base.near.Exec(ctx, e)
}

// refusedSSH is why a host is not reached over ssh, nil if it is.
func (l *Link) refusedSSH(host, because string) error {
	if l.cfg.NoSSH == "" {
		return nil
	}
	return &link.AbsentError{Host: host, Reason: because + ", and " + l.cfg.NoSSH}
}

// resident reports whether a host has an agent of its own. What was found first holds for the run.
func (l *Link) resident(ctx context.Context, host string) (bool, error) {
	if !l.cfg.Resident {
		return false, nil
	}
	l.mu.Lock()
	has, known := l.homes[host]
	l.mu.Unlock()
	if known {
		return has, nil
	}
	has, err := l.Enrolled(ctx, host)
	if err != nil {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.homes[host] = has
	return has, nil
}

// say describes how a host is reached, once for each way.
func (l *Link) say(host, text string) {
	if l.cfg.Say == nil {
		return
	}
	l.mu.Lock()
	key := host + " " + text
	was := l.said[key]
	l.said[key] = true
	l.mu.Unlock()
	if !was {
		l.cfg.Say(host, text)
	}
}

// bring returns an agent of the host which has come up, or has failed to. The error is that there is no such way, or
// that nobody waits any more.
func (l *Link) bring(ctx context.Context, host string, way map[string]string) (*agent, error) {
	v := connections.Of(way)
	target := l.cfg.Ways.Target(host, v)
	if v.Err != nil {
		return nil, v.Err
	}
	because := ""
	if kind := connections.KindOf(way["ansible_connection"]); kind == connections.Smart && l.cfg.Resident {
		because = ", since no agent of its name was ever enrolled"
	} else if kind == connections.Smart && l.cfg.Because != "" {
		because = ", since " + l.cfg.Because
	}
	l.say(host, "reached "+connections.Describe(target)+because)
	x, own := l.agent(host, target)
	if own {
		x.up, x.err = l.start(ctx, x)
		close(x.ready)
	}
	select {
	case <-x.ready:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return x, nil
}

// failure is why the agent did not come up. A host that cannot be reached is a *link.AbsentError.
func (x *agent) failure() error {
	var reached *bootstrap.UnfitError
	if errors.As(x.err, &reached) {
		return x.err
	}
	return &link.AbsentError{Host: x.host, Reason: x.err.Error()}
}

// agent finds the agent of a host and a way to it, or makes one that its caller has to start.
func (l *Link) agent(host string, target ssh.Target) (x *agent, own bool) {
	key := fmt.Sprintf("%s %+q", host, fmt.Sprintf("%#v", target))
	l.mu.Lock()
	defer l.mu.Unlock()
	if x = l.agents[key]; x != nil && !x.over() {
		return x, false
	}
	x = &agent{host: host, target: target, name: fmt.Sprintf("agent%d", len(l.all)+1), ready: make(chan struct{})}
	l.agents[key], l.all = x, append(l.all, x)
	return x, true
}

// over reports whether the agent has come and gone.
func (x *agent) over() bool {
	select {
	case <-x.ready:
		return x.up != nil && x.up.Over()
	default:
		return false
	}
}

// forget has no more calls go to some agents. Those that they have in hand go on.
func (l *Link) forget(which func(*agent) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, x := range l.agents {
		if which(x) {
			delete(l.agents, key)
		}
	}
}

// Reset implements link.Link.
func (l *Link) Reset(host string) {
	var targets []ssh.Target
	l.forget(func(x *agent) bool {
		if x.host == host {
			targets = append(targets, x.target)
		}
		return x.host == host
	})
	for _, t := range targets {
		l.base.client.Stop(context.Background(), t)
	}
}

func (l *Link) start(ctx context.Context, x *agent) (*bootstrap.Ephemeral, error) {
	l.opening.Do(func() {
		opened, err := openBase(context.WithoutCancel(ctx), &l.cfg, l.Hub)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.base, l.baseErr = opened, err
	})
	if l.baseErr != nil {
		return nil, l.baseErr
	}
	return l.base.start(ctx, x)
}

// near returns the Hub of the run's own agents, nil if there are none.
func (l *Link) near() *link.Hub {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.base == nil {
		return nil
	}
	return l.base.near
}

// Advance implements link.Link.
func (l *Link) Advance(a wire.Advance) error {
	err := l.Hub.Advance(a)
	if near := l.near(); near != nil {
		err = errors.Join(err, near.Advance(a))
	}
	return err
}

// Notices implements link.Link.
func (l *Link) Notices() []string {
	told := l.Hub.Notices()
	if near := l.near(); near != nil {
		told = append(told, near.Notices()...)
	}
	return told
}

// Cancel implements link.Link.
func (l *Link) Cancel(c wire.Cancel) error {
	err := l.Hub.Cancel(c)
	if near := l.near(); near != nil {
		err = errors.Join(err, near.Cancel(c))
	}
	return err
}

// End implements link.Link.
func (l *Link) End(ctx context.Context) error {
	var err error
	if near := l.near(); near != nil {
		err = near.End(ctx)
	}
	return errors.Join(l.Hub.End(ctx), err)
}

// Close implements link.Link: the agents go with the broker, and clean up behind them.
func (l *Link) Close() error {
	err := l.Hub.Close()
	l.mu.Lock()
	b, all := l.base, l.all
	l.mu.Unlock()
	if b == nil {
		return err
	}
	return errors.Join(err, b.end(all))
}
