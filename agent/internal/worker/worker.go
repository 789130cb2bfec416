// Package worker runs modules as other users: a resident process for each user, started when it is first needed and
// ended when it has been idle. A root agent starts them with the user's ids; another agent goes through sudo or su.
// Nothing is written to disk and no password leaves the agent but to these programs.
package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"hark/agent/internal/call"
	"hark/agent/internal/peer"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/nss"
)

// Pool keeps the workers of an agent. Its fields are set before the first call and not changed; its methods are safe
// for concurrent use.
type Pool struct {
	// Argv starts a worker: this binary with the words that make it one.
	Argv []string
	// Idle is how long a worker may have nothing to do before it ends; 0 is five minutes.
	Idle time.Duration
	// Patience is how long a call that was cancelled may go on, or a worker that was told to end may take, before the
	// worker is killed; 0 is 30 s.
	Patience time.Duration

	mu     sync.Mutex
	places map[spot]*place // guarded by mu
}

// spot is what a worker is for: a user, and the directories to which it is confined, a line each.
type spot struct {
	wire.RunAs
	paths string
}

// place is where the worker of one user stands. A worker may take long to start, which holds up nobody but those who
// want this one.
type place struct {
	mu     sync.Mutex
	worker *process // nil before it is first needed; guarded by mu
	who    string   // what its user was when it was started; guarded by mu
}

// place is that of a user.
func (p *Pool) place(at spot) *place {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.places == nil {
		p.places = map[spot]*place{}
	}
	if p.places[at] == nil {
		p.places[at] = &place{}
	}
	return p.places[at]
}

// Call runs a module as the user of the invocation: in this process if that is its own user.
func (p *Pool) Call(ctx context.Context, inv call.Invocation) modules.Result {
	as, err := normal(inv.Call.User)
	if err != nil {
		return modules.Result{Failed: true, Msg: err.Error()}
	}
	if inv.Module.Has(modules.ChangesUsers) {
		p.release(modules.Str(modules.Argument(inv.Args, "name")), modules.Str(modules.Argument(inv.Args, "user")))
	}
	at := spot{as, strings.Join(inv.Env.Bounds.Paths, "\n")}
	if at == (spot{}) {
		return inv.InProcess(ctx)
	}
	for try := 0; ; try++ {
		w, err := p.worker(ctx, at, inv.Env.Environ)
		if err != nil {
			var password passwordError // what ends a loop in Ansible; that a user can run nothing fails an item
			return modules.Result{Failed: true, Raised: errors.As(err, &password), Msg: err.Error()}
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

// release ends the workers of some users, but those that are at work.
func (p *Pool) release(names ...string) {
	for as, at := range p.all() {
		if slices.Contains(names, as.User) {
			at.release()
		}
	}
}

func (at *place) release() {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.worker != nil && at.worker.retire() {
		at.worker.leave(at.worker.patience)
		at.worker = nil
	}
}

// all are the places that there are.
func (p *Pool) all() map[spot]*place {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.places)
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
	if u.UID == os.Geteuid() {
		return wire.RunAs{}, nil
	}
	as.User = u.Name
	if os.Geteuid() == 0 {
		return wire.RunAs{User: as.User}, nil
	}
	return as, nil
}

func lookup(name string) (*nss.User, error) {
	u, err := nss.UserNamedOrNumbered(name)
	switch {
	case errors.Is(err, nss.ErrUnknown):
		return nil, fmt.Errorf("cannot run as %s: there is no such user on this host", name)
	case err != nil:
		return nil, fmt.Errorf("cannot run as %s: %w", name, err)
	}
	return u, nil
}

// identity is what a process has of its user from its beginning to its end: a worker of a user who is another by now
// is not used again.
func identity(name string) (string, error) {
	if name == "" { // the agent's own
		return "", nil
	}
	u, err := lookup(name)
	if err != nil {
		return "", err
	}
	groups, err := u.Groups()
	if err != nil {
		return "", fmt.Errorf("cannot find the groups of %s: %w", name, err)
	}
	return fmt.Sprintf("%+v %v", *u, groups), nil
}

// worker gives the live worker of a user and some paths, or starts one.
func (p *Pool) worker(ctx context.Context, where spot, environ []string) (*process, error) {
	at := p.place(where)
	at.mu.Lock()
	defer at.mu.Unlock()
	who, err := identity(where.User)
	if err != nil {
		return nil, err
	}
	if at.worker != nil && at.worker.alive() {
		if at.who == who {
			return at.worker, nil
		}
		at.worker.takeNoMore()
	}
	at.who = who
	at.worker, err = start(ctx, p.Argv, where.RunAs, environ,
		limits{cmp.Or(p.Idle, 5*time.Minute), cmp.Or(p.Patience, 30*time.Second)})
	return at.worker, err
}

// Close ends all workers and waits for them.
func (p *Pool) Close() {
	for _, at := range p.all() {
		at.mu.Lock()
		if at.worker != nil {
			at.worker.stop()
			at.worker = nil
		}
		at.mu.Unlock()
	}
}
