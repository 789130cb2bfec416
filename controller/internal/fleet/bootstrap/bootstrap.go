// Package bootstrap puts agents on hosts over ssh: many hosts at once, each from nothing to an agent that was heard
// of at the broker, or back to what it was. It can be called again: a host on which all is as it should be is left
// alone.
package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/fleet/ssh"
	"hark/modules/dialect"
)

// Host is a host that is to have an agent.
type Host struct {
	// Name is the host's name in inventories, which the agent will have.
	Name   string
	Target ssh.Target
	Become Become
	// Err, if set, is why the host cannot be tried.
	Err error
}

// Become says how the ssh user becomes root.
type Become struct {
	// On is false for a user who is root, or who is enough.
	On bool
	dialect.RunAs
}

// Config is what all hosts share.
type Config struct {
	Client   *ssh.Client
	Binaries *Binaries
	// Setup is what the agents are told; the name is each host's.
	Setup wire.Setup
	// Grant gives an agent the credentials with which it is tried.
	Grant func(ctx context.Context, name string, keys wire.SetupKeys) (wire.SetupGrant, error)
	// Heard waits until the agent of a key was heard of at the broker.
	Heard func(ctx context.Context, key string) error
	// Enrol lets an agent in that was heard of, in place of whoever had its name: its keys came over ssh and are the
	// right ones.
	Enrol func(ctx context.Context, name string, keys wire.SetupKeys) error
	// Forks is how many hosts are worked on at once.
	Forks int
	// Limit is how long a host may take.
	Limit time.Duration
	// Progress is told what is done on a host. It is called from several goroutines.
	Progress func(host, what string)
}

// Result is what came of a host.
type Result struct {
	Host    string        `json:"host"`
	Changed bool          `json:"changed"`
	Did     []string      `json:"did,omitempty"`
	Version string        `json:"version,omitempty"`
	OS      string        `json:"os,omitempty"`
	Arch    string        `json:"arch,omitempty"`
	Key     string        `json:"key,omitempty"`
	Took    time.Duration `json:"took"`
	// Err is why there is no agent, Unreachable that ssh did not get there.
	Err         string `json:"err,omitempty"`
	Unreachable bool   `json:"unreachable,omitempty"`
}

// Run works on the hosts and calls done for each as it is finished, one at a time.
func Run(ctx context.Context, cfg Config, hosts []Host, done func(Result)) {
	queue := make(chan Host)
	results := make(chan Result)
	var workers sync.WaitGroup
	for range max(min(cfg.Forks, len(hosts)), 1) {
		workers.Go(func() {
			for h := range queue {
				results <- cfg.host(ctx, h)
			}
		})
	}
	go func() {
		for _, h := range hosts {
			queue <- h
		}
		close(queue)
		workers.Wait()
		close(results)
	}()
	for r := range results {
		done(r)
	}
}

// errInterrupted is why a host was not finished; by then it is as it was, or puts itself back.
var errInterrupted = errors.New("interrupted")

// host works on one host.
func (c *Config) host(ctx context.Context, h Host) Result {
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, c.Limit, fmt.Errorf("it took longer than %s", c.Limit))
	defer cancel()
	r := Result{Host: h.Name}
	err := h.Err
	if err == nil {
		err = c.install(ctx, h, &r)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if errors.Is(err, context.Canceled) {
		err = errInterrupted
	}
	if err != nil {
		r.Err, r.Unreachable, r.Changed, r.Did = err.Error(), unreachable(err), false, nil
	}
	r.Took = time.Since(began).Round(time.Millisecond)
	return r
}
