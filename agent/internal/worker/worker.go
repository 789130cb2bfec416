// Package worker runs modules as other users: a resident process for each user, started on demand and ended when idle.
// A root agent starts it with the user's ids; another agent goes through sudo or su. Nothing is written to disk, and
// only these programs receive a password.
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
	"unicode"
	"unicode/utf8"

	"hark/agent/internal/call"
	"hark/agent/internal/login"
	"hark/agent/internal/peer"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/nss"
	"hark/modules/py/cwd"
	"hark/modules/py/value"
)

// Pool keeps the workers of an agent. Its fields are set before the first call and not changed. Its methods are safe
// for concurrent use.
type Pool struct {
	// Argv starts a worker: this binary, and the words that make it one.
	Argv []string
	// Idle is how long a worker may be idle before it ends; 0 is five minutes.
	Idle time.Duration
	// Patience is how long a cancelled call, or a worker that was told to end, may take before the worker is killed; 0 is
	// 30 s.
	Patience time.Duration

	mu     sync.Mutex
	places map[spot]*place // guarded by mu
}

// spot identifies a worker: by a user, and by the directories to which it is confined, a line each.
type spot struct {
	wire.RunAs
	paths string
}

// place holds the worker of one user. A worker may take long to start, which delays only calls that need this one.
type place struct {
	mu     sync.Mutex
	worker *process // nil before it is first needed; guarded by mu
	who    string   // identity of its user when it was started; guarded by mu
}

// place returns the place of a spot.
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
	switch {
	case inv.Module.Has(modules.ChangesUsers):
		p.release(modules.Str(modules.Argument(inv.Args, "name")), modules.Str(modules.Argument(inv.Args, "user")))
	case inv.Module.Runs || inv.Module.Foreign: // it may be userdel, which fails where processes of the user live
		p.release(p.mentioned(as.User, inv.Args)...)
	}
	at := spot{as, strings.Join(inv.Env.Bounds.Paths, "\n")}
	if at == (spot{}) {
		return inv.InProcess(ctx)
	}
	for try := 0; ; try++ {
		w, err := p.worker(ctx, at, inv.Env.Environ)
		if err != nil {
			var password passwordError // such an error ends a loop in Ansible; a user who can run nothing fails one item
			return modules.Result{Failed: true, Raised: errors.As(err, &password), Msg: err.Error()}
		}
		res, err := w.run(ctx, inv)
		if err == nil {
			return res
		}
		// A worker that idled out between the look and the call did nothing: another one will.
		if errors.Is(err, peer.ErrGone) && w.ranOut() && try == 0 {
			continue
		}
		return modules.Result{Failed: true, Msg: err.Error()}
	}
}

// mentioned are the users with workers whose names are words of arguments, but for the one as whom they are run.
func (p *Pool) mentioned(but string, args *value.Dict) []string {
	var names []string
	words := map[string]bool{}
	for as := range p.all() {
		if len(words) == 0 {
			for _, w := range strings.FieldsFunc(string(value.PlainJSON(args)), noName) {
				words[w] = true
			}
		}
		if as.User != but && words[as.User] {
			names = append(names, as.User)
		}
	}
	return names
}

// noName reports whether a letter stands in no user's name.
func noName(r rune) bool {
	return r < utf8.RuneSelf && !strings.ContainsRune("-_.$", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// release ends the idle workers of some users.
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

// all returns all places.
func (p *Pool) all() map[spot]*place {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.places)
}

// normal removes what does not matter: everything for the agent's own user, method and password for root.
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

// identity returns what a process has of its user from its beginning to its end. A worker whose user has changed since
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
	limits, err := login.Limits(login.PAM, u)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%+v %v %v", *u, groups, limits), nil
}

// worker returns the live worker of a user and some paths, or starts one.
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

// NewServer returns what a worker's process serves calls with. They begin in the directory in which the process was
// started; between them it stands in the root, which nobody wants to unmount.
func NewServer(m *modules.Registry) (*peer.Server, error) {
	dir, err := cwd.Get()
	if err != nil { // it was removed
		dir = "/"
	}
	if err := os.Chdir("/"); err != nil {
		return nil, fmt.Errorf("cannot change to the root directory: %w", err)
	}
	return &peer.Server{Modules: m, Dir: dir}, nil
}
