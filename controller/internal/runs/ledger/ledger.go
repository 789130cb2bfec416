// Package ledger keeps the records of runs at the broker, so that operators see each other's runs. A record goes there
// in parts, sealed for named readers, signed by its operator and chained: each part names the one before it. The broker
// cannot read a part, and altering, swapping or leaving one out is noticed. The package does not make records (package
// record does), and reads their lines only to say where a run stands.
//
//	begin <- 1 <- 2 <- ... <- n <- end        each with the digest of the one before it
//	now                                       beside them, replaced by the next
//
// If a broker keeps back the last parts of a run and its end, the run looks lost; the machine that sent them knows
// better (Sent).
package ledger

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/fleet/sealkeys"
)

// Config configures a reader or writer of a ledger.
type Config struct {
	Conn *nats.Conn
	// Self signs what is written, and opens what was sealed for it.
	Self *wire.Identity
	// Readers are the public curve keys of those who may read the records, beside Self.
	Readers []string
	// Knows reports whether an operator is known here, by public key. The names that others use are not shown.
	Knows func(key string) bool
	// Home is the directory of marks and of the list of sent records.
	Home string
	// Now is the clock; nil is time.Now.
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

// New returns the ledger behind a connection.
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
	keys, err := sealkeys.New(sealkeys.Config{Conn: cfg.Conn, Stream: StreamName, Subject: wire.RecordKeys, Self: cfg.Self,
		Readers: cfg.Readers})
	if err != nil {
		return nil, err
	}
	return &Ledger{cfg: cfg, js: js, zstd: zstd, keys: keys}, nil
}

// ShareAll seals the keys of all weeks that still exist for the present readers.
func (l *Ledger) ShareAll(ctx context.Context) error {
	_, err := l.keys.ShareAll(ctx, l.cfg.Now())
	return err
}

// Share makes sure that exactly the present readers have the key of this week's records, and returns it.
func (l *Ledger) Share(ctx context.Context) (wire.Key, error) { return l.keys.Share(ctx, l.cfg.Now()) }
