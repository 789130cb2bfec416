package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"hark/agent"
	"hark/agent/profile"
	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/controller/broker"
	"hark/modules"
	"hark/modules/all"
)

// swarm are the agents of one process. They obey one operator.
type swarm struct {
	agents                        int
	broker, operator, data, known string
}

// member is one of them before it serves.
type member struct {
	name     string
	identity *wire.Identity
	jwt      string // "" if the broker asks for none
}

// run starts the agents and prints a line when all of them listen. It ends with ctx, or with the first agent that
// cannot go on.
func (s swarm) run(ctx context.Context) (err error) {
	written, err := profile.Start("swarm")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, written()) }()
	members, secure, err := s.enrol()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	registry := modules.NewRegistry(all.Modules()...)
	var ready sync.WaitGroup
	ready.Add(len(members))
	ends := make(chan error, len(members))
	doors := make(chan struct{}, atOnce)
	for _, m := range members {
		go func() {
			doors <- struct{}{}
			listens := sync.OnceFunc(func() { <-doors; ready.Done() })
			defer listens()
			ends <- s.serve(ctx, m, secure, registry, listens)
		}()
	}
	go func() {
		ready.Wait()
		fmt.Println("ready")
	}()
	var failed error
	for range members {
		if err := <-ends; err != nil && failed == nil {
			failed = err
			stop()
		}
	}
	return failed
}

// atOnce is how many agents connect at the same time at first.
const atOnce = 64

// enrol makes the agents' keys, has the broker's authority give them credentials and enters them in the operator's
// record, as bootstrap does.
func (s swarm) enrol() (members []member, secure *tls.Config, err error) {
	var authority *broker.Authority
	if s.data != "" {
		if authority, err = broker.OpenAuthority(s.data); err != nil {
			return nil, nil, err
		}
		ca, err := os.ReadFile(filepath.Join(s.data, "tls", "ca.pem"))
		if err != nil {
			return nil, nil, err
		}
		if secure, err = nats.TLS(string(ca)); err != nil {
			return nil, nil, err
		}
	}
	var record strings.Builder
	for i := range s.agents {
		m := member{name: fmt.Sprintf("s%d", i+1)}
		if m.identity, err = wire.NewIdentity(); err != nil {
			return nil, nil, err
		}
		if authority != nil {
			if m.jwt, err = authority.Agent(m.identity.Key); err != nil {
				return nil, nil, err
			}
		}
		fmt.Fprintf(&record, "%s %s\n", m.name, m.identity.Key)
		members = append(members, m)
	}
	if s.known != "" {
		err = os.WriteFile(s.known, []byte(record.String()), 0o600)
	}
	return members, secure, err
}

func (s swarm) serve(ctx context.Context, m member, secure *tls.Config, registry *modules.Registry,
	ready func()) error {
	connected := make(chan struct{}, 1)
	bus, err := nats.Dial(ctx, nats.Config{
		URL: s.broker, ID: m.identity.ID(), Name: m.name, Identity: m.identity, JWT: m.jwt, TLS: secure, Patient: true,
		FleetSize: s.agents, Logger: zerolog.Nop(),
		OnConnect: func() {
			select {
			case connected <- struct{}{}:
			default:
			}
		},
	})
	if err != nil {
		return err
	}
	defer bus.Close()
	return agent.New(agent.Config{
		Transport: bus, Connected: connected, Identity: m.identity, Name: m.name, Trusted: func(key string) bool {
			return key == s.operator
		},
		Modules: registry, Logger: zerolog.Nop(), FleetSizeChanged: bus.SetFleetSize, Ready: ready,
	}).Run(ctx)
}
