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

	"hark/controller/internal/fleet/streams"
)

// Lock is that of the keepers with one key: who has it sees to the duties. It is had for 30 s at a time.
//
// NATS sends an answer to whatever subject a request names. So whoever has access to the broker can overwrite the
// entry, though not with one that says that somebody has the lock. Such an entry takes the lock from nobody: who has it
// puts its own there again. And who waits for it takes it only if it has heard of no holder for as long as a lock lasts.
type Lock struct {
	conn   *nats.Conn
	js     jetstream.JetStream
	keeper string
	holder []byte
	held   atomic.Bool
	every  time.Duration // lockRenew, but in tests
	lasts  time.Duration // lockTime, but in tests

	revision uint64
	// heard is when another holder was heard of last, in nanoseconds of Unix time.
	heard atomic.Int64
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
	if _, err := js.Stream(ctx, LockName); err != nil {
		return nil, fmt.Errorf("the broker has no locks of keepers; if it is of an older version: start one of this version: "+
			"%w", err)
	}
	holder, err := json.Marshal(Holder{At: time.Now().UTC(), From: from})
	if err != nil {
		return nil, err
	}
	return &Lock{conn: conn, js: js, keeper: keeper, holder: holder, every: lockRenew, lasts: lockTime}, nil
}

// entry is what the broker has of a lock.
type entry struct {
	seq   uint64 // 0 if it has nothing
	value []byte
	Holder
	is entryKind
}

type entryKind int

const (
	free    entryKind = iota // nobody has the lock
	taken                    // Holder has it
	foreign                  // an answer of the broker's own, from which nobody can tell who has it
)

// read returns what the broker has.
func (l *Lock) read(ctx context.Context) (entry, error) {
	m, ok, err := streams.Last(ctx, l.conn, LockName, LockSubject(l.keeper))
	if err != nil || !ok {
		return entry{}, err
	}
	e := entry{seq: m.Seq, value: m.Data}
	switch {
	case m.Answer:
		e.is = foreign
	case string(m.Data) == givenBack:
	default:
		if e.Holder, ok = holderOf(m.Data); ok {
			e.is = taken
		} else {
			e.is = foreign
		}
	}
	return e, nil
}

// givenBack is what stands in the place of a lock that somebody gave back. No answer of the broker's is like that.
const givenBack = `{"free":true}`

// holderOf decodes an entry. Of the broker's answers none has these fields.
func holderOf(text []byte) (h Holder, ok bool) {
	return h, json.Unmarshal(text, &h) == nil && h.From != ""
}

// Holder returns who has the lock, false if nobody does.
func (l *Lock) Holder(ctx context.Context) (Holder, bool, error) {
	e, err := l.read(ctx)
	switch {
	case err != nil:
		return Holder{}, false, fmt.Errorf("cannot tell who has the lock: %w", err)
	case e.is == foreign:
		return Holder{}, false, errors.New("cannot tell who has the lock: somebody has overwritten it at the broker")
	}
	return e.Holder, e.is == taken, nil
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
		l.giveBack(context.WithoutCancel(ctx))
		return err
	}
}

var errLost = errors.New("another keeper with this key has the lock now")

func (l *Lock) take(ctx context.Context, waits func(Holder)) error {
	stop, err := l.listen()
	if err != nil {
		return err
	}
	defer stop()
	for {
		e, err := l.read(ctx)
		if err == nil && l.mayTake(e) {
			if err = l.put(ctx, e.seq); streams.Taken(err) && l.unreadable(ctx) && l.silent() {
				err = l.force(ctx)
			}
			if err == nil {
				l.held.Store(true)
				return nil
			}
		}
		if err != nil && !streams.Taken(err) && ctx.Err() == nil && !passing(err) {
			return fmt.Errorf("cannot take the lock of keepers: %w", err)
		}
		if err == nil && e.is == taken && waits != nil {
			waits(e.Holder)
			waits = nil
		}
		pause := lockPause
		if streams.Taken(err) && e.is == foreign { // who overwrites it all the time does not keep it from being taken
			pause = 0
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// mayTake reports whether nobody has the lock.
func (l *Lock) mayTake(e entry) bool {
	switch e.is {
	case taken:
		l.hear()
		return false
	case foreign:
		return l.silent()
	}
	return true
}

// silent reports whether no other holder was heard of for longer than a lock lasts.
func (l *Lock) silent() bool { return time.Since(time.Unix(0, l.heard.Load())) > l.lasts+l.lasts/10 }

// unreadable reports whether the broker has nothing to read and takes nothing either: there is an answer of its own
// whose header hides it.
func (l *Lock) unreadable(ctx context.Context) bool {
	e, err := l.read(ctx)
	return err == nil && e.seq == 0
}

// force says that the lock is had, whatever the broker has.
func (l *Lock) force(ctx context.Context) error {
	ack, err := l.js.Publish(ctx, LockSubject(l.keeper), l.holder)
	if err == nil {
		l.revision = ack.Sequence
	}
	return err
}

func (l *Lock) hear() { l.heard.Store(time.Now().UnixNano()) }

// listen hears holders, also those whose entries are overwritten at once. It counts as if somebody was heard at its
// begin: only from then on is silence known to be one.
func (l *Lock) listen() (stop func(), err error) {
	l.hear()
	sub, err := l.conn.Subscribe(LockSubject(l.keeper), func(m *nats.Msg) {
		if _, ok := holderOf(m.Data); ok && len(m.Header["Nats-Sequence"]) == 0 && !bytes.Equal(m.Data, l.holder) {
			l.hear()
		}
	})
	if err != nil {
		return nil, fmt.Errorf("cannot listen for other keepers: %w", err)
	}
	return func() { _ = sub.Unsubscribe() }, nil // an error is that of the connection, which goes with it
}

// put says that the lock is had, in place of the entry with the sequence seq, 0 for none.
func (l *Lock) put(ctx context.Context, seq uint64) error {
	ack, err := l.js.Publish(ctx, LockSubject(l.keeper), l.holder, jetstream.WithExpectLastSequencePerSubject(seq))
	if err == nil {
		l.revision = ack.Sequence
	}
	return err
}

// giveBack lets others have the lock at once; else it ends by itself.
func (l *Lock) giveBack(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, 2*time.Second)
	defer stop()
	m := nats.NewMsg(LockSubject(l.keeper))
	m.Header.Set("KV-Operation", "DEL") // as keepers of versions before look for
	m.Data = []byte(givenBack)
	_, _ = l.js.PublishMsg(ctx, m, jetstream.WithExpectLastSequencePerSubject(l.revision))
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
		err := l.renew(try, time.Since(last) < l.lasts*2/3)
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

// renew says that the lock is had. A broker that was started again has forgotten it, and one whose answer was lost has
// a later word of ours. sure says that nobody else can have it: then what somebody has overwritten is overwritten in
// turn.
func (l *Lock) renew(ctx context.Context, sure bool) error {
	err := l.put(ctx, l.revision)
	if !streams.Taken(err) {
		return err
	}
	e, err := l.read(ctx)
	switch {
	case err != nil:
		return err
	case e.is == taken && !bytes.Equal(e.value, l.holder):
		return errLost
	case e.is == foreign && !sure:
		return errLost
	case e.is == foreign:
		return l.force(ctx)
	}
	if err = l.put(ctx, e.seq); !streams.Taken(err) {
		return err
	}
	switch e, read := l.read(ctx); {
	case read == nil && e.is == taken && !bytes.Equal(e.value, l.holder):
		return errLost
	case read == nil && e.is != taken && sure: // it was overwritten again, or what is there cannot be read
		return l.force(ctx)
	}
	return err
}

// passing reports whether an error is that of a connection that will be back.
func passing(err error) bool {
	for _, e := range []error{context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected,
		nats.ErrConnectionReconnecting, jetstream.ErrNoStreamResponse} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
