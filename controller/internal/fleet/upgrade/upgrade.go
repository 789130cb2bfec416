// Package upgrade replaces the agents of a fleet, in stages: a stage begins when all agents of the one before it have
// come back with the new version. Each agent tries the new program before it takes it, and goes back by itself to the
// old one when the new one does not reach the broker.
package upgrade

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/fleet/bootstrap"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/play/link"
)

// Config is what an upgrade needs.
type Config struct {
	Run  string
	Link interface {
		Exec(ctx context.Context, e wire.Exec) ([]byte, error)
	}
	Ping interface {
		Ping(ctx context.Context, key string) (*link.Pong, error)
	}
	Binaries *bootstrap.Binaries
	// Forks is how many agents are upgraded at once within a stage.
	Forks int
	// Wait is for how long an agent may finish what it has in hand.
	Wait time.Duration
}

// Result is what came of an agent.
type Result struct {
	Agent string `json:"agent"`
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
	// Same says that there was nothing to do.
	Same bool   `json:"same,omitempty"`
	Err  string `json:"err,omitempty"`
}

// Run upgrades the agents of one stage and calls done for each, one at a time. It reports whether all are as they
// should be.
func Run(ctx context.Context, cfg Config, agents []roster.Agent, done func(Result)) bool {
	queue := make(chan roster.Agent)
	var workers sync.WaitGroup
	var mu sync.Mutex
	good := true
	for range max(min(cfg.Forks, len(agents)), 1) {
		workers.Go(func() {
			for a := range queue {
				r := cfg.one(ctx, a)
				mu.Lock()
				good = good && r.Err == ""
				done(r)
				mu.Unlock()
			}
		})
	}
	for _, a := range agents {
		if ctx.Err() != nil { // those that were not begun stay as they are
			mu.Lock()
			good = false
			mu.Unlock()
			break
		}
		queue <- a
	}
	close(queue)
	workers.Wait()
	return good
}

// one upgrades an agent.
func (c *Config) one(ctx context.Context, a roster.Agent) Result {
	r := Result{Agent: a.Name, From: a.Version}
	b, err := c.Binaries.For(a.OS, a.Arch)
	if err != nil {
		r.Err = err.Error()
		return r
	}
	out, err := c.order(ctx, a, b.Digest)
	if err == nil {
		r.From, r.To, r.Same = out.From, out.To, out.Same
	}
	if err == nil && out.Err != "" {
		err = errors.New(out.Err)
	}
	if err == nil && !out.Same {
		err = c.comeBack(ctx, a, out, b.Digest)
	}
	if err != nil {
		r.Err = err.Error()
	}
	return r
}

// order tells the agent to replace itself.
func (c *Config) order(ctx context.Context, a roster.Agent, digest string) (*wire.Upgraded, error) {
	args, err := json.Marshal(wire.Upgrade{Digest: digest})
	if err != nil {
		return nil, err
	}
	raw, err := c.Link.Exec(ctx, wire.Exec{
		Run: c.Run, ID: "upgrade-" + a.ID, Host: a.Name, Origin: a.Name,
		Call: wire.Call{Module: wire.UpgradeModule, Args: args},
	})
	if err != nil {
		return nil, err
	}
	var out wire.Upgraded
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("cannot read the agent's answer: %v", err)
	}
	return &out, nil
}

// The agent's own limit for the new program, with what going back takes.
const backLimit = 90 * time.Second

// comeBack waits until the agent that answers runs the new program, or the old one anew.
func (c *Config) comeBack(ctx context.Context, a roster.Agent, out *wire.Upgraded, digest string) error {
	limit := backLimit
	if out.Busy {
		limit += c.Wait
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		try, stop := context.WithTimeout(ctx, 5*time.Second)
		pong, err := c.Ping.Ping(try, a.Key)
		stop()
		if err == nil && pong.Hello.Started.After(a.Started) {
			if is := pong.Program; is == digest || is == "" && pong.Hello.Version == out.To {
				return nil
			}
			return fmt.Errorf("the new agent did not reach the broker: the host is back at version %s", pong.Hello.Version)
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return errors.New("interrupted: it was told to take the new agent, and goes on by itself")
			}
			return fmt.Errorf("the agent did not come back within %s", limit)
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// pieceSize is how much of a program travels in one answer.
const pieceSize = 256 << 10

// Asks serves the programs to the agents that were told their digests.
type Asks struct{ Binaries *bootstrap.Binaries }

// Answer implements link.Asks.
func (s Asks) Answer(_ context.Context, ask wire.Ask) wire.Answer {
	b := s.Binaries.Loaded(ask.Digest)
	if ask.Kind != wire.AskBlob || b == nil || ask.Offset < 0 {
		return wire.Answer{Err: "this was not named to the agent"}
	}
	piece := make([]byte, pieceSize)
	n, err := bytes.NewReader(b.Text).ReadAt(piece, ask.Offset)
	return wire.Answer{Data: piece[:n], EOF: errors.Is(err, io.EOF)}
}
