package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"hark/controller/internal/runs/record"
)

// beginsWithin is how long after its note a run has a record: one without a record by then will have none.
const beginsWithin = time.Minute

// Send sends what the ledger lacks of a noted run. While the run goes on it sends what is added. It is no error if
// another process sends or has sent the run, or if the record does not exist; it removes the note of the latter when
// nothing can follow.
func (l *Ledger) Send(ctx context.Context, from record.Store, run string) error {
	m, err := openCheckpoint(l.cfg.Home, run)
	if errors.Is(err, errBusy) || errors.Is(err, fs.ErrNotExist) { // another process sends it, or has sent it
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot send the record of run %s: %w", run, err)
	}
	if m.Ended { // and the process ended before it could record that
		return l.ended(m)
	}
	parts, err := from.Parts(ctx, run)
	var missing *record.MissingError
	if errors.As(err, &missing) {
		if m.since() < beginsWithin {
			m.release()
			return nil
		}
		return m.done()
	}
	if err == nil {
		err = l.Push(ctx, parts, m)
		err = errors.Join(err, parts.Close())
	}
	if err != nil {
		m.release()
		return fmt.Errorf("cannot send the record of run %s: %w", run, err)
	}
	if !m.Ended {
		m.release()
		return nil
	}
	return l.ended(m)
}

// ended records that a whole record was sent.
func (l *Ledger) ended(m *Checkpoint) error {
	return errors.Join(noteSent(l.cfg.Home, Sent{Run: m.Run, At: l.cfg.Now().UTC(), Digest: m.Prev,
		Operator: l.cfg.Self.ID()}), m.done())
}

// SendAll sends all noted runs; the first error ends it. It returns how many records are then not complete.
func (l *Ledger) SendAll(ctx context.Context, from record.Store) (left int, err error) {
	runs, err := Unsent(l.cfg.Home)
	if err != nil || len(runs) == 0 {
		return 0, err
	}
	for _, run := range runs {
		e, findErr := from.Find(ctx, run)
		if findErr == nil && e.State == record.Running {
			continue // its own process sends it
		}
		if err = l.Send(ctx, from, run); err != nil {
			break
		}
	}
	rest, restErr := Unsent(l.cfg.Home)
	return len(rest), errors.Join(err, restErr)
}

// Sending sends a record while it is made, and then those of earlier runs.
type Sending struct {
	cancel  context.CancelFunc
	closing chan struct{}
	ended   chan struct{}
	err     error // belongs to the goroutine until ended is closed
}

// Begin starts sending a noted run in the background. End must be called.
func (l *Ledger) Begin(from record.Store, run string) *Sending {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Sending{cancel: cancel, closing: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		s.await(ctx, from, run)
		if s.err = l.Send(ctx, from, run); s.err == nil {
			_, s.err = l.SendAll(ctx, from)
		}
	}()
	return s
}

// appearEvery is how often await looks for a record that has just begun.
const appearEvery = 50 * time.Millisecond

// await waits until the record exists, or will not.
func (s *Sending) await(ctx context.Context, from record.Store, run string) {
	for {
		_, err := from.Find(ctx, run)
		var missing *record.MissingError
		if !errors.As(err, &missing) {
			return
		}
		select {
		case <-s.closing:
			return
		case <-time.After(appearEvery):
		}
	}
}

// End waits until everything is sent, but no longer than the limit: the rest goes with the next run, or by SendAll. The
// error is why something is left, nil if there was only no time.
func (s *Sending) End(limit time.Duration) error {
	close(s.closing)
	timer := time.AfterFunc(limit, s.cancel)
	defer timer.Stop()
	<-s.ended
	s.cancel()
	if errors.Is(s.err, context.Canceled) {
		return nil
	}
	return s.err
}
