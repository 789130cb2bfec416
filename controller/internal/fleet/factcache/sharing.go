package factcache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/fleet/sealkeys"
	"hark/controller/internal/fleet/streams"
	"hark/controller/internal/statefile"
	"hark/modules/py/value"
)

// Version is that of entries at the broker.
const Version = 1

// entry is the body of what lies at the broker of one host.
type entry struct {
	V     int             `json:"v"`
	At    time.Time       `json:"at"` // when they were gathered
	Facts json.RawMessage `json:"facts"`
}

// Config is who looks at the facts of a fleet, or adds to them.
type Config struct {
	Conn *nats.Conn
	// Self signs what is put there, and opens what was sealed for it.
	Self *wire.Identity
	// Readers are the public curve keys of those who may read it, beside Self.
	Readers []string
	// Believes returns whose facts count, by their public keys.
	Believes func(key string) bool
}

// Fleet is the facts at one broker.
type Fleet struct {
	cfg   Config
	js    jetstream.JetStream
	codec wire.Codec
	keys  *sealkeys.Keys
}

// New makes the reader and writer of the facts behind a connection.
func New(cfg Config) (*Fleet, error) {
	js, err := jetstream.New(cfg.Conn)
	if err != nil {
		return nil, err
	}
	keys, err := sealkeys.New(sealkeys.Config{Conn: cfg.Conn, Stream: StreamName, Subject: wire.FactsKeys, Self: cfg.Self,
		Readers: cfg.Readers})
	if err != nil {
		return nil, err
	}
	return &Fleet{cfg: cfg, js: js, keys: keys}, nil
}

// ShareAll gives the readers, as they are now, the keys of all weeks that are still there.
func (f *Fleet) ShareAll(ctx context.Context) error {
	_, err := f.keys.ShareAll(ctx, time.Now())
	return err
}

// Share makes sure that the readers that are named now, and no others, are given the key of this week's facts.
func (f *Fleet) Share(ctx context.Context) error {
	_, err := f.keys.Share(ctx, time.Now())
	return err
}

// Put puts what the book has of hosts to the broker, in the place of what this operator had there of them; hosts are
// the names in the book by the ids of their agents. It is tried until ctx is over; what is not there then comes with
// the next facts of the host.
func (f *Fleet) Put(ctx context.Context, book *Cache, hosts map[string]string) error {
	now := time.Now()
	key, err := f.keys.Share(ctx, now)
	if err != nil {
		return fmt.Errorf("cannot seal facts: %w", err)
	}
	var sent []jetstream.PubAckFuture
	var errs []error
	for id, host := range hosts {
		raw, err := book.raw(host)
		if err != nil {
			continue // it was removed meanwhile
		}
		frame, err := f.codec.Pack(wire.Header{Kind: wire.KindFacts, To: id, Plan: sealkeys.Week(now)},
			entry{V: Version, At: book.at(host).UTC(), Facts: raw},
			wire.Packing{Sign: f.cfg.Self, Key: &key, Seal: wire.SealRecord})
		switch {
		case err != nil:
			errs = append(errs, err)
			continue
		case len(frame) > maxMessage:
			errs = append(errs, fmt.Errorf("the facts of %s have %d KB, more than %d cannot be shared", host, len(frame)>>10,
				maxMessage>>10))
			continue
		}
		ack, err := f.js.PublishAsync(wire.Facts(f.cfg.Self.ID(), id), frame)
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		sent = append(sent, ack)
	}
	for _, ack := range sent {
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			return errors.Join(append(errs, fmt.Errorf("cannot put facts to the broker: %w", err))...)
		case <-ctx.Done():
			return errors.Join(append(errs, fmt.Errorf("the broker does not take facts: %w", ctx.Err()))...)
		}
	}
	return errors.Join(errs...)
}

// seen is how far this operator has read the facts at a broker.
type seen struct {
	Version int       `json:"version"`
	Stream  time.Time `json:"stream"` // when it was made: another one begins again
	Next    uint64    `json:"next"`
	// Closed are the ids of operators whose facts were sealed for others.
	Closed []string `json:"closed,omitempty"`
}

// seenFile is in the directory of the book, so that who removes that begins again.
const seenFile = ".seen"

// Sync merges into the book what has come to the broker since the last time; hosts gives the name in the book of an
// agent, by its id, false for one that is not known any more. Facts of operators who are not believed, or sealed for
// others, are passed over; warnings say whose.
func (f *Fleet) Sync(ctx context.Context, book *Cache, hosts func(id string) (string, bool)) (
	warnings []string, err error) {
	path := filepath.Join(book.files.Dir, seenFile)
	var was seen
	if err := statefile.Load(path, 1, &was); err != nil {
		was = seen{} // it is read again
	}
	stream, err := f.js.Stream(ctx, StreamName)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the facts at the broker: %w", err)
	}
	if made := stream.CachedInfo().Created; !made.Equal(was.Stream) {
		was = seen{Version: 1, Stream: made}
	}
	s := &syncing{Fleet: f, book: book, hosts: hosts}
	for _, operator := range was.Closed { // he may have named this reader since
		if _, err := f.keys.Of(ctx, operator, sealkeys.Week(time.Now())); err != nil {
			s.closed = append(s.closed, operator)
			continue
		}
		if _, err := s.read(ctx, wire.Facts(operator, "*"), 1); err != nil {
			return nil, err
		}
	}
	if was.Next, err = s.read(ctx, wire.Facts("*", "*"), was.Next); err != nil {
		return nil, err
	}
	was.Closed = s.closed
	if err := os.MkdirAll(book.files.Dir, 0o755); err != nil {
		return nil, err
	}
	return s.warnings, statefile.Save(path, was)
}

// syncing is one reading.
type syncing struct {
	*Fleet
	book             *Cache
	hosts            func(id string) (string, bool)
	closed, warnings []string
}

func (s *syncing) read(ctx context.Context, filter string, from uint64) (next uint64, err error) {
	err = streams.Settle(ctx, func(ctx context.Context) error {
		next, err = streams.Each(ctx, s.cfg.Conn, StreamName, filter, from, func(m streams.Message) { s.take(ctx, m) })
		return err
	})
	if err != nil {
		return from, fmt.Errorf("cannot read the facts at the broker: %w", err)
	}
	return next, nil
}

// take merges one message.
func (s *syncing) take(ctx context.Context, m streams.Message) {
	part := strings.Split(m.Subject, ".")
	operator, id := part[2], part[3]
	name, known := s.hosts(id)
	if !known {
		return
	}
	e, err := s.open(ctx, m.Data, operator, id)
	var not *sealkeys.NotReaderError
	switch {
	case errors.As(err, &not):
		if !slices.Contains(s.closed, operator) {
			s.closed = append(s.closed, operator)
		}
	case err != nil:
		s.warn(err)
	case e.At.After(s.book.at(name)):
		v, err := value.Decode(e.Facts, value.KindUnsafe)
		facts, ok := v.(*value.Dict)
		if err != nil || !ok {
			s.warn(fmt.Errorf("the facts of %s at the broker cannot be read", name))
			return
		}
		if _, err := s.book.Merge(name, facts, e.At); err != nil {
			s.warn(err)
		}
	}
}

func (s *syncing) warn(err error) {
	if text := err.Error(); !slices.Contains(s.warnings, text) {
		s.warnings = append(s.warnings, text)
	}
}

// open checks who gathered these facts on which host, and opens them.
func (s *syncing) open(ctx context.Context, data []byte, operator, id string) (entry, error) {
	var e entry
	f, err := wire.Parse(data)
	if err != nil {
		return e, fmt.Errorf("facts of the operator %s cannot be read: %w", operator, err)
	}
	h := f.Header
	switch {
	case !f.Signed || wire.IDOf(h.Issuer) != operator || h.Kind != wire.KindFacts || h.To != id:
		return e, fmt.Errorf("at the broker lie facts that are not of the operator %s: they are passed over", operator)
	case !s.cfg.Believes(h.Issuer):
		return e, fmt.Errorf("facts of the operator %s are passed over, who is not believed here: `hark key believe %s`",
			h.Issuer, h.Issuer)
	}
	key, err := s.keys.Of(ctx, operator, h.Plan)
	if err != nil {
		return e, err
	}
	if err := f.Body(&s.codec, wire.SealRecord, wire.Keys{Record: &key}, &e); err != nil {
		return e, fmt.Errorf("facts of the operator %s cannot be opened: %w", operator, err)
	}
	if e.V > Version {
		return e, fmt.Errorf("the operator %s is newer than this hark: its facts have version %d, this reads up to %d",
			operator, e.V, Version)
	}
	if now := time.Now(); e.At.After(now) {
		e.At = now // of a clock that is wrong nothing stays new for ever
	}
	return e, nil
}
