package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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

// Use keeps the access to a broker that the console of a directory was given.
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

// likeItsDirectory gives a file to whom its directory belongs: root may have made it for a console that runs as
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

// access reads the access to a broker that the console of a directory was given; fs.ErrNotExist if there is none.
func access(dir string) (a trust.Access, err error) {
	path := filepath.Join(dir, accessFile)
	text, err := securefile.Read(path, securefile.Secret)
	if err != nil {
		return a, fmt.Errorf("cannot read the access to the broker: %w", err)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("cannot read the access to the broker: %s: %v", path, err)
	}
	return a, nil
}

// Believe has the console of a directory show runs and duties of one more operator, such as a keeper.
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

// sources fills in where a console reads: this machine, and the fleet if it was given access to it.
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
	b := &broker{c: c, access: a, believed: trust.NewBelievers(c.Dir, a.URL, a.Operators)}
	if b.reader, err = Reader(c.Dir); err != nil {
		return nil, err
	}
	if _, err := b.connected(ctx); err != nil {
		c.Log.Warn().AnErr("cause", err).Msg("the fleet is not shown until its broker can be reached")
	}
	to.Store = &fleet.Runs{Local: local, Fleet: b.records}
	to.Fleet, to.Duties, to.Streams, known.sync = b.agents, b.duties, b.sizes, b.facts
	return b.close, nil
}

// broker is the connection to the fleet's broker, made when it is needed and not there.
type broker struct {
	c      *Config
	access trust.Access
	reader *wire.Identity
	// believed are the operators whose word counts.
	believed *trust.Believers

	mu     sync.Mutex
	there  *sources  // nil before the first connection; guarded by mu
	tried  time.Time // guarded by mu
	failed error     // of the last try; guarded by mu
}

// sources are what is read at a broker.
type sources struct {
	conn      *nats.Transport
	roster    *roster.Roster
	runs      record.Store
	standings *dutystate.Store
	facts     *factcache.Fleet
}

// How long a try to connect may take, and how long after one that failed another is made.
const (
	dialLimit = 3 * time.Second
	dialPause = 5 * time.Second
)

// connected gives what can be read at the broker. While it is away that is an error at once: pages wait for nobody.
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
	t, err := nats.Dial(ctx, nats.Config{
		URL: b.access.URL, ID: b.reader.ID(), Name: "hark console " + b.c.Version, Identity: b.reader, JWT: b.access.Token, TLS: conf,
		Logger: b.c.Log, Timeout: dialLimit,
	})
	if err != nil {
		return nil, err
	}
	x := &sources{conn: t, roster: roster.New(t.Conn(), nil)}
	l, err := ledger.New(ledger.Config{Conn: t.Conn(), Self: b.reader, Knows: b.knows, Home: b.c.Dir})
	if err == nil {
		x.standings, err = dutystate.Open(t.Conn(), b.reader, nil, b.knows)
	}
	if err == nil {
		x.facts, err = factcache.New(factcache.Config{Conn: t.Conn(), Self: b.reader, Believes: b.knows})
	}
	if err != nil {
		t.Close()
		return nil, err
	}
	x.runs = l.Store()
	return x, nil
}

// knows reports whether an operator came with the access, or is believed since.
func (b *broker) knows(key string) bool { return b.believed.Knows(key) }

// records are those of the fleet.
func (b *broker) records(ctx context.Context) (record.Store, error) {
	x, err := b.connected(ctx)
	if err != nil {
		return nil, err
	}
	return x.runs, nil
}

// askLimit is how long the broker may take to answer: a page waits for it.
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

// duties are what keepers said. Those whom this console does not believe are told with the command that changes that
// here.
func (b *broker) duties(ctx context.Context) (console.Words, error) {
	x, err := b.connected(ctx)
	if err != nil {
		return console.Words{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	all, warnings, err := x.standings.Read(ctx)
	for i := range warnings {
		warnings[i] = strings.ReplaceAll(warnings[i], "`hark key believe ", "`hark console believe ")
	}
	return console.Words{All: all, Warnings: warnings}, err
}

// facts brings what operators gathered who are believed into a book, by the names of agents.
func (b *broker) facts(ctx context.Context, into *factcache.Book) error {
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
	return streams.Sizes(ctx, x.conn.Conn(), roster.StreamName, ledger.StreamName, dutystate.StreamName, factcache.StreamName)
}

func (b *broker) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.there != nil {
		b.there.conn.Close()
	}
}
