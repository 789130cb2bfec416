package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/fleet/streams"
	"hark/controller/internal/runs/record"
)

// pieceSize is how many bytes of a part go into one message.
const pieceSize = 700 << 10

// meta is the first line of a message's body, as JSON; the bytes of the record follow it.
type meta struct {
	// Part is set in pieces of parts. Lines and Raw are the part's.
	Part  *record.PartSum `json:"part,omitempty"`
	Lines int             `json:"lines,omitempty"`
	Raw   int             `json:"raw,omitempty"`
	// Piece of Pieces, from 0. Beginnings and ends are one piece.
	Piece  int `json:"piece,omitempty"`
	Pieces int `json:"pieces,omitempty"`
	// Now is set in messages about where a run stands.
	Now *now `json:"now,omitempty"`
}

// now says where a running run stands.
type now struct {
	At    string        `json:"at,omitempty"` // the task
	Stage *record.Stage `json:"stage,omitempty"`
	Lines int64         `json:"lines"`
	Last  time.Time     `json:"last"`
}

// How often a running run reports, and reports a change of its position; and the silence after which it counts as lost.
const (
	sayEvery  = 20 * time.Second
	sayNews   = 3 * time.Second
	lostAfter = 90 * time.Second
)

// Push sends what a record has and the ledger lacks, until ctx is done. It waits for more while the run goes on, and
// for the broker while it is away. The mark records what was sent, so that another call goes on there.
func (l *Ledger) Push(ctx context.Context, parts record.Parts, m *Checkpoint) error {
	head, data := parts.Head()
	w := &writer{Ledger: l, run: head.Run, checkpoint: m}
	if m.Next == 0 {
		if err := w.put(ctx, wire.RecordBegin, meta{}, data, 0); err != nil {
			return err
		}
	}
	var telling sync.WaitGroup
	saying, hush := context.WithCancel(ctx)
	telling.Go(func() { w.sayNow(saying) })
	defer telling.Wait()
	defer hush()
	for {
		p, err := parts.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = w.part(ctx, p)
		}
		if err != nil {
			return err
		}
	}
	foot, data := parts.Foot()
	if foot == nil { // it was lost, and whoever collects it will end it
		return nil
	}
	return w.put(ctx, wire.RecordEnd, meta{}, data, 0)
}

// writer writes the record of one run.
type writer struct {
	*Ledger
	run        string
	checkpoint *Checkpoint
	names      record.Names // of the goroutine that reports the position

	mu     sync.Mutex
	at     now      // without the task and the stage; guarded by mu
	unread [][]byte // parts that define those, not yet read; guarded by mu
}

// part sends the rest of a part.
func (w *writer) part(ctx context.Context, p record.Part) error {
	if p.N < w.checkpoint.Part {
		w.reached(p)
		return nil
	}
	m := meta{Part: &p.PartSum, Lines: p.Lines, Raw: p.Raw, Pieces: max((len(p.Data)+pieceSize-1)/pieceSize, 1)}
	for m.Piece = 0; m.Piece < m.Pieces; m.Piece++ {
		if p.N == w.checkpoint.Part && m.Piece < w.checkpoint.Piece {
			continue
		}
		piece := p.Data[m.Piece*pieceSize : min((m.Piece+1)*pieceSize, len(p.Data))]
		if err := w.put(ctx, strconv.FormatUint(w.checkpoint.Next, 10), m, piece, keepParts); err != nil {
			return err
		}
	}
	w.reached(p)
	return nil
}

// reached records the position after a part. It does not read the task, since many runs end before the next report.
func (w *writer) reached(p record.Part) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unread = append(w.unread, p.Data)
	w.at.Lines, w.at.Last = p.First+int64(p.Lines), w.cfg.Now()
}

// stands returns where the run stands.
func (w *writer) stands() now {
	w.mu.Lock()
	at, unread := w.at, w.unread
	w.unread = nil
	w.mu.Unlock()
	for _, data := range unread {
		w.zstd.learn(&w.names, data)
	}
	at.At, at.Stage = w.names.Stand()
	return at
}

// sayNow publishes where the run stands. An error does not matter: the next report follows.
func (w *writer) sayNow(ctx context.Context) {
	said, last := "", time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(sayNews):
		}
		at := w.stands()
		if at.At == said && time.Since(last) < sayEvery {
			continue
		}
		said, last = at.At, time.Now()
		frame, err := w.seal(ctx, wire.Header{Kind: wire.KindRecord, Run: w.run}, meta{Now: &at}, nil)
		if err == nil {
			_, _ = w.js.Publish(ctx, wire.Record(w.cfg.Self.ID(), w.run, wire.RecordNow), frame, jetstream.WithMsgTTL(keepParts))
		}
	}
}

// put sends one message behind the others and records that.
func (w *writer) put(ctx context.Context, part string, m meta, data []byte, keep time.Duration) error {
	h := wire.Header{Kind: wire.KindRecord, Run: w.run, Seq: w.checkpoint.Next, Prev: w.checkpoint.Prev}
	subject := wire.Record(w.cfg.Self.ID(), w.run, part)
	var sent string
	err := w.persist(ctx, func(ctx context.Context) error {
		frame, err := w.seal(ctx, h, m, data)
		if err != nil {
			return err
		}
		if len(frame) > maxMessage {
			return &finalError{fmt.Errorf("the %s of its record has %d KB: more than %d KB cannot be sent", part, len(frame)>>10,
				maxMessage>>10)}
		}
		sent = wire.FrameDigest(frame)
		var at uint64 // the message whose place it takes
		for range mostForeign {
			o := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(at)}
			if keep > 0 {
				o = append(o, jetstream.WithMsgTTL(keep))
			}
			if _, err = w.js.Publish(ctx, subject, frame, o...); !streams.Taken(err) {
				return err
			}
			var had string
			had, at, err = w.sentBefore(ctx, subject, h, m, data)
			if err != nil || at == 0 { // it was sent before, and its acknowledgement was lost
				sent = had
				return err
			}
		}
		return errors.New("somebody overwrites the record at the broker again and again")
	})
	if err != nil {
		return err
	}
	return w.checkpoint.passed(sent, m, part == wire.RecordEnd)
}

// mostForeign is how often in a row a part takes the place of what somebody has the broker put there.
const mostForeign = 20

// sentBefore returns the digest of a message that exists already and must have the same content. Whoever knows the run,
// such as its hosts, can have the broker answer to that subject. Then it returns the sequence of that, which counts for
// nothing.
func (w *writer) sentBefore(ctx context.Context, subject string, h wire.Header, m meta,
	data []byte) (digest string, foreign uint64, err error) {
	there, ok, err := streams.Last(ctx, w.cfg.Conn, StreamName, subject)
	if err != nil {
		return "", 0, err
	}
	if !ok {
		return "", 0, &finalError{errors.New("the broker has a part of its record and does not show it")}
	}
	if frame, err := wire.Parse(there.Data); there.Answer || err != nil || !frame.Signed ||
		wire.IDOf(frame.Header.Issuer) != w.cfg.Self.ID() {
		return "", there.Seq, nil
	}
	link := link{operator: w.cfg.Self.ID(), run: w.run, seq: h.Seq, prev: h.Prev}
	f, err := link.check(there.Data)
	var had meta
	var bytesHad []byte
	if err == nil {
		had, bytesHad, err = w.open(ctx, f, w.cfg.Self.ID())
	}
	if err != nil || !bytes.Equal(bytesHad, data) || had.Piece != m.Piece {
		return "", 0, &finalError{fmt.Errorf("the broker has another record of run %s", w.run)}
	}
	return wire.FrameDigest(there.Data), 0, nil
}

// seal makes a message that readers of this week can open.
func (l *Ledger) seal(ctx context.Context, h wire.Header, m meta, data []byte) ([]byte, error) {
	at := l.cfg.Now()
	key, err := l.keys.Own(ctx, at)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	body = append(append(body, '\n'), data...)
	return l.codec.PackBytes(h, body, wire.Packing{Sign: l.cfg.Self, Key: &key, Seal: wire.SealRecord,
		Now: func() time.Time { return at }})
}

// finalError is an error that repeating does not cure.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }
func (e *finalError) Unwrap() error { return e.err }

// How long a broker may lack the stream until it counts as one without, and the pause between attempts.
const (
	streamLimit = 5 * time.Second
	pause       = time.Second
)

// mostUnanswered is how often in a row a broker that is there may leave a part unanswered: a store of NATS that could
// not write once answers nothing any more.
const mostUnanswered = 4

// refusedFor is for how long a broker may refuse a part, as servers do that elect a leader.
const refusedFor = 20 * time.Second

// errTakesNothing says that a broker answers nothing to what it should store.
var errTakesNothing = errors.New("the broker is there and takes no records: its disk is full, or its store failed " +
	"when it was; servers of your own have to be restarted then, once there is room")

// Try reports why the broker takes no records, nil if it does. What it writes for that is gone after a second.
func (l *Ledger) Try(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, streamLimit)
	defer cancel()
	subject := wire.Record(l.cfg.Self.ID(), "try-"+wire.NewNonce(), wire.RecordNow)
	_, err := l.js.Publish(ctx, subject, nil, jetstream.WithMsgTTL(time.Second))
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return errTakesNothing
	case errors.Is(err, jetstream.ErrNoStreamResponse):
		return errors.New("the broker keeps no records: its registrar is of an older version, or has no room")
	case err != nil:
		return fmt.Errorf("the broker takes no records: %w", err)
	}
	return nil
}

// persist calls f until it succeeds, ctx is done or the broker cannot do it. It waits for a broker that is away.
func (w *writer) persist(ctx context.Context, f func(context.Context) error) error {
	unanswered := 0
	var refused time.Time // since when
	for began := time.Now(); ; {
		within, cancel := context.WithTimeout(ctx, streamLimit)
		err := f(within)
		cancel()
		var final *finalError
		var api *jetstream.APIError
		if !errors.As(err, &api) {
			refused = time.Time{}
		} else if refused.IsZero() {
			refused = time.Now()
		}
		switch {
		case err == nil:
			return nil
		case !refused.IsZero() && time.Since(refused) > refusedFor:
			return fmt.Errorf("the broker takes no records: %w", err)
		case errors.As(err, &final):
			return err
		case errors.Is(w.cfg.Conn.LastError(), nats.ErrPermissionViolation):
			return errors.New("the broker does not permit it: it is of an older version, or this operator may only look")
		case errors.Is(err, jetstream.ErrNoStreamResponse) && time.Since(began) > streamLimit:
			return errors.New("the broker keeps no records: its registrar is of an older version, or has no room")
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && w.cfg.Conn.IsConnected():
			if unanswered++; unanswered >= mostUnanswered {
				return errTakesNothing
			}
		default:
			unanswered = 0
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}
