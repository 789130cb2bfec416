// Package ledger keeps the records of runs at the broker, so that operators see each other's runs. What is told of a
// run goes there in parts, sealed for named readers, signed by its operator and chained, each part naming the one
// before it: the broker can neither read a part, nor alter, swap or leave one out without that being seen. It does
// not make records (package record does), and knows of their lines only where a run stands.
//
//	begin <- 1 <- 2 <- ... <- n <- end        each with the digest of the one before it; now, which is replaced, stands beside them
//
// A broker that keeps back the last parts of a run and its end makes it look like one that was lost; whoever sent
// them knows better (Sent).
package ledger

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/fleet/sealkeys"
)

// Config is who looks at a ledger, or writes to it.
type Config struct {
	Conn *nats.Conn
	// Self signs what is written, and opens what was sealed for it.
	Self *wire.Identity
	// Readers are the public curve keys of those who may read what is written, beside Self.
	Readers []string
	// Knows reports whether an operator is known here, by his public key. What others call themselves is not shown.
	Knows func(key string) bool
	// Home is the directory in which is noted what was not sent yet and what was.
	Home string
	// Now is the clock, nil is time.Now.
	Now func() time.Time
}

// Ledger is the ledger at one broker. It is safe for concurrent use.
type Ledger struct {
	cfg   Config
	js    jetstream.JetStream
	codec wire.Codec
	zstd  unpacker
	keys  *sealkeys.Keys
}

// New makes the reader and writer of the ledger behind a connection.
func New(cfg Config) (*Ledger, error) {
	js, err := jetstream.New(cfg.Conn)
	if err != nil {
		return nil, err
	}
	zstd, err := newUnpacker()
	if err != nil {
		return nil, err
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	keys, err := sealkeys.New(sealkeys.Config{Conn: cfg.Conn, Stream: StreamName, Subject: wire.RecordKeys, Self: cfg.Self, Readers: cfg.Readers})
	if err != nil {
		return nil, err
	}
	return &Ledger{cfg: cfg, js: js, zstd: zstd, keys: keys}, nil
}

// ShareAll gives the readers, as they are now, the keys of all weeks that are still there.
func (l *Ledger) ShareAll(ctx context.Context) error {
	_, err := l.keys.ShareAll(ctx, l.cfg.Now())
	return err
}

// Share makes sure that the readers that are named now, and no others, are given the key of this week's records, and
// gives it.
func (l *Ledger) Share(ctx context.Context) (wire.Key, error) { return l.keys.Share(ctx, l.cfg.Now()) }
