// Package streams makes and reads the streams that hark keeps at the broker. Reading leaves nothing behind there:
// messages are asked for in batches, by sequence, and no consumer is made, of which a stream bears a limited number,
// and which outlive a reader that is killed.
package streams

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// clusterReplicas is how many servers of a cluster keep a stream: one of them may go away.
const clusterReplicas = 3

// Manager is a connection that may make and change streams.
type Manager struct {
	Conn *nats.Conn
	// API is the subject below which JetStream answers it, "" for the usual one. Where users have permissions it is a
	// secret: see broker.Authority.
	API string
}

// JetStream returns JetStream as the manager reaches it.
func (m Manager) JetStream() (jetstream.JetStream, error) {
	if m.API == "" {
		return jetstream.New(m.Conn)
	}
	return jetstream.NewWithAPIPrefix(m.Conn, m.API)
}

// Ensure makes a stream on a broker that does not have it, and brings one that it has to cfg. What its keeper has
// changed of where and how much is kept stays. A cluster that has just been started may take until ctx is over.
func Ensure(ctx context.Context, m Manager, cfg jetstream.StreamConfig) error {
	js, err := m.JetStream()
	if err != nil {
		return err
	}
	return Settle(ctx, func(ctx context.Context) error {
		had, err := js.Stream(ctx, cfg.Name)
		switch {
		case err == nil:
			now := had.CachedInfo().Config
			cfg.Replicas, cfg.Placement = now.Replicas, now.Placement
			if now.MaxBytes > 0 {
				cfg.MaxBytes = now.MaxBytes
			}
			_, err = js.UpdateStream(ctx, cfg)
			return err
		case !errors.Is(err, jetstream.ErrStreamNotFound):
			return err
		}
		if m.Conn.ConnectedClusterName() != "" {
			cfg.Replicas = clusterReplicas
		}
		_, err = js.CreateStream(ctx, cfg)
		return err
	})
}

// noRoom is the code of JetStream's error for a stream that may become larger than what the servers have.
const noRoom = 10047

// EnsureWithin is Ensure with the first of some sizes in bytes for which the broker has room.
func EnsureWithin(ctx context.Context, m Manager, cfg jetstream.StreamConfig, sizes []int64) error {
	var err error
	for _, cfg.MaxBytes = range sizes {
		err = Ensure(ctx, m, cfg)
		var api *jetstream.APIError
		if err == nil || !errors.As(err, &api) || api.ErrorCode != noRoom {
			break
		}
	}
	return err
}

// wrongSequence is the code of JetStream's error for a subject that has another message than the expected one.
const wrongSequence = 10071

// Taken reports whether a message was refused because its subject has another message than its sender expected, or
// has one already.
func Taken(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == wrongSequence
}

// Message is one message of a stream.
type Message struct {
	Subject string
	Data    []byte
	Seq     uint64
	Time    time.Time // when the broker took it
	// Answer says that it is an answer of the broker's own, which somebody had sent to this subject. It has no Data then.
	Answer bool
}

// How much one request asks for, and how long its next message may take.
const (
	batchMessages = 1000
	batchBytes    = 8 << 20
	nextLimit     = 5 * time.Second
)

// Each calls f with every message of a stream whose subject matches filter, in the order in which they came,
// beginning with the sequence from; it gives the sequence to begin with the next time. A stream that does not exist
// has no messages. Streams must have AllowDirect.
func Each(ctx context.Context, conn *nats.Conn, stream, filter string, from uint64,
	f func(Message)) (next uint64, err error) {
	next = from
	for more := true; more && err == nil; {
		var batch []Message
		batch, next, more, err = Batch(ctx, conn, stream, filter, next)
		for _, m := range batch {
			f(m)
		}
	}
	return next, err
}

// Batch gives some messages of those that Each gives, where to go on, and whether there are more. With an error come
// those that arrived before.
func Batch(ctx context.Context, conn *nats.Conn, stream, filter string,
	from uint64) (batch []Message, next uint64, more bool, err error) {
	r := reader{conn: conn, stream: stream, filter: filter, next: max(from, 1)}
	more, err = r.batch(ctx)
	if errors.Is(err, nats.ErrNoResponders) && missing(ctx, conn, stream) {
		err = nil
	}
	return r.got, r.next, more, err
}

// Last returns the message of a subject, false if there is none.
func Last(ctx context.Context, conn *nats.Conn, stream, subject string) (last Message, ok bool, err error) {
	_, err = Each(ctx, conn, stream, subject, 1, func(m Message) { last, ok = m, true })
	return last, ok, err
}

// missing reports whether the broker answers and has no such stream.
func missing(ctx context.Context, conn *nats.Conn, stream string) bool {
	js, err := jetstream.New(conn)
	if err != nil {
		return false
	}
	_, err = js.Stream(ctx, stream)
	return errors.Is(err, jetstream.ErrStreamNotFound)
}

type reader struct {
	conn           *nats.Conn
	stream, filter string
	next           uint64
	before         string // the sequence of the message before this one in the batch, "" if nobody can tell
	got            []Message
}

// batch asks for a batch and takes it. It reports whether there is more.
func (r *reader) batch(ctx context.Context) (more bool, err error) {
	ask, err := json.Marshal(map[string]any{"seq": r.next, "next_by_subj": r.filter, "batch": batchMessages,
		"max_bytes": batchBytes})
	if err != nil {
		return false, err
	}
	inbox := r.conn.NewInbox()
	sub, err := r.conn.SubscribeSync(inbox)
	if err != nil {
		return false, err
	}
	defer func() { _ = sub.Unsubscribe() }()             // an error is that of the connection, which goes with it
	if err := sub.SetPendingLimits(-1, -1); err != nil { // a batch is bounded
		return false, err
	}
	if err := r.conn.PublishRequest("$JS.API.DIRECT.GET."+r.stream, inbox, ask); err != nil {
		return false, err
	}
	for r.before = "0"; ; {
		m, err := nextOf(ctx, sub)
		if errors.Is(err, context.DeadlineExceeded) && errors.Is(r.conn.LastError(), nats.ErrPermissionViolation) {
			return false, errors.New("it does not permit this; if the broker is of an older version: start one of this " +
				"version, or print `hark broker config` again")
		}
		if err != nil {
			return false, err
		}
		if altered(m) {
			r.before = ""
			continue
		}
		if m.Header.Get(subjectHeader) != "" {
			if err := r.take(m); err != nil {
				return false, err
			}
			continue
		}
		switch status := m.Header.Get(statusHeader); status {
		case "":
			return false, errors.New("the broker gives no batches of messages: it needs to be NATS 2.11 or newer")
		case "204": // the end of the batch
			if last, err := strconv.ParseUint(m.Header.Get(lastHeader), 10, 64); err == nil {
				r.next = max(r.next, last+1) // the last messages may have been altered ones
			}
			return m.Header.Get(pendingHeader) != "0", nil
		case "404":
			return false, nil
		case "503":
			return false, nats.ErrNoResponders
		default:
			return false, fmt.Errorf("the broker answers %s %s", status, m.Header.Get(descriptionHeader))
		}
	}
}

func nextOf(ctx context.Context, sub *nats.Subscription) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, nextLimit)
	defer cancel()
	return sub.NextMsgWithContext(ctx)
}

// take takes a message. Every message names the one before it in its batch: of those that were sent while the
// connection was lost, some are missing.
func (r *reader) take(m *nats.Msg) error {
	seq, err := strconv.ParseUint(last(m, sequenceHeader), 10, 64)
	if err != nil || last(m, pendingHeader) == "" {
		return errors.New("the broker gives no batches of messages: it needs to be NATS 2.11 or newer")
	}
	if r.before != "" && last(m, lastHeader) != r.before {
		return nats.ErrDisconnected
	}
	r.before = last(m, sequenceHeader)
	at, err := time.Parse(time.RFC3339Nano, last(m, timeHeader))
	if err != nil {
		return fmt.Errorf("the broker sent a time that is not valid: %w", err)
	}
	r.next = seq + 1
	got := Message{Subject: last(m, subjectHeader), Data: m.Data, Seq: seq, Time: at, Answer: answers(m)}
	if got.Answer {
		got.Data = nil
	}
	r.got = append(r.got, got)
	return nil
}
