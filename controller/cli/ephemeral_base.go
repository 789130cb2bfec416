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
)

// passingBase is what the agents of one run share: a broker in this process, and ssh.
type passingBase struct {
	bus      *nats.Transport
	operator *wire.Identity
	roster   *roster.Roster
	client   *ssh.Client

	agents bootstrap.EphemeralConfig
	known  *trust.Known
	ping   *link.Pinger
	slots  chan struct{} // one for each agent that may be on its way at once
	// closes end the connection to the broker, the broker, and then what the agents need until they have ended.
	closes []func() error
}

// usualForks is how many agents are on their way at once where nobody says.
const usualForks = 50

func (p *project) openPassing(ctx context.Context) (_ *passingBase, err error) {
	b := &passingBase{slots: make(chan struct{}, max(1, p.forkLimit()))}
	if p.forkLimit() == 0 {
		b.slots = make(chan struct{}, usualForks)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.end(nil))
		}
	}()
	dir, err := os.MkdirTemp("", "hark-run-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a directory for the run: %v", err)
	}
	b.closes = append(b.closes, func() error { return os.RemoveAll(dir) })
	if b.known, err = trust.OpenKnown(dir, nil); err != nil {
		return nil, err
	}
	if b.client, err = ssh.Open(p.cfg.Text("connection/ssh.ssh_executable")); err != nil {
		return nil, err
	}
	b.closes = append(b.closes, b.client.Close)
	private, err := broker.OpenPrivate(ctx, p.logTo())
	if err != nil {
		return nil, err
	}
	b.closes = append(b.closes, private.Close)
	if b.operator, err = wire.NewIdentity(); err != nil {
		return nil, err
	}
	token, err := private.Authority.Controller(b.operator.Key)
	if err != nil {
		return nil, err
	}
	b.bus, err = nats.Dial(ctx, nats.Config{
		Open: private.Open, ID: b.operator.ID(), Name: "hark " + Version, Identity: b.operator, JWT: token, Logger: p.logTo(),
	})
	if err != nil {
		return nil, err
	}
	b.closes = append(b.closes, b.bus.Close)
	binaries, err := agentBinaries(p.o.agentBinaries)
	if err != nil {
		return nil, err
	}
	b.roster = roster.New(b.bus.Conn(), b.known)
	b.ping = &link.Pinger{Transport: b.bus, Operator: b.operator}
	b.agents = bootstrap.EphemeralConfig{
		Client: b.client, Binaries: binaries, Operators: []string{b.operator.Key}, Grant: private.Authority.Agent, Open: private.Open,
	}
	return b, nil
}

// bringLimit is how long it may take to bring up an agent.
const bringLimit = 3 * time.Minute

// start brings up an agent.
func (b *passingBase) start(ctx context.Context, x *passingAgent) (*bootstrap.Ephemeral, error) {
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, bringLimit, fmt.Errorf("no agent came up within %s", bringLimit))
	defer cancel()
	agent, err := b.agents.Start(ctx, bootstrap.Host{Name: x.name, Target: x.target})
	if err != nil {
		return nil, err
	}
	if err := b.known.Replace(x.name, agent.Key); err != nil {
		return agent, err
	}
	if _, err := b.ping.Await(ctx, agent.Key); err != nil {
		return agent, err
	}
	return agent, b.listed(ctx, x.name)
}

// listed waits until the roster has the agent's hello.
func (b *passingBase) listed(ctx context.Context, name string) error {
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

// end closes the broker, waits for the agents, which end with their lines to it, and then closes what they needed for that.
func (b *passingBase) end(agents []*passingAgent) error {
	var errs []error
	const lasting = 2 // the directory and ssh
	for i := len(b.closes) - 1; i >= lasting; i-- {
		errs = append(errs, b.closes[i]())
	}
	var ending sync.WaitGroup
	for _, x := range agents {
		<-x.ready
		if x.agent != nil {
			ending.Go(x.agent.End)
		}
	}
	ending.Wait()
	for i := min(lasting, len(b.closes)) - 1; i >= 0; i-- {
		errs = append(errs, b.closes[i]())
	}
	return errors.Join(errs...)
}
