package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go"

	"hark/agent/wire"
	"hark/controller/internal/fleet/streams"
	"hark/controller/internal/runs/record"
)

// follower reads the messages of a run in order, and checks the chain.
type follower struct {
	*store
	found *found
	wait  bool // for more while the run goes on
	seq   uint64
	at    link
	batch []streams.Message
	heard time.Time // of the last message, by the broker's clock
	stir  *nats.Subscription
	woken chan struct{}
	ended bool
}

// lookEvery is how often a waiting reader looks for more if the broker does not announce anything.
const lookEvery = 5 * time.Second

// follow starts reading a run.
func (s *store) follow(f *found, wait bool) (*follower, error) {
	r := &follower{store: s, found: f, wait: wait, seq: f.begin.Seq, at: link{operator: f.operator, run: f.run},
		heard: f.last, woken: make(chan struct{}, 1)}
	if !wait || f.end != nil {
		return r, nil
	}
	var err error
	r.stir, err = s.cfg.Conn.Subscribe(wire.Record(f.operator, f.run, "*"), func(*nats.Msg) {
		select {
		case r.woken <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return nil, fmt.Errorf("cannot follow run %s: %w", f.run, err)
	}
	return r, nil
}

// errLost says that a run without an end no longer reports anything.
var errLost = errors.New("the run was lost")

// next returns the next message with its content. After the end, and without wait while the run goes on, the error is
// io.EOF.
func (r *follower) next(ctx context.Context) (m meta, data []byte, end bool, err error) {
	for {
		for len(r.batch) > 0 {
			message := r.batch[0]
			r.batch = r.batch[1:]
			_, part := placeOf(message.Subject)
			r.heard = message.Time
			if part == wire.RecordNow {
				continue
			}
			frame, err := r.at.check(message.Data)
			if err != nil {
				return m, nil, false, err
			}
			r.at = r.at.next(message.Data)
			r.ended = part == wire.RecordEnd
			m, data, err = r.open(ctx, frame, r.found.operator)
			if err != nil {
				err = fmt.Errorf("run %s: %w", r.found.run, err)
			}
			return m, data, r.ended, err
		}
		if r.ended {
			return m, nil, false, io.EOF
		}
		if err := r.more(ctx); err != nil {
			return m, nil, false, err
		}
	}
}

// more reads what there is, and waits for it if need be.
func (r *follower) more(ctx context.Context) error {
	for {
		err := streams.Settle(ctx, func(ctx context.Context) (err error) {
			r.batch, r.seq, _, err = streams.Batch(ctx, r.cfg.Conn, StreamName, wire.Record(r.found.operator, r.found.run, "*"),
				r.seq)
			return err
		})
		if err != nil {
			return fmt.Errorf("cannot read the records at the broker: %w", err)
		}
		if len(r.batch) > 0 {
			return nil
		}
		clock, err := r.clock(ctx)
		switch {
		case err != nil:
			return err
		case clock.Sub(r.heard) > lostAfter:
			return errLost
		case !r.wait:
			return io.EOF
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.woken:
		case <-time.After(lookEvery):
		}
	}
}

func (r *follower) close() error {
	if r.stir == nil {
		return nil
	}
	return r.stir.Unsubscribe()
}

// Open implements record.Store. The error is a *TamperedError if the chain of the record is broken.
func (s *store) Open(ctx context.Context, run string, o record.Opening) (record.Lines, error) {
	r, head, err := s.begin(ctx, run, o.Follow)
	if err != nil {
		return nil, err
	}
	return &lines{follower: r, o: o, head: head}, nil
}

// begin finds a run and starts reading it.
func (s *store) begin(ctx context.Context, run string, wait bool) (*follower, *record.Head, error) {
	f, err := s.only(ctx, run)
	if err != nil {
		return nil, nil, err
	}
	clock, err := s.clock(ctx)
	if err != nil {
		return nil, nil, err
	}
	e, err := s.entry(ctx, f, clock)
	if err != nil {
		return nil, nil, err
	}
	if !e.Body {
		return nil, nil, fmt.Errorf("of run %s only the beginning and the end are kept: the broker keeps the lines "+
			"between them for %d days", run, keepParts/(24*time.Hour))
	}
	r, err := s.follow(f, wait)
	return r, &e.Head, err
}

// lines implements record.Lines.
type lines struct {
	*follower
	o     record.Opening
	head  *record.Head
	piece []byte // of the current part, until it is complete
	rest  [][]byte
	quiet bool // only lines that define numbers are wanted of the current part
	stand record.Place
}

// Next implements record.Lines.
func (r *lines) Next(ctx context.Context) (record.Line, error) {
	for {
		for len(r.rest) > 0 {
			text := r.rest[0]
			r.rest = r.rest[1:]
			if r.o.Bad && r.stand.Fine(text) {
				continue
			}
			l, err := r.line(text)
			if err != nil {
				return l, fmt.Errorf("run %s: %w", r.found.run, err)
			}
			if !r.quiet && l.N >= r.o.From || l.Gives() {
				return l, nil
			}
		}
		m, data, _, err := r.next(ctx)
		switch {
		case errors.Is(err, errLost):
			return record.Line{}, &record.LostError{Run: r.found.run, Last: r.stand.Last, At: r.stand.Names.At()}
		case err != nil:
			return record.Line{}, err
		}
		r.piece = append(r.piece, data...)
		if m.Piece+1 < m.Pieces {
			continue
		}
		r.quiet = r.o.Bad && m.Part != nil && m.Part.Bad == 0
		if r.rest, err = r.zstd.lines(r.piece); err != nil {
			return record.Line{}, err
		}
		r.piece = nil
	}
}

func (r *lines) line(text []byte) (record.Line, error) {
	l, err := r.stand.Line(text)
	if l.Kind == record.KindHead {
		l.Head = r.head // as far as it is trusted
	}
	return l, err
}

// Close implements record.Lines.
func (r *lines) Close() error { return r.close() }

// Parts implements record.Store.
func (s *store) Parts(ctx context.Context, run string) (record.Parts, error) {
	r, head, err := s.begin(ctx, run, true)
	if err != nil {
		return nil, err
	}
	p := &parts{follower: r, head: head}
	if _, p.headData, _, err = r.next(ctx); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return p, nil
}

// parts implements record.Parts.
type parts struct {
	*follower
	head     *record.Head
	headData []byte
	foot     *record.Foot
	footData []byte
}

// Head implements record.Parts.
func (p *parts) Head() (record.Head, []byte) { return *p.head, p.headData }

// Foot implements record.Parts.
func (p *parts) Foot() (*record.Foot, []byte) { return p.foot, p.footData }

// Next implements record.Parts.
func (p *parts) Next(ctx context.Context) (record.Part, error) {
	var whole []byte
	for {
		m, data, end, err := p.next(ctx)
		switch {
		case errors.Is(err, errLost):
			return record.Part{}, io.EOF
		case err != nil:
			return record.Part{}, err
		case end:
			l, err := p.zstd.line(data)
			if err == nil {
				p.foot, p.footData, err = l.Foot, data, io.EOF
			}
			return record.Part{}, err
		case m.Part == nil:
			return record.Part{}, &TamperedError{p.found.run, "a part of it is something else"}
		}
		whole = append(whole, data...)
		if m.Piece+1 >= m.Pieces {
			return record.Part{PartSum: *m.Part, Lines: m.Lines, Raw: m.Raw, Data: whole}, nil
		}
	}
}

// Close implements record.Parts.
func (p *parts) Close() error { return p.close() }
