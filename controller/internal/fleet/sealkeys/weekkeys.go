// Package sealkeys has the keys with which an operator seals what he keeps at the broker for others to read: one for
// each week, closed for each reader that he has named and signed by him, so that the broker can neither read nor
// replace it. It seals nothing itself.
package sealkeys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/fleet/streams"
)

// Config says whose keys these are and where they lie.
type Config struct {
	Conn   *nats.Conn
	Stream string
	// Subject is where an operator's key of a week lies in the stream; operator is the id of his key.
	Subject func(operator, week string) string
	// Self makes the keys with which it seals, and opens what others have closed for it.
	Self *wire.Identity
	// Readers are the public curve keys for which keys are closed, beside Self's; see SetReaders.
	Readers []string
}

// Keys are the keys of all operators in one stream. It is safe for concurrent use.
type Keys struct {
	cfg   Config
	js    jetstream.JetStream
	codec wire.Codec

	mu     sync.Mutex
	known  map[weekOf]wire.Key // guarded by mu
	looked time.Time           // when the broker was last asked whether it has Self's key; guarded by mu
}

// lookEvery is how long Own counts on it that the broker has the key: somebody may overwrite it there.
const lookEvery = time.Minute

// weekOf is a week of an operator, by the id of his key.
type weekOf struct{ operator, week string }

// New makes Keys; nothing is asked of the broker yet.
func New(cfg Config) (*Keys, error) {
	js, err := jetstream.New(cfg.Conn)
	if err != nil {
		return nil, err
	}
	return &Keys{cfg: cfg, js: js, known: map[weekOf]wire.Key{}}, nil
}

// Week returns the name of the week of a time, of ISO 8601: 2026-W47.
func Week(at time.Time) string {
	year, number := at.UTC().ISOWeek()
	return fmt.Sprintf("%d-W%02d", year, number)
}

// NotReaderError says that something is sealed for others.
type NotReaderError struct{ Operator string }

func (e *NotReaderError) Error() string {
	return fmt.Sprintf("its operator %s has not named this reader: `hark runs readers add` there does", e.Operator)
}

// Of returns the key of an operator's week. The error is a *NotReaderError if it is closed for others.
func (k *Keys) Of(ctx context.Context, operator, week string) (wire.Key, error) {
	of := weekOf{operator, week}
	key, ok := k.recall(of)
	if ok {
		return key, nil
	}
	keys, _, err := k.read(ctx, of)
	switch {
	case err != nil:
		return key, err
	case keys == nil && operator == k.cfg.Self.ID():
		return k.lost(of)
	case keys == nil:
		return key, fmt.Errorf("the broker does not have the key of week %s of operator %s", week, operator)
	case keys.Boxes[k.cfg.Self.XKey] == nil:
		return key, &NotReaderError{operator}
	}
	if key, err = k.cfg.Self.Open(keys.Boxes[k.cfg.Self.XKey], keys.From); err != nil {
		return key, err
	}
	k.learn(of, key)
	return key, nil
}

// Own returns the key with which Self seals in the week of a time. It is made once a week. If somebody has overwritten
// it at the broker, Own puts it there again.
func (k *Keys) Own(ctx context.Context, at time.Time) (wire.Key, error) {
	key, ok := k.recall(weekOf{k.cfg.Self.ID(), Week(at)})
	if ok && !k.due() {
		return key, nil
	}
	shared, err := k.Share(ctx, at)
	if ok && err != nil {
		return key, nil // readers get it the next time
	}
	return shared, err
}

// due reports whether it is time to ask the broker for the key again, and counts that as done.
func (k *Keys) due() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.looked) < lookEvery {
		return false
	}
	k.looked = time.Now()
	return true
}

// Share makes sure that the readers that are named now, and no others, are given Self's key of the week of a time,
// and gives it.
func (k *Keys) Share(ctx context.Context, at time.Time) (wire.Key, error) {
	of := weekOf{k.cfg.Self.ID(), Week(at)}
	for try := 0; ; try++ {
		key, err := k.share(ctx, of)
		if !streams.Taken(err) || try == 3 { // another process of this operator was faster
			return key, err
		}
	}
}

// ShareAll is Share for all weeks whose keys are still there: whoever was named a reader reads what was sealed
// before, too. It gives how many weeks there are.
func (k *Keys) ShareAll(ctx context.Context, at time.Time) (weeks int, err error) {
	var all []string
	mark := k.cfg.Subject(k.cfg.Self.ID(), "*")
	before, after, _ := strings.Cut(mark, "*")
	_, err = streams.Each(ctx, k.cfg.Conn, k.cfg.Stream, mark, 1, func(m streams.Message) {
		all = append(all, strings.TrimSuffix(strings.TrimPrefix(m.Subject, before), after))
	})
	if err != nil {
		return 0, fmt.Errorf("cannot read which weeks there are: %w", err)
	}
	if now := Week(at); !slices.Contains(all, now) {
		all = append(all, now)
	}
	for _, week := range all {
		of := weekOf{k.cfg.Self.ID(), week}
		err := errAgain
		for try := 0; err != nil && (try == 0 || streams.Taken(err) && try < 4); try++ {
			_, err = k.share(ctx, of)
		}
		if err != nil {
			return 0, fmt.Errorf("the key of week %s: %w", week, err)
		}
	}
	return len(all), nil
}

// errAgain begins a loop.
var errAgain = errors.New("again")

func (k *Keys) share(ctx context.Context, of weekOf) (key wire.Key, err error) {
	had, seq, err := k.read(ctx, of)
	if err != nil {
		return key, err
	}
	if had == nil {
		key, err = k.lost(of)
		if err != nil {
			return key, err
		}
	} else if key, err = k.cfg.Self.Open(had.Boxes[k.cfg.Self.XKey], had.From); err != nil {
		return key, fmt.Errorf("cannot open the key of this week: %w", err)
	}
	want := k.wanted()
	if had == nil || !same(want, had) {
		if err := k.publish(ctx, of, key, seq, want); err != nil {
			return key, err
		}
	}
	k.learn(of, key)
	return key, nil
}

// lost returns the key of a week that the broker does not have, or has no longer. Every process of the operator makes
// the same one: what was sealed with it before can still be read.
func (k *Keys) lost(of weekOf) (wire.Key, error) {
	if key, ok := k.recall(of); ok { // of a version before, which made it by chance
		return key, nil
	}
	return k.cfg.Self.OwnKey(k.cfg.Stream + " " + of.week)
}

// publish closes a key for each reader and puts it in the place of what has the sequence seq, 0 for nothing.
func (k *Keys) publish(ctx context.Context, of weekOf, key wire.Key, seq uint64, want map[string]bool) error {
	keys := wire.WeekKeys{Week: of.week, From: k.cfg.Self.XKey, Boxes: map[string][]byte{}}
	for reader := range want {
		box, err := k.cfg.Self.Close(key, reader)
		if err != nil {
			return err
		}
		keys.Boxes[reader] = box
	}
	// The week is in the header too: keepers of versions before look for it there.
	frame, err := k.codec.Pack(wire.Header{Kind: wire.KindKeys, Plan: of.week}, keys, wire.Packing{Sign: k.cfg.Self})
	if err != nil {
		return err
	}
	_, err = k.js.Publish(ctx, k.cfg.Subject(of.operator, of.week), frame, jetstream.WithExpectLastSequencePerSubject(seq))
	return err
}

// read returns what the broker has of the keys of a week, nil for nothing, and its place in the stream. Only the
// operator's own word counts. Anything else is there because somebody had the broker answer to that subject.
func (k *Keys) read(ctx context.Context, of weekOf) (*wire.WeekKeys, uint64, error) {
	m, ok, err := streams.Last(ctx, k.cfg.Conn, k.cfg.Stream, k.cfg.Subject(of.operator, of.week))
	if err != nil || !ok {
		return nil, 0, err
	}
	f, err := wire.Parse(m.Data)
	if m.Answer || err != nil || !f.Signed || wire.IDOf(f.Header.Issuer) != of.operator ||
		f.Header.Kind != wire.KindKeys {
		return nil, m.Seq, nil
	}
	var keys wire.WeekKeys
	if err := f.Body(&k.codec, "", wire.Keys{}, &keys); err != nil {
		return nil, m.Seq, err
	}
	if keys.Week != of.week { // a message of another week, which somebody had sent here
		return nil, m.Seq, nil
	}
	return &keys, m.Seq, nil
}

// wanted returns the readers of now.
func (k *Keys) wanted() map[string]bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	want := map[string]bool{k.cfg.Self.XKey: true}
	for _, reader := range k.cfg.Readers {
		want[reader] = true
	}
	return want
}

// SetReaders says who the readers are from now on, and reports whether they are others than before: then it is time
// for ShareAll.
func (k *Keys) SetReaders(readers []string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	was := k.cfg.Readers
	k.cfg.Readers = slices.Clone(readers)
	return !slices.Equal(slices.Sorted(slices.Values(was)), slices.Sorted(slices.Values(readers)))
}

// same reports whether the readers of keys are those that are wanted.
func same(want map[string]bool, keys *wire.WeekKeys) bool {
	for reader := range want {
		if keys.Boxes[reader] == nil {
			return false
		}
	}
	return len(want) == len(keys.Boxes)
}

func (k *Keys) recall(of weekOf) (wire.Key, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key, ok := k.known[of]
	return key, ok
}

func (k *Keys) learn(of weekOf, key wire.Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known[of] = key
}
