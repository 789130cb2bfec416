package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/controller/internal/fleet/enrol"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/fleet/trust"
	"hark/controller/internal/play/link"
)

// Connection is a connection to the broker with what goes with it.
type Connection struct {
	*nats.Transport
	URL      string
	Access   trust.Access
	Operator *wire.Identity
	Known    *trust.Known
	Roster   *roster.Roster

	home     string // the directory of the operator's files
	token    *Credentials
	stop     func()   // ends the renewal of the credentials
	believed []string // operators whose word for an agent is taken
	// believers are those who are believed since.
	believers *trust.TrustedOperators
}

// MayCommand is nil for an operator whom the broker lets command agents and keep records, else why not. What is not
// permitted is never answered, so nobody should wait for it.
func (b *Connection) MayCommand() error {
	if b.Access.ReadOnly {
		return fmt.Errorf("the broker at %s lets this operator look and command nobody", b.URL)
	}
	return nil
}

// Registrar returns the operator's side of who enrols agents.
func (b *Connection) Registrar() *enrol.Client {
	return &enrol.Client{Transport: b, Operator: b.Operator, Access: b.Token()}
}

// Token returns the operator's token of the broker's authority, which may have been renewed since the connection was
// made.
func (b *Connection) Token() string {
	if b.token == nil {
		return b.Access.Token
	}
	return b.token.Token()
}

// keepCredentials renews the credentials until the connection is closed.
func (b *Connection) keepCredentials(warn func(error)) {
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { b.token.Keep(ctx, b.Transport, warn) })
	b.stop = func() {
		cancel()
		work.Wait()
	}
}

// vouch returns the key of the agent of a name, if somebody whom this operator believes has signed that it is its:
// the broker is not believed. A name that is on record is not asked for.
func (b *Connection) vouch(ctx context.Context, name string) (string, error) {
	x, err := b.Registrar().Find(ctx, name)
	switch {
	case errors.Is(err, enrol.ErrNoRegistrar):
		return "", fmt.Errorf("the agent of %s is not on record here, and nobody answers who could show an operator's word for it: %w", name, err)
	case err != nil:
		return "", err
	case x == nil:
		return "", fmt.Errorf("the agent of %s is not on record here, and was not enrolled at this broker: write its name and its key into %s, if you know it",
			name, trust.KnownFile)
	}
	return x.Vouched(b.believed)
}

// greet asks an agent to say hello again, and returns what it says of itself.
func (b *Connection) greet(ctx context.Context, id string) (roster.Agent, error) {
	asks := link.Pinger{Transport: b, Operator: b.Operator}
	pong, key, err := asks.Greet(ctx, id)
	if err != nil {
		return roster.Agent{}, err
	}
	beat := wire.Beat{Refused: pong.Refused, RefusedLastHour: pong.RefusedLastHour}
	return roster.Agent{Hello: pong.Hello, Key: key, Beat: beat}, nil
}

// State is how it stands with a broker.
type State struct {
	URL     string `json:"url"`
	Version string `json:"version"`
	RTT     string `json:"rtt"`
	TLS     bool   `json:"tls"`
	Agents  int    `json:"agents"`
	Present int    `json:"present"`
}

// State asks the broker and reads the roster.
func (b *Connection) State(ctx context.Context) (State, error) {
	rtt, err := b.Conn().RTT()
	if err != nil {
		return State{}, fmt.Errorf("the broker at %s does not answer: %w", b.URL, err)
	}
	s := State{URL: b.Conn().ConnectedUrlRedacted(), Version: b.Conn().ConnectedServerVersion(),
		RTT: rtt.Round(time.Microsecond).String()}
	_, err = b.Conn().TLSConnectionState()
	s.TLS = err == nil
	agents, err := b.Roster.All(ctx)
	if err != nil {
		return s, err
	}
	s.Agents = len(agents)
	for _, agent := range agents {
		if agent.Present {
			s.Present++
		}
	}
	return s, nil
}

// Forget takes an agent out of the book, the roster and the record of keys.
func (b *Connection) Forget(ctx context.Context, name string) ([]enrol.Agent, error) {
	var removed []enrol.Agent
	var heard bool
	var err error
	if b.Access.Token == "" { // a broker that lets everybody do everything
		heard, err = b.Roster.Forget(ctx, name)
	} else {
		removed, heard, err = b.Registrar().Remove(ctx, name)
		b.Roster.Refresh()
	}
	if err != nil {
		return nil, err
	}
	pinned := b.Known.Key(name) != ""
	if err := b.Known.Forget(name); err != nil {
		return nil, err
	}
	for _, x := range removed {
		if err := b.Known.Forget(x.Name); err != nil {
			return nil, err
		}
	}
	if len(removed) == 0 && !heard && !pinned {
		return nil, fmt.Errorf("no agent named %s is known", name)
	}
	if len(removed) == 0 {
		removed = []enrol.Agent{{Name: name}}
	}
	return removed, nil
}

// Pending returns the keys of the agents that wait.
func (b *Connection) Pending(ctx context.Context) ([]string, error) {
	agents, _, err := b.Registrar().List(ctx)
	var keys []string
	for _, x := range agents {
		if x.State == enrol.Pending {
			keys = append(keys, x.Key)
		}
	}
	return keys, err
}
