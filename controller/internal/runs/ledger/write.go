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

// meta begins the body of a message of the ledger, in a line of JSON; the bytes of the record are behind it.
type meta struct {
	// Part is set in pieces of parts, Lines and Raw are the part's.
	Part  *record.PartSum `json:"part,omitempty"`
	Lines int             `json:"lines,omitempty"`
	Raw   int             `json:"raw,omitempty"`
	// Piece of Pieces, from 0; beginnings and ends are one piece.
	Piece  int `json:"piece,omitempty"`
	Pieces int `json:"pieces,omitempty"`
	// Now is set in the word on where a run stands.
	Now *now `json:"now,omitempty"`
}

// now says where a run stands that is under way.
type now struct {
	At    string        `json:"at,omitempty"` // the task
	Stage *record.Stage `json:"stage,omitempty"`
	Lines int64         `json:"lines"`
	Last  time.Time     `json:"last"`
}

// How often a run that is under way says so, and where it stands if that has changed; and after how long without a
// word it counts as lost.
const (
	sayEvery  = 20 * time.Second
	sayNews   = 3 * time.Second
	lostAfter = 90 * time.Second
)

// Push sends what a record has and the ledger does not have yet, waiting for more while the run goes on, and for the
// broker while it is away: until ctx is over. What was sent is noted in the mark, so that whoever goes on begins
// there.
func (l *Ledger) Push(ctx context.Context, parts record.Parts, m *Mark) error {
	head, data := parts.Head()
	w := &writer{Ledger: l, run: head.Run, mark: m}
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
	run   string
	mark  *Mark
	names record.Names // of the goroutine that says where the run stands

	mu     sync.Mutex
	at     now      // without the task and the stage; guarded by mu
	unread [][]byte // the parts that say those, as far as nobody has looked; guarded by mu
}

// part sends what was not sent of a part.
func (w *writer) part(ctx context.Context, p record.Part) error {
	if p.N < w.mark.Part {
		w.reached(p)
		return nil
	}
	m := meta{Part: &p.PartSum, Lines: p.Lines, Raw: p.Raw, Pieces: max((len(p.Data)+pieceSize-1)/pieceSize, 1)}
	for m.Piece = 0; m.Piece < m.Pieces; m.Piece++ {
		if p.N == w.mark.Part && m.Piece < w.mark.Piece {
			continue
		}
		piece := p.Data[m.Piece*pieceSize : min((m.Piece+1)*pieceSize, len(p.Data))]
		if err := w.put(ctx, strconv.FormatUint(w.mark.Next, 10), m, piece, keepParts); err != nil {
			return err
		}
	}
	w.reached(p)
	return nil
}

// reached notes where the run stands after a part. Which task that is nobody reads of runs that are over sooner than
// it is said.
func (w *writer) reached(p record.Part) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unread = append(w.unread, p.Data)
	w.at.Lines, w.at.Last = p.First+int64(p.Lines), w.cfg.Now()
}

// stands is where the run stands.
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

// sayNow returns where the run stands while it is under way. That this fails is no matter: it is told again.
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

// put sends one message behind the others and notes that it was sent.
func (w *writer) put(ctx context.Context, part string, m meta, data []byte, keep time.Duration) error {
	h := wire.Header{Kind: wire.KindRecord, Run: w.run, Seq: w.mark.Next, Prev: w.mark.Prev}
	subject := wire.Record(w.cfg.Self.ID(), w.run, part)
	var sent string
	err := w.persist(ctx, func(ctx context.Context) error {
		frame, err := w.seal(ctx, h, m, data)
		if err != nil {
			return err
		}
		if len(frame) > maxMessage {
			return &finalError{fmt.Errorf("the %s of its record has %d KB: more than %d KB cannot be sent", part, len(frame)>>10, maxMessage>>10)}
		}
		o := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(0)}
		if keep > 0 {
			o = append(o, jetstream.WithMsgTTL(keep))
		}
		if _, err = w.js.Publish(ctx, subject, frame, o...); streams.Taken(err) { // it was sent before, and its acknowledgement was lost
			sent, err = w.sentBefore(ctx, subject, h, m, data)
			return err
		}
		sent = wire.FrameDigest(frame)
		return err
	})
	if err != nil {
		return err
	}
	return w.mark.passed(sent, m, part == wire.RecordEnd)
}

// sentBefore is the digest of a message that is there already, which must hold the same.
func (w *writer) sentBefore(ctx context.Context, subject string, h wire.Header, m meta, data []byte) (string, error) {
	there, ok, err := streams.Last(ctx, w.cfg.Conn, StreamName, subject)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", &finalError{errors.New("the broker has a part of its record and does not show it")}
	}
	link := link{operator: w.cfg.Self.ID(), run: w.run, seq: h.Seq, prev: h.Prev}
	f, err := link.check(there.Data)
	var had meta
	var bytesHad []byte
	if err == nil {
		had, bytesHad, err = w.open(ctx, f, w.cfg.Self.ID())
	}
	if err != nil || !bytes.Equal(bytesHad, data) || had.Piece != m.Piece {
		return "", &finalError{fmt.Errorf("the broker has another record of run %s", w.run)}
	}
	return wire.FrameDigest(there.Data), nil
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
	return l.codec.PackBytes(h, body, wire.Packing{Sign: l.cfg.Self, Key: &key, Seal: wire.SealRecord, Now: func() time.Time { return at }})
}

// finalError is one that does not pass.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }
func (e *finalError) Unwrap() error { return e.err }

// How long a broker may have no stream until it counts as one that has none, and the pause before something is tried
// again.
const (
	streamLimit = 5 * time.Second
	pause       = time.Second
)

// persist calls f until it succeeds, ctx is over or the broker cannot do it. A broker that is away comes back.
func (w *writer) persist(ctx context.Context, f func(context.Context) error) error {
	for began := time.Now(); ; {
		within, cancel := context.WithTimeout(ctx, streamLimit)
		err := f(within)
		cancel()
		var final *finalError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &final):
			return err
		case errors.Is(w.cfg.Conn.LastError(), nats.ErrPermissionViolation):
			return errors.New("the broker does not permit it: it is of an older version, or this operator may only look")
		case errors.Is(err, jetstream.ErrNoStreamResponse) && time.Since(began) > streamLimit:
			return errors.New("the broker keeps no records: its registrar is of an older version, or has no room")
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}
