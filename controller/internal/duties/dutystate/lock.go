package dutystate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Lock is that of the keepers with one key: who has it sees to the duties. It is had for 30 s at a time.
type Lock struct {
	bucket jetstream.KeyValue
	keeper string
	holder []byte
	held   atomic.Bool
	every  time.Duration // lockRenew, but in tests

	revision uint64
}

// Held reports whether the lock is had for sure. While the broker is away it is not, though With goes on: nothing
// must begin then.
func (l *Lock) Held() bool { return l.held.Load() }

// Holder is who has a lock.
type Holder struct {
	At   time.Time `json:"at"`
	From string    `json:"from"` // machine and process
}

// NewLock returns the lock of a keeper's id. from says who asks for it, for people.
func NewLock(ctx context.Context, conn *nats.Conn, keeper, from string) (*Lock, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	bucket, err := js.KeyValue(ctx, lockBucket)
	if err != nil {
		return nil, fmt.Errorf("the broker has no locks of keepers; if it is of an older version: start one of this version: %w", err)
	}
	holder, err := json.Marshal(Holder{At: time.Now().UTC(), From: from})
	if err != nil {
		return nil, err
	}
	return &Lock{bucket: bucket, keeper: keeper, holder: holder, every: lockRenew}, nil
}

// Holder returns who has the lock, false if nobody does.
func (l *Lock) Holder(ctx context.Context) (Holder, bool, error) {
	var h Holder
	entry, err := l.bucket.Get(ctx, l.keeper)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return h, false, nil
	}
	if err != nil {
		return h, false, fmt.Errorf("cannot tell who has the lock: %w", err)
	}
	return h, json.Unmarshal(entry.Value(), &h) == nil, nil
}

// How often the lock is asked for, and said to be kept.
const (
	lockPause = 2 * time.Second
	lockRenew = 10 * time.Second
)

// With waits for the lock and calls f while it is had: the context of f ends when another has it, and then With waits
// again. A broker that is away ends nothing: when it is back the lock is taken up again, if nobody else has. waits,
// if it is not nil, is called once each time that another has it. The lock is given back when f has returned.
func (l *Lock) With(ctx context.Context, waits func(Holder), f func(context.Context) error) error {
	for {
		if err := l.take(ctx, waits); err != nil {
			if ctx.Err() != nil { // it was told to end while it waited, and leaves nothing undone
				return nil
			}
			return err
		}
		inner, cancel := context.WithCancelCause(ctx)
		kept := make(chan struct{})
		go func() {
			defer close(kept)
			l.keep(inner, cancel)
		}()
		err := f(inner)
		lost := errors.Is(context.Cause(inner), errLost)
		cancel(nil)
		<-kept
		l.held.Store(false)
		if lost && ctx.Err() == nil {
			continue
		}
		give, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer stop()
		_ = l.bucket.Delete(give, l.keeper, jetstream.LastRevision(l.revision)) // else it ends by itself
		return err
	}
}

var errLost = errors.New("another keeper with this key has the lock now")

func (l *Lock) take(ctx context.Context, waits func(Holder)) error {
	for {
		revision, err := l.bucket.Create(ctx, l.keeper, l.holder)
		if err == nil {
			l.revision = revision
			l.held.Store(true)
			return nil
		}
		if !errors.Is(err, jetstream.ErrKeyExists) && ctx.Err() == nil && !passing(err) {
			return fmt.Errorf("cannot take the lock of keepers: %w", err)
		}
		if h, is, err := l.Holder(ctx); err == nil && is && waits != nil {
			waits(h)
			waits = nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockPause):
		}
	}
}

// keep says again and again that the lock is had. When that fails for so long that another may have it, it is not
// held until the broker says again that nobody else has it; if somebody does, it is lost.
func (l *Lock) keep(ctx context.Context, lost context.CancelCauseFunc) {
	last, pause := time.Now(), l.every
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		try, cancel := context.WithTimeout(ctx, lockRenew/2)
		err := l.renew(try)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			last, pause = time.Now(), l.every
			l.held.Store(true)
		case errors.Is(err, errLost):
			l.held.Store(false)
			lost(errLost)
			return
		default:
			pause = min(lockPause, l.every)
			if time.Since(last) > 2*l.every {
				l.held.Store(false)
			}
		}
	}
}

// renew says that the lock is had. A broker that was started again has forgotten it, and one whose answer was lost
// has a later word of ours.
func (l *Lock) renew(ctx context.Context) error {
	revision, err := l.bucket.Update(ctx, l.keeper, l.holder, l.revision)
	if err != nil && !passing(err) {
		var entry jetstream.KeyValueEntry
		entry, err = l.bucket.Get(ctx, l.keeper)
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			revision, err = l.bucket.Create(ctx, l.keeper, l.holder)
			if errors.Is(err, jetstream.ErrKeyExists) {
				err = errLost
			}
		case err == nil && !bytes.Equal(entry.Value(), l.holder):
			err = errLost
		case err == nil:
			revision, err = l.bucket.Update(ctx, l.keeper, l.holder, entry.Revision())
		}
	}
	if err == nil {
		l.revision = revision
	}
	return err
}

// passing reports whether an error is that of a connection that will be back.
func passing(err error) bool {
	for _, e := range []error{context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected, nats.ErrConnectionReconnecting, jetstream.ErrNoStreamResponse} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
