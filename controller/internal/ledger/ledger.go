// Package ledger keeps the records of runs at the broker, so that operators see each other's runs. What is told of a run goes there in parts, sealed for
// named readers, signed by its operator and chained, each part naming the one before it: the broker can neither read a part, nor alter, swap or leave
// one out without that being seen. It does not make records (package record does), and knows of their lines only where a run stands.
//
//	begin <- 1 <- 2 <- ... <- n <- end        each with the digest of the one before it; now, which is replaced, stands beside them
//
// A broker that keeps back the last parts of a run and its end makes it look like one that was lost; whoever sent them knows better (Sent).
package ledger

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/streams"
)

// Config is who looks at a ledger, or writes to it.
type Config struct {
	Conn *nats.Conn
	// Self signs what is written, and opens what was sealed for it.
	Self *wire.Identity
	// Readers are the public curve keys of those who may read what is written, beside Self.
	Readers []string
	// Knows tells whether an operator is known here, by his public key. What others call themselves is not shown.
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

	mu   sync.Mutex
	keys map[weekOf]wire.Key // guarded by mu
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
	return &Ledger{cfg: cfg, js: js, zstd: zstd, keys: map[weekOf]wire.Key{}}, nil
}

// weekOf is a week of an operator, by the id of his key.
type weekOf struct{ operator, week string }

// week is the name of the week of a time.
func week(at time.Time) string {
	year, number := at.UTC().ISOWeek()
	return fmt.Sprintf("%d-W%02d", year, number)
}

// NotReaderError says that a record is sealed for others.
type NotReaderError struct{ Operator string }

func (e *NotReaderError) Error() string {
	return fmt.Sprintf("its operator %s has not named this reader: `hark runs readers add` there does", e.Operator)
}

// readKey is the key of an operator's records of a week.
func (l *Ledger) readKey(ctx context.Context, of weekOf) (wire.Key, error) {
	l.mu.Lock()
	key, ok := l.keys[of]
	l.mu.Unlock()
	if ok {
		return key, nil
	}
	keys, _, err := l.weekKeys(ctx, of)
	if err != nil {
		return key, err
	}
	if keys == nil {
		return key, fmt.Errorf("the broker does not have the key of week %s of operator %s", of.week, of.operator)
	}
	if keys.Boxes[l.cfg.Self.XKey] == nil {
		return key, &NotReaderError{of.operator}
	}
	if key, err = l.cfg.Self.Open(keys.Boxes[l.cfg.Self.XKey], keys.From); err != nil {
		return key, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keys[of] = key
	return key, nil
}

// weekKeys is what the broker has of the keys of a week, nil for nothing, and its place in the stream. Only the operator's own word counts.
func (l *Ledger) weekKeys(ctx context.Context, of weekOf) (*wire.WeekKeys, uint64, error) {
	m, ok, err := streams.Last(ctx, l.cfg.Conn, StreamName, wire.RecordKeys(of.operator, of.week))
	if err != nil || !ok {
		return nil, 0, err
	}
	f, err := wire.Parse(m.Data)
	var keys wire.WeekKeys
	switch {
	case err != nil:
		return nil, m.Seq, err
	case !f.Signed || wire.IDOf(f.Header.Issuer) != of.operator || f.Header.Kind != wire.KindKeys:
		return nil, m.Seq, fmt.Errorf("the keys of week %s are not signed by the operator %s", of.week, of.operator)
	}
	if err := f.Body(&l.codec, "", wire.Keys{}, &keys); err != nil {
		return nil, m.Seq, err
	}
	if keys.Week != of.week {
		return nil, m.Seq, fmt.Errorf("the keys of week %s are those of week %q", of.week, keys.Week)
	}
	return &keys, m.Seq, nil
}

// Share makes sure that the readers that are named now, and no others, are given the key of this week's records, and gives it.
func (l *Ledger) Share(ctx context.Context) (wire.Key, error) {
	of := weekOf{l.cfg.Self.ID(), week(l.cfg.Now())}
	for try := 0; ; try++ {
		key, err := l.share(ctx, of)
		if !taken(err) || try == 3 { // another process of this operator was faster
			return key, err
		}
	}
}

func (l *Ledger) share(ctx context.Context, of weekOf) (key wire.Key, err error) {
	had, seq, err := l.weekKeys(ctx, of)
	if err != nil {
		return key, err
	}
	if had == nil {
		key = wire.NewKey()
	} else if key, err = l.cfg.Self.Open(had.Boxes[l.cfg.Self.XKey], had.From); err != nil {
		return key, fmt.Errorf("cannot open the key of this week's records: %w", err)
	}
	if had == nil || !l.same(had) {
		keys := wire.WeekKeys{Week: of.week, From: l.cfg.Self.XKey, Boxes: map[string][]byte{}}
		for _, reader := range append([]string{l.cfg.Self.XKey}, l.cfg.Readers...) {
			if keys.Boxes[reader], err = l.cfg.Self.Close(key, reader); err != nil {
				return key, err
			}
		}
		frame, err := l.codec.Pack(wire.Header{Kind: wire.KindKeys}, keys, wire.Packing{Sign: l.cfg.Self, Now: l.cfg.Now})
		if err != nil {
			return key, err
		}
		if _, err = l.js.Publish(ctx, wire.RecordKeys(of.operator, of.week), frame, jetstream.WithExpectLastSequencePerSubject(seq)); err != nil {
			return key, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keys[of] = key
	return key, nil
}

// same tells whether the readers of keys are those of now.
func (l *Ledger) same(keys *wire.WeekKeys) bool {
	want := map[string]bool{l.cfg.Self.XKey: true}
	for _, reader := range l.cfg.Readers {
		want[reader] = true
	}
	for reader := range want {
		if keys.Boxes[reader] == nil {
			return false
		}
	}
	return len(want) == len(keys.Boxes)
}
