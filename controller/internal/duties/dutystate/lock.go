package dutystate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Lock is that of the keepers with one key: who has it sees to the duties. It is had for 30 s at a time.
type Lock struct {
	bucket jetstream.KeyValue
	keeper string
	holder []byte

	revision uint64
}

// Holder is who has a lock.
type Holder struct {
	At   time.Time `json:"at"`
	From string    `json:"from"` // machine and process
}

// NewLock is the lock of a keeper's id. from says who asks for it, for people.
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
	return &Lock{bucket: bucket, keeper: keeper, holder: holder}, nil
}

// Holder tells who has the lock, false if nobody does.
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

// With waits for the lock and calls f while it is had: the context of f ends when it is lost. waits, if it is not nil, is called once when another has
// it. The lock is given back when f has returned.
func (l *Lock) With(ctx context.Context, waits func(Holder), f func(context.Context) error) error {
	if err := l.take(ctx, waits); err != nil {
		return err
	}
	inner, cancel := context.WithCancelCause(ctx)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		l.keep(inner, cancel)
	}()
	err := f(inner)
	cancel(nil)
	<-kept
	give, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer stop()
	_ = l.bucket.Delete(give, l.keeper, jetstream.LastRevision(l.revision)) // else it ends by itself
	if cause := context.Cause(inner); errors.Is(cause, errLost) && err == nil {
		err = cause
	}
	return err
}

var errLost = errors.New("the lock of this keeper was lost: another keeper with its key may see to the duties now")

func (l *Lock) take(ctx context.Context, waits func(Holder)) error {
	for {
		revision, err := l.bucket.Create(ctx, l.keeper, l.holder)
		if err == nil {
			l.revision = revision
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

// keep says again and again that the lock is had. When that fails for so long that another may have it, it is lost.
func (l *Lock) keep(ctx context.Context, lost context.CancelCauseFunc) {
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(lockRenew):
		}
		try, cancel := context.WithTimeout(ctx, lockRenew/2)
		revision, err := l.bucket.Update(try, l.keeper, l.holder, l.revision)
		cancel()
		switch {
		case err == nil:
			l.revision, last = revision, time.Now()
		case ctx.Err() != nil:
			return
		case !passing(err) || time.Since(last) > lockTime-lockRenew:
			lost(errLost)
			return
		}
	}
}

// passing tells of errors of a connection that will be back.
func passing(err error) bool {
	for _, e := range []error{context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected, nats.ErrConnectionReconnecting, jetstream.ErrNoStreamResponse} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
