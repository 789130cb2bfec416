package link

import (
	"context"
	"fmt"
	"sync"
	"time"

	"hark/agent"
	"hark/agent/wire"
	"hark/agent/wire/mem"
)

// localAgent is the agent in this process: the code of hark-agent over a bus in memory, with keys that live as long as the run. It is guarded
// by Hub.mu until the Hub is closed.
type localAgent struct {
	bus  *bus // nil until it is used
	peer *peer

	cancel    context.CancelFunc // nil until it is started
	done      sync.WaitGroup
	client    *mem.Transport
	processes *agent.Processes // nil if there is no StateDir
}

// localPeer is the agent in this process, which is started when it is first needed.
func (h *Hub) localPeer() (*peer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.local.peer != nil {
		return h.local.peer, nil
	}
	if err := h.ctx.Err(); err != nil {
		return nil, err
	}
	operator, err := wire.NewIdentity()
	if err != nil {
		return nil, err
	}
	self, err := wire.NewIdentity()
	if err != nil {
		return nil, err
	}
	var memory mem.Bus
	b := &bus{transport: memory.Connect(operator.ID()), operator: operator}
	b.first = b.transport.Since()
	if err := h.listen(b); err != nil {
		return nil, err
	}
	h.local.client = memory.Connect(self.ID())
	if err := h.startLocal(self, operator.Key); err != nil {
		b.unsubscribe()
		return nil, err
	}
	h.local.bus = b
	h.local.peer = &peer{id: self.ID(), key: self.Key, xkey: self.XKey, hostKey: wire.NewKey(), bus: b, local: true, hosts: map[string]bool{}}
	h.peers[self.ID()] = h.local.peer
	return h.local.peer, nil
}

// startLocal starts the agent and waits until it listens.
func (h *Hub) startLocal(self *wire.Identity, operator string) error {
	ctx, cancel := context.WithCancel(context.Background())
	h.local.cancel = cancel
	ready := make(chan struct{})
	failed := make(chan error, 1)
	var here agent.Host
	if h.cfg.StateDir != "" {
		processes, err := agent.OpenProcesses(h.cfg.StateDir, h.cfg.Commands)
		if err != nil {
			cancel()
			return err
		}
		h.local.processes = processes
		here = processes.Host()
	}
	a := agent.New(agent.Config{
		Transport: h.local.client, Identity: self, Name: "localhost", Fleet: h.cfg.Fleet,
		Trusted: func(key string) bool { return key == operator },
		Modules: h.cfg.Modules, Logger: h.cfg.Logger, Heartbeat: -1, Grace: -1, Host: here,
		Ready: func() { close(ready) }, Controller: true,
	})
	h.local.done.Go(func() { failed <- a.Run(ctx) })
	select {
	case <-ready:
		return nil
	case err := <-failed:
		cancel()
		return fmt.Errorf("cannot start the agent in this process: %w", err)
	}
}

// lastMoment is how long the agent in this process may take to end. A template that computes for hours listens to nobody; it ends with the process.
const lastMoment = 10 * time.Second

// stop ends an agent that was started; its sessions have a moment to end what they do.
func (l *localAgent) stop() {
	l.cancel()
	ended := make(chan struct{})
	go func() { l.done.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(lastMoment):
		return
	}
	_ = l.client.Close()
	if l.processes != nil {
		l.processes.Close()
	}
}
