package link

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hark/agent/wire"
	"hark/agent/wire/mem"
)

// LocalAgent serves one operator, by its key, in this process until ctx is over, and has ended all that it started
// when it returns. It calls listens once, when it can be spoken to. The error is why there is no agent.
type LocalAgent func(ctx context.Context, over wire.Transport, self *wire.Identity, operator string,
	listens func()) error

// localAgent is the agent in this process, over a bus in memory, with keys that live as long as the run. It is
// guarded by members.mu until the Hub is closed.
type localAgent struct {
	bus  *bus // nil until it is used
	peer *peer

	cancel context.CancelFunc // nil until it is started
	done   sync.WaitGroup
	client *mem.Transport
}

// localPeer returns the agent in this process, which is started when it is first needed.
func (h *Hub) localPeer() (*peer, error) {
	h.members.mu.Lock()
	defer h.members.mu.Unlock()
	if h.local.peer != nil {
		return h.local.peer, nil
	}
	if err := h.ctx.Err(); err != nil {
		return nil, err
	}
	if h.cfg.Agent == nil {
		return nil, errors.New("there is no agent in this process")
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
	if err := h.local.start(h.cfg.Agent, self, operator.Key); err != nil {
		b.unsubscribe()
		return nil, err
	}
	h.local.bus = b
	h.local.peer = &peer{id: self.ID(), key: self.Key, xkey: self.XKey, hostKey: wire.NewKey(), bus: b, local: true,
		hosts: map[string]bool{}}
	h.members.peers[self.ID()] = h.local.peer
	return h.local.peer, nil
}

// start starts the agent and waits until it listens.
func (l *localAgent) start(agent LocalAgent, self *wire.Identity, operator string) error {
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	ready := make(chan struct{})
	failed := make(chan error, 1)
	l.done.Go(func() { failed <- agent(ctx, l.client, self, operator, func() { close(ready) }) })
	select {
	case <-ready:
		return nil
	case err := <-failed:
		cancel()
		return fmt.Errorf("cannot start the agent in this process: %w", err)
	}
}

// lastMoment is how long the agent in this process may take to end. A template that computes for hours listens to
// nobody; it ends with the process.
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
}
