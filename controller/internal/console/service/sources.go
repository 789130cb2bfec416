package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"hark/agent/atomicfile"
	"hark/agent/securefile"
	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/controller/internal/console"
	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/fleet"
	"hark/controller/internal/fleet/factcache"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/fleet/streams"
	"hark/controller/internal/fleet/trust"
	"hark/controller/internal/runs/files"
	"hark/controller/internal/runs/ledger"
	"hark/controller/internal/runs/record"
)

// Use stores the access to a broker for the console of a directory.
func Use(dir string, a trust.Access) error {
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(dir, accessFile), append(text, '\n')); err != nil {
		return fmt.Errorf("cannot keep the access to the broker: %w", err)
	}
	return likeItsDirectory(filepath.Join(dir, accessFile))
}

// likeItsDirectory changes a file's owner to that of its directory: root may have created it for a console that runs as
// another user.
func likeItsDirectory(path string) error {
	st, err := os.Stat(filepath.Dir(path))
	if err != nil || os.Geteuid() != 0 {
		return err
	}
	owner, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return os.Lchown(path, int(owner.Uid), int(owner.Gid))
}

// ownerOf returns the user whose files the console of a directory reads: this process's, and for root that of the
// directory, which is the service's.
func ownerOf(dir string) int {
	if st, err := os.Stat(dir); err == nil && os.Geteuid() == 0 {
		if owner, ok := st.Sys().(*syscall.Stat_t); ok {
			return int(owner.Uid)
		}
	}
	return os.Geteuid()
}

// access reads the access to a broker of the console in a directory; fs.ErrNotExist if there is none.
func access(dir string) (a trust.Access, err error) {
	path := filepath.Join(dir, accessFile)
	text, err := securefile.ReadOf(path, securefile.Secret, ownerOf(dir))
	if err != nil {
		return a, fmt.Errorf("cannot read the access to the broker: %w", err)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("cannot read the access to the broker: %s: %v", path, err)
	}
	return a, nil
}

// Believe makes the console of a directory show runs and duties of one more operator, such as a keeper.
func Believe(dir, key string) error {
	if !wire.ValidKey(key) {
		return notOperator(key)
	}
	a, err := access(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("this console has no access to a broker yet: `hark console use` takes it")
	}
	if err != nil || slices.Contains(a.Operators, key) {
		return err
	}
	a.Operators = append(a.Operators, key)
	return Use(dir, a)
}

// believers returns the operators whose word the console of a directory takes, also when somebody is believed later.
func believers(dir string, operators []string) *trust.TrustedOperators {
	return trust.TrustedOperatorsOf(filepath.Join(dir, accessFile), operators, func() ([]string, error) {
		a, err := access(dir)
		return a.Operators, err
	})
}

// accessRecord is the access of the console of a directory as a store of credentials.
type accessRecord struct{ dir string }

// Token implements fleet.CredentialStore.
func (r accessRecord) Token() (string, error) {
	a, err := access(r.dir)
	return a.Token, err
}

// Renew implements fleet.CredentialStore.
func (r accessRecord) Renew(old, newer string) error {
	a, err := access(r.dir)
	if err != nil || a.Token != old {
		return err
	}
	a.Token = newer
	return Use(r.dir, a)
}

// sources fills in where a console reads: this machine, and the fleet if it has access to it.
func (c *Config) sources(ctx context.Context, to *console.Config) (done func(), err error) {
	local := &files.Store{Dir: c.Records}
	known := c.newFacts()
	to.Store, to.Facts = local, known.of
	a, err := access(c.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	b := &broker{c: c, access: a, believed: believers(c.Dir, a.Operators)}
	if b.reader, err = Reader(c.Dir); err != nil {
		return nil, err
	}
	if _, err := b.connected(ctx); err != nil {
		c.Log.Warn().AnErr("cause", err).Msg("the fleet is not shown until its broker can be reached")
	}
	to.Store = &fleet.Runs{Local: local, Fleet: b.records}
	to.Endings = b.endings
	to.Fleet, to.Duties, to.Streams, known.sync = b.agents, b.duties, b.sizes, b.facts
	return b.close, nil
}

// broker is the connection to the fleet's broker, opened when needed.
type broker struct {
	c      *Config
	access trust.Access
	reader *wire.Identity
	// believed are the trusted operators.
	believed *trust.TrustedOperators

	mu     sync.Mutex
	there  *sources             // nil before the first connection; guarded by mu
	tried  time.Time            // guarded by mu
	failed error                // of the last try; guarded by mu
	stop   func()               // ends the renewal of the credentials, nil before the first connection; guarded by mu
	token  *fleet.Credentials   // nil before the first connection; guarded by mu
	idle   map[string]time.Time // keepers that nobody runs, since when; guarded by mu
	work   sync.WaitGroup
}

// sources are what the console reads at a broker.
type sources struct {
	conn   *nats.Transport
	roster *roster.Roster
	runs   record.Store
	states *dutystate.Store
	facts  *factcache.Fleet
}

// How long an attempt to connect may take, and the pause after one that failed.
const (
	dialLimit = 3 * time.Second
	dialPause = 5 * time.Second
)

// connected returns the sources of the broker. While it is away that is an error at once: pages do not wait.
func (b *broker) connected(ctx context.Context) (*sources, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.there != nil {
		if !b.there.conn.Conn().IsConnected() {
			return nil, fmt.Errorf("the broker at %s is away", b.access.URL)
		}
		return b.there, nil
	}
	if b.failed != nil && time.Since(b.tried) < dialPause {
		return nil, b.failed
	}
	b.tried = time.Now()
	if b.there, b.failed = b.dial(context.WithoutCancel(ctx)); b.failed != nil {
		b.failed = fmt.Errorf("cannot reach the broker at %s: %w", b.access.URL, b.failed)
	}
	return b.there, b.failed
}

func (b *broker) dial(ctx context.Context) (*sources, error) {
	conf, err := nats.TLS(b.access.CA)
	if err != nil {
		return nil, err
	}
	token := fleet.NewCredentials(b.reader, b.access.Token, accessRecord{b.c.Dir})
	t, err := nats.Dial(ctx, nats.Config{
		URL: b.access.URL, ID: b.reader.ID(), Name: "hark console " +
			b.c.Version, Identity: b.reader, Token: token.Token, TLS: conf,
		Logger: b.c.Log, Timeout: dialLimit,
	})
	if err != nil {
		return nil, err
	}
	x := &sources{conn: t, roster: roster.New(t.Conn(), nil)}
	l, err := ledger.New(ledger.Config{Conn: t.Conn(), Self: b.reader, Knows: b.knows, Home: b.c.Dir})
	if err == nil {
		x.states, err = dutystate.Open(t.Conn(), b.reader, nil, b.knows)
	}
	if err == nil {
		x.facts, err = factcache.New(factcache.Config{Conn: t.Conn(), Self: b.reader, Believes: b.knows})
	}
	if err != nil {
		t.Close()
		return nil, err
	}
	x.runs = l.Store()
	b.renew(token, t)
	return x, nil
}

// renew keeps the credentials good until the console ends.
func (b *broker) renew(token *fleet.Credentials, over wire.Transport) {
	ctx, cancel := context.WithCancel(context.Background())
	b.stop, b.token = cancel, token
	b.work.Go(func() {
		token.Keep(ctx, over, func(err error) { b.c.Log.Warn().AnErr("cause", err).Msg("credentials") })
	})
}

// endings returns the access to the broker, if it is not renewed, and the broker's certificate.
func (b *broker) endings() []console.Ending {
	b.mu.Lock()
	defer b.mu.Unlock()
	token := b.access.Token
	if b.token != nil {
		token = b.token.Token()
	}
	var all []console.Ending
	if at := fleet.Ends(token); !at.IsZero() {
		all = append(all, console.Ending{What: "the console's access to the broker", At: at})
	}
	if b.there == nil {
		return all
	}
	if state, err := b.there.conn.Conn().TLSConnectionState(); err == nil && len(state.PeerCertificates) > 0 {
		all = append(all, console.Ending{What: "the broker's certificate", At: state.PeerCertificates[0].NotAfter})
	}
	return all
}

// knows reports whether an operator came with the access, or is trusted since.
func (b *broker) knows(key string) bool { return b.believed.Knows(key) }

// records returns those of the fleet.
func (b *broker) records(ctx context.Context) (record.Store, error) {
	x, err := b.connected(ctx)
	if err != nil {
		return nil, err
	}
	return x.runs, nil
}

// askLimit is how long the broker may take to answer, since a page waits for it.
const askLimit = 5 * time.Second

func (b *broker) agents(ctx context.Context) ([]roster.Agent, error) {
	x, err := b.connected(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	return x.roster.All(ctx)
}

// duties returns what keepers published. For keepers that this console does not trust it returns the command that
// changes that.
func (b *broker) duties(ctx context.Context) (console.Words, error) {
	x, err := b.connected(ctx)
	if err != nil {
		return console.Words{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	all, warnings, err := x.states.Read(ctx)
	for i := range warnings {
		warnings[i] = strings.ReplaceAll(warnings[i], "`hark key believe ", "`hark console believe ")
	}
	words := console.Words{All: all, Warnings: warnings}
	if err == nil {
		words.Idle = b.idleKeepers(ctx, x, all)
	}
	return words, err
}

// idleKeepers returns the keepers whose lock nobody has, and since when this console knows that. Of those that cannot
// be asked nothing is known.
func (b *broker) idleKeepers(ctx context.Context, x *sources, all []dutystate.Words) map[string]time.Time {
	idle := map[string]time.Time{}
	for _, w := range all {
		lock, err := dutystate.NewLock(ctx, x.conn.Conn(), wire.IDOf(w.Keeper), "")
		if err != nil {
			continue
		}
		if _, runs, err := lock.Holder(ctx); err == nil && !runs {
			idle[w.Keeper] = time.Now()
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for keeper := range idle {
		if since, known := b.idle[keeper]; known {
			idle[keeper] = since
		}
	}
	b.idle = idle
	return maps.Clone(idle)
}

// facts copies what trusted operators gathered into a cache, by the names of agents.
func (b *broker) facts(ctx context.Context, into *factcache.Cache) error {
	x, err := b.connected(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	agents, err := x.roster.All(ctx)
	if err != nil {
		return err
	}
	names := make(map[string]string, len(agents))
	for _, a := range agents {
		names[a.ID] = a.Name
	}
	_, err = x.facts.Sync(ctx, into, func(id string) (string, bool) {
		name, ok := names[id]
		return name, ok
	})
	return err
}

func (b *broker) sizes(ctx context.Context) ([]streams.Size, error) {
	x, err := b.connected(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	return streams.Sizes(ctx, x.conn.Conn(), roster.StreamName, ledger.StreamName, dutystate.StreamName,
		factcache.StreamName)
}

func (b *broker) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.there != nil {
		b.stop()
		b.work.Wait()
		b.there.conn.Close()
	}
}
