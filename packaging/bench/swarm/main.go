// Command swarm is many agents in one process, to measure what a broadcast to them costs. They keep nothing on disk and obey one
// operator; the broker must ask for no credentials (hark broker run --open).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/rs/zerolog"

	"hark/agent"
	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/modules"
	"hark/modules/all"
)

func main() {
	n := flag.Int("agents", 200, "how many; their names are s1, s2 and so on")
	broker := flag.String("broker", "nats://127.0.0.1:4222", "URL of the broker")
	operator := flag.String("operator", "", "public key of the operator")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *n, *broker, *operator); err != nil {
		fmt.Fprintln(os.Stderr, "swarm:", err)
		os.Exit(1)
	}
}

// run starts the agents and prints a line when all of them listen. It ends with ctx, or with the first agent that cannot go on.
func run(ctx context.Context, n int, broker, operator string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	registry := modules.NewRegistry(all.Modules()...)
	var ready sync.WaitGroup
	ready.Add(n)
	ends := make(chan error, n)
	for i := range n {
		go func() {
			ends <- serve(ctx, fmt.Sprintf("s%d", i+1), broker, operator, registry, ready.Done)
		}()
	}
	go func() {
		ready.Wait()
		fmt.Println("ready")
	}()
	var failed error
	for range n {
		if err := <-ends; err != nil && failed == nil {
			failed = err
			stop()
		}
	}
	return failed
}

func serve(ctx context.Context, name, broker, operator string, registry *modules.Registry, ready func()) error {
	identity, err := wire.NewIdentity()
	if err != nil {
		return err
	}
	bus, err := nats.Dial(ctx, nats.Config{URL: broker, ID: identity.ID(), Name: name, Logger: zerolog.Nop()})
	if err != nil {
		return err
	}
	defer bus.Close()
	return agent.New(agent.Config{
		Transport: bus, Identity: identity, Name: name, Trusted: func(key string) bool { return key == operator },
		Modules: registry, Logger: zerolog.Nop(), Ready: ready,
	}).Run(ctx)
}
