package site

import (
	"context"
	"errors"
	"slices"

	"hark/controller/internal/record"
)

// both is the records of this machine and those of the fleet. A run that is in both is read here, where it is whole and near.
type both struct {
	local  record.Store
	broker *broker
}

// List implements record.Store. Without the broker the runs of this machine are listed, with a warning.
func (b *both) List(ctx context.Context, f record.Filter) (record.Listing, error) {
	all, err := b.local.List(ctx, f)
	if err != nil {
		return all, err
	}
	_, far, err := b.broker.connected(ctx)
	if err != nil {
		all.Warnings = append(slices.Clone(all.Warnings), "Runs of the fleet are not shown: "+err.Error())
		return all, nil
	}
	more, err := far.List(ctx, f)
	if err != nil {
		all.Warnings = append(slices.Clone(all.Warnings), "Runs of the fleet are not shown: "+err.Error())
		return all, nil
	}
	here := map[string]bool{}
	for _, e := range all.Entries {
		here[e.Head.Run] = true
	}
	all.Entries = slices.Clone(all.Entries)
	for _, e := range more.Entries {
		if !here[e.Head.Run] {
			all.Entries = append(all.Entries, e)
		}
	}
	all.Warnings = append(slices.Clone(all.Warnings), more.Warnings...)
	slices.SortStableFunc(all.Entries, func(x, y record.Entry) int { return y.Head.At.Compare(x.Head.At) })
	if f.Limit > 0 && len(all.Entries) > f.Limit {
		all.Entries = all.Entries[:f.Limit]
	}
	return all, nil
}

// Find implements record.Store.
func (b *both) Find(ctx context.Context, run string) (record.Entry, error) {
	e, err := b.local.Find(ctx, run)
	if far := b.far(ctx, err); far != nil {
		return far.Find(ctx, run)
	}
	return e, err
}

// Open implements record.Store.
func (b *both) Open(ctx context.Context, run string, o record.Opening) (record.Lines, error) {
	lines, err := b.local.Open(ctx, run, o)
	if far := b.far(ctx, err); far != nil {
		return far.Open(ctx, run, o)
	}
	return lines, err
}

// Parts implements record.Store.
func (b *both) Parts(ctx context.Context, run string) (record.Parts, error) {
	parts, err := b.local.Parts(ctx, run)
	if far := b.far(ctx, err); far != nil {
		return far.Parts(ctx, run)
	}
	return parts, err
}

// far is the fleet's store if the run is not on this machine and the broker can be reached, else nil.
func (b *both) far(ctx context.Context, err error) record.Store {
	var missing *record.MissingError
	if !errors.As(err, &missing) {
		return nil
	}
	_, far, err := b.broker.connected(ctx)
	if err != nil {
		return nil
	}
	return far
}
