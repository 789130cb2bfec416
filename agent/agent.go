// Package agent is the resident side. It listens for messages that trusted operators have signed, holds a session for
// each run and host, runs plans through agent/internal/runner, and makes sure that the results reach the controller.
// It reads no playbooks and does not decide how a play goes on.
//
// The same code serves in two places: in hark-agent, with a state directory, over NATS; and in the
// controller's own process for connection: local, over wire/mem.
package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"hark/agent/internal/runner"
	"hark/agent/internal/store"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/mask"
	"hark/playbook/jinja/templar"
)

// Config is what an Agent needs. Transport, Identity, Trusted and Modules are needed.
type Config struct {
	Transport wire.Transport
	// Connected, if set, receives a value after each connection to the broker: the agent says hello again and sends
	// what waits.
	Connected <-chan struct{}
	Identity  *wire.Identity
	// Name is the inventory name that this host was given. Fleet, if set, must be that of every message.
	Name, Fleet string
	Version     string
	// Trusted reports whether the owner of a public key may command this agent.
	Trusted func(key string) bool
	// Policy limits what they may do; nil is everything.
	Policy *Policy
	// Operators, if set, is the part of Trusted that operators may change.
	Operators *Operators
	// Credentials, if set, are renewed before they expire.
	Credentials Credentials
	Modules     *modules.Registry
	// State is what the agent keeps on disk; nil keeps everything in memory and files in Cache.
	State *State
	// Cache is the directory for pulled files when there is no State; "" makes one for the life of the agent.
	Cache  string
	Logger zerolog.Logger
	// Heartbeat is how often the agent says that it is there; 0 is 30 s, negative is never.
	Heartbeat time.Duration
	// Resend is how long an acknowledgement may take before events are sent again; 0 is 5 s.
	Resend time.Duration
	// Grace is how long a stopping agent waits until its last messages are acknowledged; 0 is 2 s, negative is not at
	// all.
	Grace time.Duration
	// Now is the clock, nil is time.Now.
	Now func() time.Time
	// Boot is the boot id of the host, "" asks the kernel.
	Boot string
	// Idle, if set, is called when the agent has nothing to do any more.
	Idle func()
	// Ready, if set, is called once when the agent listens.
	Ready func()
	// Greeted, if set, is called each time that the broker has the agent's hello.
	Greeted func()
	// FleetSizeChanged, if set, is called with the number of agents of the fleet when that changes.
	FleetSizeChanged func(agents int)
	// Controller says that the agent is a part of the controller: its sessions evaluate every step and ask for what
	// they need, and templates look at its files.
	Controller bool
	// Hidden has the secrets of the run whose controller that is; nil: each session knows its own.
	Hidden *mask.Masker
	// Upgrade, if set, replaces the agent's program.
	Upgrade Upgrade
	// Program, if set, is the digest of the program that runs.
	Program func() string

	// Host is how modules reach the host: as another user, as jobs. The zero value runs all in this process.
	Host Host
}

// Host has the functions that modules use to reach the host, see agent/internal/runner.
type Host struct {
	Call    runner.Caller
	Jobs    runner.Jobs
	Exec    func(environ []string) func(context.Context, modules.Command) (modules.Output, error)
	Environ func(user string) ([]string, error)
}

// State is an opened state directory. Its owner closes it after Run.
type State struct{ store *store.Store }

// OpenState opens and locks a state directory.
func OpenState(dir string) (*State, error) {
	s, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	return &State{s}, nil
}

// Identity reads the agent's keys from the directory, or makes them the first time.
func (s *State) Identity() (*wire.Identity, error) { return s.store.Identity() }

// FleetSize returns how many agents the fleet had when this one last heard of it, 0 if it never did.
func (s *State) FleetSize() int { return s.store.FleetSize() }

// Close unlocks the directory.
func (s *State) Close() error { return s.store.Close() }

// Agent serves one host. Make it with New.
type Agent struct {
	cfg     *Config
	id      string
	codec   *wire.Codec
	store   *store.Store // nil in memory
	engine  *templar.Engine
	boot    string
	life    string // names this process of the agent, see wire.Session
	started time.Time
	edits   edits

	inbox       *inbox
	gate        *policyGate
	upgrader    *upgrader
	credentials *credentialRenewal
	presence    *announcer
	files       *fileCache
	runs        *activeRuns
	calls       *delegatedCalls

	work sync.WaitGroup // sessions, orders and what serves them
	// handover knows the runs of other processes of this agent, or of this one when another has started.
	handover *handover
	resting  chan struct{} // one slot: the agent may be idle now

	mu             sync.Mutex
	closing        bool                    // nothing new is begun; guarded by mu
	reminded       time.Time               // when a ping had it say hello; guarded by mu
	ctx            context.Context         // of Run; guarded by mu
	link           context.Context         // over when the broker is reached again; guarded by mu
	relink         context.CancelFunc      // ends link; guarded by mu
	openings       map[string]*opening     // by nonce; guarded by mu
	formerSessions map[*formerSession]bool // guarded by mu
}

// New makes an agent; it does nothing before Run.
func New(cfg Config) *Agent {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Heartbeat == 0 {
		cfg.Heartbeat = 30 * time.Second
	}
	if cfg.Resend == 0 {
		cfg.Resend = 5 * time.Second
	}
	if cfg.Grace == 0 {
		cfg.Grace = 2 * time.Second
	}
	cfg.Policy = cfg.Policy.within(cfg.Operators)
	a := &Agent{
		cfg: &cfg, id: cfg.Identity.ID(), codec: &wire.Codec{}, engine: engine(cfg),
		boot: cmp.Or(cfg.Boot, bootID()), life: wire.NewNonce(), started: cfg.Now(),
		openings: map[string]*opening{}, formerSessions: map[*formerSession]bool{},
		handover: &handover{done: make(chan struct{})}, resting: make(chan struct{}, 1),
	}
	a.link, a.relink = context.WithCancel(context.Background())
	if cfg.State != nil {
		a.store = cfg.State.store
	}
	a.assemble()
	return a
}

// assemble makes the agent's parts.
func (a *Agent) assemble() {
	refused := &refusals{}
	a.inbox = &inbox{
		cfg: a.cfg, id: a.id, codec: a.codec, store: a.store, journal: &store.Journal{}, handover: a.handover,
		refused: refused,
	}
	a.files = &fileCache{dir: a.cfg.Cache}
	if a.store != nil {
		a.inbox.journal, a.files.blobs = a.store.Journal, a.store.Blobs
	}
	a.gate = &policyGate{cfg: a.cfg, refused: refused}
	a.upgrader = &upgrader{cfg: a.cfg, gate: a.gate}
	a.credentials = &credentialRenewal{cfg: a.cfg, id: a.id, codec: a.codec, busy: a.Busy}
	a.presence = &announcer{
		cfg: a.cfg, id: a.id, codec: a.codec, refused: refused, handedOver: a.handover.done,
		hello: a.hello, serve: a.serve, reconnected: a.again,
	}
	a.runs = &activeRuns{mu: &a.mu, byID: map[string]*run{}}
	a.calls = &delegatedCalls{mu: &a.mu, byID: map[delegatedCallID]*delegatedCall{}}
}

// engine compiles the templates of the agent's sessions.
func engine(cfg Config) *templar.Engine {
	if cfg.Controller {
		return templar.NewEngine()
	}
	return templar.NewRemoteEngine()
}

// Run listens until ctx is done. Then it ends the sessions, sends their last events if the controller is there, and
// returns nil. After HandOver it returns when the active runs are over. It returns an error if the broker denies a
// permission that the agent needs.
func (a *Agent) Run(ctx context.Context) error {
	inner, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	a.mu.Lock()
	a.ctx = inner
	a.mu.Unlock()
	defer a.files.remove()
	if a.store != nil { // before anything comes that may be for others
		meet(a)
	}
	subs, err := a.listen(ctx)
	defer func() {
		for _, s := range subs {
			_ = s.Unsubscribe()
		}
	}()
	if err != nil {
		return err
	}
	recoverSessions(a)
	a.presence.greet()
	a.work.Go(func() { follow(inner, a) })
	if a.cfg.Ready != nil {
		a.cfg.Ready()
	}
	var renewing sync.WaitGroup
	here, away := context.WithCancel(ctx)
	defer away()
	renewing.Go(func() { a.credentials.run(here) })
	a.presence.run(ctx)
	away()
	renewing.Wait()
	if a.handover.keepsAny() {
		playOut(ctx, a)
	}
	a.leave()
	stop(errStopping)
	a.mu.Lock()
	a.closing = true
	a.mu.Unlock()
	a.work.Wait()
	return nil
}

// errStopping is why sessions end when the agent does.
var errStopping = errors.New("the agent was stopped")

// listen subscribes to everything that is sent to this agent.
func (a *Agent) listen(ctx context.Context) ([]wire.Subscription, error) {
	var subs []wire.Subscription
	for kind, f := range map[wire.Kind]func(*letter){
		wire.KindPlan: a.handlePlan, wire.KindExec: a.handleDelegatedCall, wire.KindPing: a.handlePing,
		wire.KindCancel: a.handleCancel, wire.KindEnd: a.handleEnd, wire.KindTrust: a.handleTrust,
		wire.KindHold: a.handleHold, wire.KindClock: a.inbox.handleClock,
	} {
		take := func(m wire.Msg) { a.inbox.receive(m, kind, false, f) }
		s, err := a.cfg.Transport.Subscribe(wire.HostSubject(a.id, kind), take)
		if err != nil {
			return subs, fmt.Errorf("cannot listen for %s: %w", kind, err)
		}
		subs = append(subs, s)
	}
	if a.cfg.FleetSizeChanged != nil {
		s, err := a.cfg.Transport.Subscribe(wire.ToAll(wire.KindFleetSize), func(m wire.Msg) { a.handleFleetSize(m.Data) })
		if err != nil {
			return subs, fmt.Errorf("cannot listen for the size of the fleet: %w", err)
		}
		subs = append(subs, s)
	}
	flushCtx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := a.cfg.Transport.Flush(flushCtx); errors.Is(err, wire.ErrDenied) {
		return subs, fmt.Errorf("the broker does not let this agent listen: %w", err)
	}
	return subs, nil
}

// serve runs f for a message, unless the agent is being stopped. Goroutines that f starts count as work too.
func (a *Agent) serve(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closing {
		a.work.Go(f)
	}
}

// leave ends the sessions and lets them report it.
func (a *Agent) leave() {
	var words sync.WaitGroup
	for _, s := range a.runs.sessions() {
		words.Go(func() { s.leave(a.cfg.Grace) })
	}
	words.Wait()
}

// Alive returns at once, unless the agent hangs.
func (a *Agent) Alive() { a.runs.sessions() }

// Busy reports whether the agent has an active session or call, or is opening a session.
func (a *Agent) Busy() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(inHand(a)) > 0
}

// Playing reports whether the agent has an active session.
func (a *Agent) Playing() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.runs.playing()
}

// rest reports that the agent is idle, if it is.
func (a *Agent) rest() {
	poke(a.resting)
	if a.cfg.Idle != nil && !a.Busy() {
		a.cfg.Idle()
	}
}

func (a *Agent) hello() wire.Hello {
	h := wire.Hello{
		ID: a.id, Name: a.cfg.Name, Version: a.cfg.Version, Proto: wire.Version, OS: runtime.GOOS, Arch: runtime.GOARCH,
		Boot: a.boot, Started: a.started, XKey: a.cfg.Identity.XKey, Joint: true,
	}
	if err := trouble(a.store); err != nil {
		h.Trouble = err.Error()
	}
	h.Hold = a.held()
	h.Runs = a.handover.kept()
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, r := range a.runs.byID {
		h.Runs = append(h.Runs, id)
		if r.orphan() {
			h.Orphans = append(h.Orphans, id)
		}
	}
	return h
}

// trouble returns what keeps an agent from beginning anything, nil for nothing. Its state directory is nil in memory.
func trouble(s *store.Store) error {
	if s == nil {
		return nil
	}
	return s.Trouble()
}

// bootID returns the kernel's boot id.
func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
