package site

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"hark/agent/atomicfile"
	"hark/agent/guarded"
	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/controller/internal/fleet"
	"hark/controller/internal/ledger"
	"hark/controller/internal/record"
	"hark/controller/internal/roster"
	"hark/controller/internal/trust"
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

// likeItsDirectory gives a file to whom its directory belongs: root may have made it for a console that runs as another user.
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

// sources are where a console reads: this machine, and the fleet if it was given access to it.
func (c *Config) sources(ctx context.Context, local record.Store) (record.Store, func(context.Context) ([]roster.Agent, error), func(), error) {
	text, err := guarded.Read(filepath.Join(c.Dir, accessFile), guarded.Secret)
	if errors.Is(err, fs.ErrNotExist) {
		return local, nil, func() {}, nil
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("cannot read the access to the broker: %w", err)
	}
	b := &broker{c: c}
	if err := json.Unmarshal(text, &b.access); err != nil {
		return nil, nil, nil, fmt.Errorf("cannot read the access to the broker: %s: %v", filepath.Join(c.Dir, accessFile), err)
	}
	if b.reader, err = Reader(c.Dir); err != nil {
		return nil, nil, nil, err
	}
	if _, _, err := b.connected(ctx); err != nil {
		c.Log.Warn().AnErr("cause", err).Msg("the fleet is not shown until its broker can be reached")
	}
	return &fleet.Runs{Local: local, Fleet: b.records}, b.agents, b.close, nil
}

// broker is the connection to the fleet's broker, made when it is needed and not there.
type broker struct {
	c      *Config
	access trust.Access
	reader *wire.Identity

	mu     sync.Mutex
	conn   *nats.Transport // guarded by mu
	roster *roster.Roster  // guarded by mu
	store  record.Store    // guarded by mu
	tried  time.Time       // guarded by mu
	failed error           // of the last try; guarded by mu
}

// How long a try to connect may take, and how long after one that failed another is made.
const (
	dialLimit = 3 * time.Second
	dialPause = 5 * time.Second
)

// connected gives the roster and the records of the fleet.
func (b *broker) connected(ctx context.Context) (*roster.Roster, record.Store, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.conn != nil {
		return b.roster, b.store, nil
	}
	if b.failed != nil && time.Since(b.tried) < dialPause {
		return nil, nil, b.failed
	}
	b.tried = time.Now()
	if b.failed = b.dial(context.WithoutCancel(ctx)); b.failed != nil {
		b.failed = fmt.Errorf("cannot reach the broker at %s: %w", b.access.URL, b.failed)
	}
	return b.roster, b.store, b.failed
}

// dial assumes mu held.
func (b *broker) dial(ctx context.Context) error {
	conf, err := nats.TLS(b.access.CA)
	if err != nil {
		return err
	}
	t, err := nats.Dial(ctx, nats.Config{
		URL: b.access.URL, ID: b.reader.ID(), Name: "hark console " + b.c.Version, Identity: b.reader, JWT: b.access.Token, TLS: conf,
		Logger: b.c.Log, Timeout: dialLimit,
	})
	if err != nil {
		return err
	}
	l, err := ledger.New(ledger.Config{Conn: t.Conn(), Self: b.reader, Knows: b.knows, Home: b.c.Dir})
	if err != nil {
		t.Close()
		return err
	}
	b.conn, b.roster, b.store = t, roster.New(t.Conn(), nil), l.Store()
	return nil
}

// knows tells the operators that came with the access.
func (b *broker) knows(key string) bool {
	for _, known := range b.access.Operators {
		if known == key {
			return true
		}
	}
	return false
}

// records are those of the fleet.
func (b *broker) records(ctx context.Context) (record.Store, error) {
	_, store, err := b.connected(ctx)
	return store, err
}

func (b *broker) agents(ctx context.Context) ([]roster.Agent, error) {
	r, _, err := b.connected(ctx)
	if err != nil {
		return nil, err
	}
	return r.All(ctx)
}

func (b *broker) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.conn != nil {
		b.conn.Close()
	}
}
