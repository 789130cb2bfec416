package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"hark/controller/internal/ledger"
	"hark/controller/internal/record"
	"hark/controller/internal/trust"
)

// Believes tells whether this operator takes another's word, by his public key; his own he does.
func (b *Connection) Believes(key string) bool { return slices.Contains(b.believed, key) }

// Ledger is the ledger at the broker, as this operator reads and writes it; home is the directory of his files.
func (b *Connection) Ledger(home string) (*ledger.Ledger, error) {
	readers, err := b.Readers(home)
	if err != nil {
		return nil, err
	}
	return ledger.New(ledger.Config{Conn: b.Conn(), Self: b.Operator, Knows: b.Believes, Home: home, Readers: readers})
}

// Readers are the public curve keys of those who may read what this operator keeps at the broker; home is the directory of his files.
func (b *Connection) Readers(home string) ([]string, error) {
	readers, err := trust.Readers(home)
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, r := range append(readers, b.Access.Readers...) {
		keys = append(keys, r.Key)
	}
	return keys, nil
}

// Runs are the runs of this machine and, where there is a broker, of the fleet. The broker is asked only for what this machine does not have. Close it.
type Runs struct {
	Local record.Store
	// Dial connects to the broker. ErrNoBroker says that there is none.
	Dial func(context.Context) (*Connection, error)
	// Home is the directory of the operator's files.
	Home string

	once  sync.Once
	conn  *Connection
	store record.Store // of the fleet
	err   error
}

// fleet is the store at the broker, nil if no broker is known.
func (r *Runs) fleet(ctx context.Context) (record.Store, error) {
	r.once.Do(func() {
		if r.conn, r.err = r.Dial(ctx); r.err != nil {
			return
		}
		var l *ledger.Ledger
		if l, r.err = r.conn.Ledger(r.Home); r.err == nil {
			r.store = l.Store()
		}
	})
	if errors.Is(r.err, ErrNoBroker) {
		return nil, nil
	}
	return r.store, r.err
}

// Close ends the connection, if there is one.
func (r *Runs) Close() error {
	if r.conn == nil {
		return nil
	}
	return r.conn.Close()
}

// List implements record.Store. That the fleet cannot be asked is a warning.
func (r *Runs) List(ctx context.Context, f record.Filter) (record.Listing, error) {
	out, err := r.Local.List(ctx, f)
	if err != nil {
		return out, err
	}
	fleet, err := r.fleet(ctx)
	var others record.Listing
	if err == nil && fleet != nil {
		others, err = fleet.List(ctx, f)
	}
	if err != nil {
		out.Warnings = append(out.Warnings, fmt.Sprintf("runs of other machines are not shown: %v", err))
		return out, nil
	}
	out.Warnings = append(out.Warnings, others.Warnings...)
	here := map[string]bool{}
	for _, e := range out.Entries {
		here[e.Head.Run] = true
	}
	for _, e := range others.Entries {
		if here[e.Head.Run] {
			continue // what this machine has it knows better
		}
		if _, err := r.Local.Find(ctx, e.Head.Run); err != nil {
			out.Entries = append(out.Entries, e)
		}
	}
	slices.SortStableFunc(out.Entries, func(a, b record.Entry) int { return b.Head.At.Compare(a.Head.At) })
	if f.Limit > 0 && len(out.Entries) > f.Limit {
		out.Entries = out.Entries[:f.Limit]
	}
	return out, nil
}

// at is the store that has a run. Of one whose lines are gone here the fleet is asked.
func (r *Runs) at(ctx context.Context, run string) (record.Store, error) {
	e, err := r.Local.Find(ctx, run)
	var missing *record.MissingError
	if err == nil && e.Body || err != nil && !errors.As(err, &missing) {
		return r.Local, nil
	}
	fleet, failed := r.fleet(ctx)
	switch {
	case fleet == nil && failed == nil, err == nil && failed != nil:
		return r.Local, nil
	case failed != nil:
		return nil, fmt.Errorf("%w on this machine, and the fleet cannot be asked: %w", err, failed)
	}
	if _, there := fleet.Find(ctx, run); err == nil && there != nil {
		return r.Local, nil
	}
	return fleet, nil
}

// Find implements record.Store.
func (r *Runs) Find(ctx context.Context, run string) (record.Entry, error) {
	s, err := r.at(ctx, run)
	if err != nil {
		return record.Entry{}, err
	}
	return s.Find(ctx, run)
}

// Open implements record.Store.
func (r *Runs) Open(ctx context.Context, run string, o record.Opening) (record.Lines, error) {
	s, err := r.at(ctx, run)
	if err != nil {
		return nil, err
	}
	return s.Open(ctx, run, o)
}

// Parts implements record.Store.
func (r *Runs) Parts(ctx context.Context, run string) (record.Parts, error) {
	s, err := r.at(ctx, run)
	if err != nil {
		return nil, err
	}
	return s.Parts(ctx, run)
}

// Choose finds a run by its id or the beginning of one, or the word last or last-failed: of this machine first, else of the fleet.
func (r *Runs) Choose(ctx context.Context, word string) (record.Entry, error) {
	e, err := record.Choose(ctx, r.Local, word)
	var missing *record.MissingError
	if err == nil || !errors.As(err, &missing) {
		return e, err
	}
	fleet, failed := r.fleet(ctx)
	switch {
	case failed != nil:
		return e, fmt.Errorf("%w on this machine, and the fleet cannot be asked: %w", err, failed)
	case fleet == nil:
		return e, err
	}
	return record.Choose(ctx, fleet, word)
}
