package ephemeral

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hark/agent/tempdir"
	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/controller/broker"
	"hark/controller/internal/fleet/bootstrap"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/fleet/ssh"
	"hark/controller/internal/fleet/trust"
	"hark/controller/internal/play/link"
)

// base is what the agents of one run share: a broker in this process, and ssh.
type base struct {
	near   *link.Hub
	roster *roster.Roster
	client *ssh.Client

	agents bootstrap.EphemeralConfig
	known  *trust.Known
	ping   *link.Pinger
	slots  chan struct{} // one for each agent that may be on its way at once
	// closes end the connection to the broker, the broker, and then what the agents need until they have ended.
	closes []func() error
}

// openBase opens it. Of the sessions of its agents beside tells, with its own.
func openBase(ctx context.Context, cfg *Config, beside *link.Hub) (_ *base, err error) {
	b := &base{slots: make(chan struct{}, max(1, cfg.Forks))}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.end(nil))
		}
	}()
	dir, err := tempdir.Make("run")
	if err != nil {
		return nil, err
	}
	b.closes = append(b.closes, dir.Remove)
	if b.known, err = trust.OpenKnown(dir.Path, nil); err != nil {
		return nil, err
	}
	if b.client, err = ssh.Open(cfg.Ways.Executable); err != nil {
		return nil, err
	}
	b.client.Alone = true // each agent has one session, in which it lives
	b.closes = append(b.closes, b.client.Close)
	private, err := broker.OpenPrivate(ctx, cfg.Logger)
	if err != nil {
		return nil, err
	}
	b.closes = append(b.closes, private.Close)
	operator, err := wire.NewIdentity()
	if err != nil {
		return nil, err
	}
	token, err := private.Authority.Controller(operator.Key)
	if err != nil {
		return nil, err
	}
	bus, err := nats.Dial(ctx, nats.Config{
		Open: private.Open, ID: operator.ID(), Name: cfg.Name, Identity: operator, JWT: token, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, err
	}
	b.closes = append(b.closes, bus.Close)
	binaries, err := cfg.Binaries()
	if err != nil {
		return nil, err
	}
	b.roster = roster.New(bus.Conn(), b.known)
	b.ping = &link.Pinger{Transport: bus, Operator: operator}
	b.agents = bootstrap.EphemeralConfig{
		Client: b.client, Binaries: binaries, Operators: []string{operator.Key}, Grant: private.Authority.Agent,
		Open: private.Open, Keep: cfg.Keep, Kept: cfg.Kept,
	}
	b.near = link.New(link.Config{
		Run: cfg.Hub.Run, Fleet: cfg.Hub.Fleet, Operator: operator, Broker: bus, Roster: b.roster, Asks: cfg.Hub.Asks,
		Lease:  cfg.Hub.Lease,
		Logger: cfg.Logger, Warn: cfg.Hub.Warn, Times: cfg.Hub.Times, EventsOf: beside,
	})
	b.closes = append(b.closes, b.near.Close)
	return b, nil
}

// bringLimit is how long it may take to bring up an agent.
const bringLimit = 3 * time.Minute

// start brings up an agent.
func (b *base) start(ctx context.Context, x *agent) (*bootstrap.Ephemeral, error) {
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, bringLimit, fmt.Errorf("no agent came up within %s", bringLimit))
	defer cancel()
	up, err := b.agents.Start(ctx, bootstrap.Host{Name: x.name, Target: x.target})
	if err != nil {
		return nil, err
	}
	if err := b.known.Replace(x.name, up.Key); err != nil {
		return up, err
	}
	if _, err := b.ping.Await(ctx, up.Key); err != nil {
		return up, err
	}
	return up, b.listed(ctx, x.name)
}

// listed waits until the roster has the agent's hello.
func (b *base) listed(ctx context.Context, name string) error {
	for {
		b.roster.Refresh()
		_, err := b.roster.Find(ctx, name)
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

// end closes the broker, waits for the agents, which end with their lines to it, and then closes what they needed for
// that.
func (b *base) end(agents []*agent) error {
	var errs []error
	const lasting = 2 // the directory and ssh
	for i := len(b.closes) - 1; i >= lasting; i-- {
		errs = append(errs, b.closes[i]())
	}
	var ending sync.WaitGroup
	for _, x := range agents {
		<-x.ready
		if x.up != nil {
			ending.Go(x.up.End)
		}
	}
	ending.Wait()
	for i := min(lasting, len(b.closes)) - 1; i >= 0; i-- {
		errs = append(errs, b.closes[i]())
	}
	return errors.Join(errs...)
}
