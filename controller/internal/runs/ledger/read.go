package ledger

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/fleet/sealkeys"
	"hark/controller/internal/fleet/streams"
	"hark/controller/internal/runs/record"
)

// Origin is the Entry.Origin of the ledger.
const Origin = "fleet"

// Store returns the ledger as a store of records.
func (l *Ledger) Store() record.Store { return &store{l} }

type store struct{ *Ledger }

// place is a run of an operator, by the id of the operator's key.
type place struct{ operator, run string }

// placeOf parses a subject of the ledger.
func placeOf(subject string) (p place, part string) {
	t := strings.Split(subject, ".")
	if len(t) != 5 {
		return place{}, ""
	}
	return place{t[2], t[3]}, t[4]
}

// found are the messages of a run that lists need.
type found struct {
	place
	begin, end, now *streams.Message
	// last is the time of the last message, by the broker's clock.
	last time.Time
}

// find reads the beginnings, ends and present positions of runs; run is one run, or * for all.
func (s *store) find(ctx context.Context, run string) ([]*found, error) {
	at := map[place]*found{}
	var all []*found
	for _, part := range []string{wire.RecordBegin, wire.RecordEnd, wire.RecordNow} {
		err := streams.Settle(ctx, func(ctx context.Context) error {
			_, err := streams.Each(ctx, s.cfg.Conn, StreamName, wire.Record("*", run, part), 1, func(m streams.Message) {
				p, _ := placeOf(m.Subject)
				f := at[p]
				switch {
				case f == nil && part != wire.RecordBegin: // without its beginning nothing is known of it
					return
				case f == nil:
					f = &found{place: p}
					at[p] = f
					all = append(all, f)
				}
				f.last = m.Time
				switch part {
				case wire.RecordBegin:
					f.begin = &m
				case wire.RecordEnd:
					f.end = &m
				case wire.RecordNow:
					f.now = &m
				}
			})
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("cannot read the records at the broker: %w", err)
		}
	}
	return all, nil
}

// List implements record.Store. It leaves out runs that are sealed for others, and counts them in a warning.
func (s *store) List(ctx context.Context, f record.Filter) (record.Listing, error) {
	all, err := s.find(ctx, "*")
	if err != nil {
		return record.Listing{}, err
	}
	clock, err := s.clock(ctx)
	if err != nil {
		return record.Listing{}, err
	}
	entries, errs := make([]*record.Entry, len(all)), make([]error, len(all))
	each(len(all), func(i int) { entries[i], errs[i] = s.entry(ctx, all[i], clock) })
	var out record.Listing
	others := 0
	for i, e := range entries {
		var not *sealkeys.NotReaderError
		switch {
		case errors.As(errs[i], &not):
			others++
		case errs[i] != nil:
			out.Warnings = append(out.Warnings, errs[i].Error())
		case wanted(&f, e):
			out.Entries = append(out.Entries, *e)
		}
	}
	if others > 0 {
		out.Warnings = append(out.Warnings,
			fmt.Sprintf("%d runs at the broker are sealed for others: their operators name readers with `hark runs readers add`",
				others))
	}
	slices.SortStableFunc(out.Entries, func(a, b record.Entry) int { return b.Head.At.Compare(a.Head.At) })
	if f.Limit > 0 && len(out.Entries) > f.Limit {
		out.Entries = out.Entries[:f.Limit]
	}
	return out, nil
}

// wanted checks all conditions of a filter. For a run without an end no host is known, and only the present task.
func wanted(f *record.Filter, e *record.Entry) bool {
	foot := e.Foot
	if foot == nil {
		foot = &record.Foot{Tasks: []record.TaskSum{{Name: e.At}}}
	}
	return f.Entry(e) && f.Hosts(foot) && f.Tasks(foot)
}

// each calls f for 0 to n-1 on all processors, since signatures and seals take time.
func each(n int, f func(int)) {
	var work sync.WaitGroup
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), n) {
		work.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	work.Wait()
}

// clock returns the broker's time.
func (l *Ledger) clock(ctx context.Context) (time.Time, error) {
	stream, err := l.js.Stream(ctx, StreamName)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return l.cfg.Now(), nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("cannot read the records at the broker: %w", err)
	}
	return stream.CachedInfo().TimeStamp, nil
}

// entry returns what beginning and end say of a run.
func (s *store) entry(ctx context.Context, f *found, clock time.Time) (*record.Entry, error) {
	head, err := s.head(ctx, f)
	if err != nil {
		return nil, err
	}
	e := &record.Entry{Head: *head, Last: f.last, Origin: Origin, Body: true, State: record.Running}
	if f.now != nil {
		at, err := s.nowOf(ctx, f)
		var foreign *TamperedError // somebody overwrote it: where the run stands is not known then
		if err != nil && !errors.As(err, &foreign) {
			return nil, err
		}
		e.At, e.Stage = at.At, at.Stage
	}
	switch {
	case f.end != nil:
		if e.Foot, err = s.foot(ctx, f); err != nil {
			return nil, err
		}
		e.State, e.At, e.Stage, e.Last = record.StateOf(e.Foot), "", nil, e.Foot.At
		e.Counts = map[record.HostState]int{}
		for state := range e.Foot.Hosts {
			e.Counts[state] = e.Foot.Count(state)
		}
		e.Body = len(e.Foot.Parts) == 0 || clock.Sub(f.end.Time) < keepParts
	case clock.Sub(f.last) > lostAfter:
		e.State = record.Lost
	}
	return e, nil
}

// head returns the beginning of a record. If the operator is not known here, the key replaces the name.
func (s *store) head(ctx context.Context, f *found) (*record.Head, error) {
	line, issuer, err := s.single(ctx, f, f.begin.Data, link{operator: f.operator, run: f.run})
	if err != nil {
		return nil, err
	}
	if line.Head == nil || line.Head.Run != f.run {
		return nil, &TamperedError{f.run, "its beginning is not that of this run"}
	}
	line.Head.Who = issuer
	if s.cfg.Knows != nil && !s.cfg.Knows(issuer) {
		line.Head.Name, line.Head.From = issuer, ""
	}
	return line.Head, nil
}

// foot returns the end of a record. Readers of the parts check that it follows them.
func (s *store) foot(ctx context.Context, f *found) (*record.Foot, error) {
	line, _, err := s.single(ctx, f, f.end.Data, link{operator: f.operator, run: f.run, seq: anySeq})
	if err != nil {
		return nil, err
	}
	if line.Foot == nil {
		return nil, &TamperedError{f.run, "its end is something else"}
	}
	return line.Foot, nil
}

// single opens a message that holds one line.
func (s *store) single(ctx context.Context, f *found, data []byte,
	at link) (line record.Line, issuer string, err error) {
	frame, err := at.check(data)
	if err != nil {
		return line, "", err
	}
	_, text, err := s.open(ctx, frame, f.operator)
	if err == nil {
		line, err = s.zstd.line(text)
	}
	if err != nil {
		return line, "", fmt.Errorf("run %s: %w", f.run, err)
	}
	return line, frame.Header.Issuer, nil
}

func (s *store) nowOf(ctx context.Context, f *found) (now, error) {
	frame, err := link{operator: f.operator, run: f.run, seq: anySeq}.check(f.now.Data)
	if err != nil {
		return now{}, err
	}
	m, _, err := s.open(ctx, frame, f.operator)
	if err != nil {
		return now{}, fmt.Errorf("run %s: %w", f.run, err)
	}
	if m.Now == nil {
		return now{}, &TamperedError{f.run, "where it stands is something else"}
	}
	return *m.Now, nil
}

// only finds the run with an id.
func (s *store) only(ctx context.Context, run string) (*found, error) {
	if strings.ContainsAny(run, ".*> \t") || run == "" {
		return nil, &record.MissingError{Run: run}
	}
	all, err := s.find(ctx, run)
	switch {
	case err != nil:
		return nil, err
	case len(all) == 0:
		return nil, &record.MissingError{Run: run}
	case len(all) > 1:
		return nil, fmt.Errorf("%d operators have put a run %q on record", len(all), run)
	}
	return all[0], nil
}

// Find implements record.Store.
func (s *store) Find(ctx context.Context, run string) (record.Entry, error) {
	f, err := s.only(ctx, run)
	if err != nil {
		return record.Entry{}, err
	}
	clock, err := s.clock(ctx)
	if err != nil {
		return record.Entry{}, err
	}
	e, err := s.entry(ctx, f, clock)
	if err != nil {
		return record.Entry{}, err
	}
	return *e, nil
}
