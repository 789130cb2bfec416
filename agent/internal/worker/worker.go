// Package worker runs modules as other users: a resident process for each user, started when it is first needed and
// ended when it has been idle. A root agent starts them with the user's ids; another agent goes through sudo or su.
// Nothing is written to disk and no password leaves the agent but to these programs.
package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"sync"
	"time"

	"hark/agent/internal/call"
	"hark/agent/internal/peer"
	"hark/agent/wire"
	"hark/modules"
)

// Pool keeps the workers of an agent. Its fields are set before the first call and not changed; its methods are safe for
// concurrent use.
type Pool struct {
	// Argv starts a worker: this binary with the words that make it one.
	Argv []string
	// Idle is how long a worker may have nothing to do before it ends; 0 is five minutes.
	Idle time.Duration

	mu      sync.Mutex
	workers map[wire.RunAs]*process // guarded by mu
}

// Call runs a module as the user of the invocation: in this process if that is its own user.
func (p *Pool) Call(ctx context.Context, inv call.Invocation) modules.Result {
	as, err := normal(inv.Call.User)
	if err != nil {
		return modules.Result{Failed: true, Raised: true, Msg: err.Error()}
	}
	if inv.Module.Name == userModule {
		p.release(modules.Str(inv.Args["name"]), modules.Str(inv.Args["user"]))
	}
	if as.User == "" {
		return inv.InProcess(ctx)
	}
	for try := 0; ; try++ {
		w, err := p.worker(ctx, as, inv.Env.Environ)
		if err != nil {
			return modules.Result{Failed: true, Raised: true, Msg: err.Error()}
		}
		res, err := w.run(ctx, inv)
		if err == nil {
			return res
		}
		// A worker that idled out between our looking and our calling did nothing: another one will.
		if errors.Is(err, peer.ErrGone) && w.ranOut() && try == 0 {
			continue
		}
		return modules.Result{Failed: true, Msg: err.Error()}
	}
}

// userModule changes and removes users, which the system refuses while processes of theirs live.
const userModule = "ansible.builtin.user"

// release ends the workers of some users, but those that are at work.
func (p *Pool) release(names ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for as, w := range p.workers {
		if slices.Contains(names, as.User) && w.retire() {
			<-w.over
			delete(p.workers, as)
		}
	}
}

// normal drops what does not matter: nothing for the agent's own user, method and password for root.
func normal(as wire.RunAs) (wire.RunAs, error) {
	if as.User == "" {
		return wire.RunAs{}, nil
	}
	u, err := lookup(as.User)
	if err != nil {
		return as, err
	}
	if u.Uid == strconv.Itoa(os.Geteuid()) {
		return wire.RunAs{}, nil
	}
	as.User = u.Username
	if os.Geteuid() == 0 {
		return wire.RunAs{User: as.User}, nil
	}
	return as, nil
}

func lookup(name string) (*user.User, error) {
	u, err := user.Lookup(name)
	if err != nil {
		if _, numErr := strconv.Atoi(name); numErr == nil {
			u, err = user.LookupId(name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot run as %s: there is no such user on this host", name)
	}
	return u, nil
}

// worker gives the live worker of a user, or starts one.
func (p *Pool) worker(ctx context.Context, as wire.RunAs, environ []string) (*process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.workers[as]; w != nil && w.alive() {
		return w, nil
	}
	idle := p.Idle
	if idle == 0 {
		idle = 5 * time.Minute
	}
	w, err := start(ctx, p.Argv, as, environ, idle)
	if err != nil {
		return nil, err
	}
	if p.workers == nil {
		p.workers = map[wire.RunAs]*process{}
	}
	p.workers[as] = w
	return w, nil
}

// Close ends all workers and waits for them.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.workers {
		w.stop()
	}
	p.workers = nil
}
