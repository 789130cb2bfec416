package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/fleet/sealkeys"
	"hark/controller/internal/fleet/streams"
	"hark/controller/internal/runs/record"
)

// Verdict is what an audit finds of one run.
type Verdict struct {
	Run string `json:"run"`
	// Operator is the id of the key in the record's subject, Who the key that has signed it. Known says that the key is
	// known here.
	Operator string `json:"operator"`
	Who      string `json:"who,omitempty"`
	Known    bool   `json:"known"`
	// Name, From, Commit and At are the operator's statements; only readers have them.
	Name   string       `json:"name,omitempty"`
	From   string       `json:"from,omitempty"`
	Commit string       `json:"commit,omitempty"`
	At     time.Time    `json:"at,omitzero"`
	State  record.State `json:"state,omitempty"`
	Parts  int          `json:"parts"`
	// Note says why the verdict does not cover the whole record: it is sealed for others, or so old that only its
	// beginning and its end are kept.
	Note string `json:"note,omitempty"`
	// Trouble lists what is wrong; it is empty for a record without problems.
	Trouble []string `json:"trouble,omitempty"`
}

// Audit compares the records at the broker with what their operators signed: all that the filter's Since and Until
// admit, or that of one run. What this machine sent must be there.
func (l *Ledger) Audit(ctx context.Context, run string, f record.Filter) ([]Verdict, error) {
	s := &store{l}
	places, err := s.places(ctx, run)
	if err != nil {
		return nil, err
	}
	clock, err := l.clock(ctx)
	if err != nil {
		return nil, err
	}
	var all []Verdict
	for p := range places {
		v, err := s.audit(ctx, p, clock)
		if err != nil {
			return nil, err
		}
		if v.At.IsZero() || during(&f, v.At) {
			all = append(all, *v)
		}
	}
	missing, err := s.missing(run, places, f)
	if err != nil {
		return nil, err
	}
	all = append(all, missing...)
	slices.SortStableFunc(all, func(a, b Verdict) int { return b.At.Compare(a.At) })
	return all, nil
}

// during reports whether a time is within a filter's limits.
func during(f *record.Filter, at time.Time) bool {
	return (f.Since.IsZero() || !at.Before(f.Since)) && (f.Until.IsZero() || !at.After(f.Until))
}

// places returns the runs that the broker has anything of, with the names of their parts.
func (s *store) places(ctx context.Context, run string) (map[place][]string, error) {
	if run == "" {
		run = "*"
	}
	stream, err := s.js.Stream(ctx, StreamName)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, nil
	}
	var info *jetstream.StreamInfo
	if err == nil {
		info, err = stream.Info(ctx, jetstream.WithSubjectFilter(wire.Record("*", run, "*")))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the records at the broker: %w", err)
	}
	places := map[place][]string{}
	for subject := range info.State.Subjects {
		if p, part := placeOf(subject); part != wire.RecordNow && subject != wire.RecordKeys(p.operator, part) {
			places[p] = append(places[p], part)
		}
	}
	return places, nil
}

// missing returns the records that this machine sent and that the broker does not have.
func (s *store) missing(run string, places map[place][]string, f record.Filter) ([]Verdict, error) {
	sent, err := AllSent(s.cfg.Home, s.cfg.Now())
	if err != nil {
		return nil, err
	}
	var out []Verdict
	for _, sent := range sent {
		own := place{cmp.Or(sent.Operator, s.cfg.Self.ID()), sent.Run}
		if run != "" && run != sent.Run || places[own] != nil && slices.Contains(places[own], wire.RecordEnd) ||
			!during(&f, sent.At) {
			continue
		}
		who := ""
		if own.operator == s.cfg.Self.ID() {
			who = s.cfg.Self.Key
		}
		out = append(out, Verdict{Run: sent.Run, Operator: own.operator, Who: who, Known: true, At: sent.At,
			Trouble: []string{fmt.Sprintf("it was sent whole from here on %s, and the broker does not have its end",
				sent.At.Format(time.RFC3339))}})
	}
	return out, nil
}

// seen is a message of a record in an audit.
type seen struct {
	seq    uint64
	digest string
	prev   string
}

// auditor checks one record's chain.
type auditor struct {
	ledger *Ledger
	*Verdict
	found  found
	seen   map[uint64]seen
	end    *seen
	parts  map[int]bool
	lines  int64
	foot   *record.Foot
	sealed error
}

func (s *store) audit(ctx context.Context, p place, clock time.Time) (*Verdict, error) {
	a := &auditor{ledger: s.Ledger, Verdict: &Verdict{Run: p.run, Operator: p.operator}, found: found{place: p},
		seen: map[uint64]seen{}, parts: map[int]bool{}}
	err := streams.Settle(ctx, func(ctx context.Context) error {
		_, err := streams.Each(ctx, s.cfg.Conn, StreamName, wire.Record(p.operator, p.run, "*"), 1,
			func(m streams.Message) { a.take(ctx, m) })
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the records at the broker: %w", err)
	}
	a.judge(clock)
	return a.Verdict, nil
}

func (a *auditor) wrong(format string, v ...any) {
	a.Trouble = append(a.Trouble, fmt.Sprintf(format, v...))
}

// take checks one message by itself.
func (a *auditor) take(ctx context.Context, m streams.Message) {
	a.found.last = m.Time
	_, part := placeOf(m.Subject)
	at := link{operator: a.Operator, run: a.Run, seq: anySeq}
	number, err := strconv.ParseUint(part, 10, 64)
	switch {
	case part == wire.RecordNow:
		return
	case part == wire.RecordBegin:
		a.found.begin, at.seq = &m, 0
	case part == wire.RecordEnd:
		a.found.end = &m
	case err != nil || number == 0:
		a.wrong("there is an unknown part %q", part)
		return
	default:
		at.seq = number
		a.Parts++
	}
	f, err := at.checkAlone(m.Data)
	if err != nil {
		var t *TamperedError
		if errors.As(err, &t) {
			a.wrong("%s", t.Why)
		}
		return
	}
	this := seen{seq: f.Header.Seq, digest: wire.FrameDigest(m.Data), prev: f.Header.Prev}
	a.Who = f.Header.Issuer
	if part == wire.RecordEnd {
		a.end = &this
	} else {
		a.seen[this.seq] = this
	}
	meta, data, err := a.ledger.open(ctx, f, a.Operator)
	switch {
	case err != nil:
		a.unread(part, err)
	case meta.Part != nil:
		if a.lines += int64(meta.Lines); a.parts[meta.Part.N] {
			a.lines -= int64(meta.Lines)
		}
		a.parts[meta.Part.N] = true
	case part == wire.RecordBegin || part == wire.RecordEnd:
		a.word(data)
	}
}

// unread notes that a message cannot be opened. That is wrong only if this operator is a reader.
func (a *auditor) unread(part string, err error) {
	var not *sealkeys.NotReaderError
	if errors.As(err, &not) {
		a.sealed = not
		return
	}
	a.wrong("%s cannot be read: %v", part, err)
}

// word reads a beginning or an end.
func (a *auditor) word(data []byte) {
	l, err := a.ledger.zstd.line(data)
	switch {
	case err != nil:
		a.wrong("%v", err)
	case l.Head != nil:
		a.Name, a.From, a.Commit, a.At = l.Head.Name, l.Head.From, l.Head.Commit, l.Head.At
		if l.Head.Run != a.Run {
			a.wrong("its beginning is that of run %s", l.Head.Run)
		}
	case l.Foot != nil:
		a.foot = l.Foot
	}
}

// judge checks the record as a whole.
func (a *auditor) judge(clock time.Time) {
	a.Known = a.ledger.cfg.Knows == nil || a.ledger.cfg.Knows(a.Who)
	if a.sealed != nil {
		a.Note = "it is sealed for others: only signatures and chain were checked"
	}
	if a.found.begin == nil {
		a.wrong("its beginning is missing")
	}
	switch {
	case a.foot != nil:
		a.State = record.StateOf(a.foot)
	case a.found.end != nil:
		a.State = record.Ended
	case clock.Sub(a.found.last) > lostAfter:
		a.State = record.Lost
	default:
		a.State = record.Running
	}
	if a.end != nil && a.Parts == 0 && clock.Sub(a.found.end.Time) > keepParts {
		a.Note = "only its beginning and its end are kept"
		return
	}
	a.chain()
	if a.foot != nil && a.end != nil && len(a.parts) != len(a.foot.Parts) {
		a.wrong("its end speaks of %d parts, and there are %d", len(a.foot.Parts), len(a.parts))
	}
	if a.foot != nil && a.foot.Incomplete != "" {
		a.Note = strings.TrimPrefix(a.Note+"; "+a.foot.Incomplete, "; ")
	}
}

// chain checks that every message follows the one before it.
func (a *auditor) chain() {
	last := uint64(0)
	for n := range maps.Keys(a.seen) {
		last = max(last, n)
	}
	behind := last
	if a.end != nil && a.end.seq > 0 {
		behind = max(behind, a.end.seq-1)
	}
	for n := uint64(1); n <= behind; n++ {
		this, ok := a.seen[n]
		before, had := a.seen[n-1]
		switch {
		case !ok:
			if !a.named(n) {
				a.wrong("part %d is missing", n)
			}
		case had && this.prev != before.digest:
			a.wrong("part %d does not follow the one before it, which was replaced", n)
		}
	}
	if a.end == nil {
		return
	}
	if a.end.seq <= last {
		a.wrong("there are parts behind its end")
	} else if before, had := a.seen[a.end.seq-1]; had && a.end.prev != before.digest {
		a.wrong("its end does not follow the part before it, which was replaced")
	}
}

// named reports whether a problem of a part was noted already.
func (a *auditor) named(n uint64) bool {
	return slices.ContainsFunc(a.Trouble,
		func(text string) bool { return strings.HasPrefix(text, fmt.Sprintf("part %d ", n)) })
}
