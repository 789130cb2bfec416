package fleet

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"hark/controller/internal/fleet/trust"
	"hark/controller/internal/runs/ledger"
	"hark/controller/internal/runs/record"
)

// Believes reports whether this operator takes another's word, by his public key; his own he does.
func (b *Connection) Believes(key string) bool {
	return slices.Contains(b.believed, key) || b.believers != nil && b.believers.Knows(key)
}

// Ledger returns the ledger at the broker, as this operator reads and writes it; home is the directory of his files.
func (b *Connection) Ledger(home string) (*ledger.Ledger, error) {
	readers, err := b.Readers(home)
	if err != nil {
		return nil, err
	}
	return ledger.New(ledger.Config{Conn: b.Conn(), Self: b.Operator, Knows: b.Believes, Home: home, Readers: readers})
}

// Readers returns the public curve keys of those who may read what this operator keeps at the broker; home is the
// directory of his files.
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

// Runs are the runs of this machine and, where there is a broker, of the fleet. The broker is asked only for what
// this machine does not have.
type Runs struct {
	Local record.Store
	// Fleet is the store at the broker, connected to when it is asked; nil without an error says that there is no broker.
	Fleet func(context.Context) (record.Store, error)
}

// List implements record.Store. That the fleet cannot be asked is a warning.
func (r *Runs) List(ctx context.Context, f record.Filter) (record.Listing, error) {
	out, err := r.Local.List(ctx, f)
	if err != nil {
		return out, err
	}
	fleet, err := r.Fleet(ctx)
	var others record.Listing
	if err == nil && fleet != nil {
		others, err = fleet.List(ctx, f)
	}
	out.Warnings = append(slices.Clone(out.Warnings), others.Warnings...)
	if err != nil {
		out.Warnings = append(out.Warnings, fmt.Sprintf("runs of other machines are not shown: %v", err))
		return out, nil
	}
	here, err := r.here(ctx, f, out.Entries)
	if err != nil {
		return out, err
	}
	out.Entries = slices.Clone(out.Entries)
	for _, e := range others.Entries {
		if !here[e.Head.Run] { // what this machine has it knows better
			out.Entries = append(out.Entries, e)
		}
	}
	slices.SortStableFunc(out.Entries, func(a, b record.Entry) int { return b.Head.At.Compare(a.Head.At) })
	if f.Limit > 0 && len(out.Entries) > f.Limit {
		out.Entries = out.Entries[:f.Limit]
	}
	return out, nil
}

// here returns the runs that this machine has in the time of a filter, also those for which the rest of it does not
// hold. found are those for which it does.
func (r *Runs) here(ctx context.Context, f record.Filter, found []record.Entry) (map[string]bool, error) {
	if wide := (record.Filter{Since: f.Since, Until: f.Until}); !reflect.DeepEqual(f, wide) {
		all, err := r.Local.List(ctx, wide)
		if err != nil {
			return nil, err
		}
		found = all.Entries
	}
	here := map[string]bool{}
	for _, e := range found {
		here[e.Head.Run] = true
	}
	return here, nil
}

// at returns the store that has a run. Of one whose lines are gone here the fleet is asked.
func (r *Runs) at(ctx context.Context, run string) (record.Store, error) {
	e, err := r.Local.Find(ctx, run)
	var missing *record.MissingError
	if err == nil && e.Body || err != nil && !errors.As(err, &missing) {
		return r.Local, nil
	}
	fleet, failed := r.Fleet(ctx)
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

// Choose finds a run by its id or the beginning of one, or the word last or last-failed: of this machine first, else
// of the fleet.
func (r *Runs) Choose(ctx context.Context, word string) (record.Entry, error) {
	e, err := record.Choose(ctx, r.Local, word)
	var missing *record.MissingError
	if err == nil || !errors.As(err, &missing) {
		return e, err
	}
	fleet, failed := r.Fleet(ctx)
	switch {
	case failed != nil:
		return e, fmt.Errorf("%w on this machine, and the fleet cannot be asked: %w", err, failed)
	case fleet == nil:
		return e, err
	}
	return record.Choose(ctx, fleet, word)
}
