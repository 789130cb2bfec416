package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"hark/controller/internal/runs/record"
)

// Origin is the Entry.Origin of this store.
const Origin = "local"

// List implements record.Store.
func (s *Store) List(ctx context.Context, f record.Filter) (record.Listing, error) {
	var out record.Listing
	months, err := s.months()
	if err != nil {
		return out, fmt.Errorf("cannot list the runs in %s: %w", s.Dir, err)
	}
	index := s.readIndex()
	for _, month := range months {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if !f.Since.IsZero() && month < f.Since.UTC().Format("2006-01") {
			break
		}
		if err := s.listMonth(month, index, f, &out); err != nil {
			return out, err
		}
		if f.Limit > 0 && len(out.Entries) >= f.Limit {
			out.Entries = out.Entries[:f.Limit]
			break
		}
	}
	return out, nil
}

// listMonth adds the runs of a month.
func (s *Store) listMonth(month string, index map[string]*indexed, f record.Filter, out *record.Listing) error {
	runs, beside, err := s.runs(month)
	if err != nil {
		return err
	}
	var found []record.Entry
	for _, run := range runs {
		x := index[run]
		e := record.Entry{Origin: Origin, Pinned: beside[run+keepExt]}
		if x != nil {
			x.entry(&e)
		} else if err := s.look(month, run, &e, true); errors.Is(err, errCutOff) {
			continue // it never had a whole head, so nothing is known of it
		} else if err != nil {
			out.Warnings = append(out.Warnings, err.Error())
			continue
		}
		if !f.Entry(&e) {
			continue
		}
		if f.Host != "" || f.Task != "" {
			if ok, err := s.bodyMatches(month, &e, f); err != nil || !ok {
				if err != nil {
					out.Warnings = append(out.Warnings, err.Error())
				}
				continue
			}
		}
		found = append(found, e)
	}
	slices.SortFunc(found, func(a, b record.Entry) int {
		return cmp.Or(b.Head.At.Compare(a.Head.At), cmp.Compare(a.Head.Run, b.Head.Run))
	})
	out.Entries = append(out.Entries, found...)
	return nil
}

// entry fills in what the index knows.
func (x *indexed) entry(e *record.Entry) {
	e.Head, e.Foot, e.Counts, e.Bytes, e.Body = x.Head, x.Foot, x.Counts, x.Bytes, !x.Bare
	e.State = record.Lost
	if x.Foot != nil {
		e.State, e.Last = record.StateOf(x.Foot), x.Foot.At
	}
}

// look reads the entry of a run from its record. With note it adds a run that has ended to the index.
func (s *Store) look(month, run string, e *record.Entry, note bool) error {
	f, err := os.Open(s.path(month, run, recordExt))
	if err != nil {
		return inRun(run, err)
	}
	r := frames{f: f, run: run}
	defer r.Close()
	st, err := f.Stat()
	if err != nil {
		return inRun(run, err)
	}
	e.Bytes, e.Last = st.Size(), st.ModTime()
	foot, parts, err := r.survey(&e.Head)
	if err != nil {
		return inRun(run, err)
	}
	e.Body = len(parts) > 0
	if foot != nil {
		x := entryOf(e.Head, foot, st.Size())
		x.Bare = !e.Body && len(foot.Parts) > 0
		head, whole := e.Head, foot
		x.entry(e)
		e.Head, e.Foot = head, whole
		if note {
			_ = s.addToIndex(x) // if that fails, the record is read again next time
		}
		return nil
	}
	e.State = stateOf(f)
	names, err := r.names(parts)
	if err == nil {
		e.At, e.Stage = names.Stand()
	}
	return inRun(run, err)
}

// survey reads the head and the foot of a record, nil if it has none, and finds its parts.
func (r *frames) survey(h *record.Head) (*record.Foot, []frame, error) {
	var parts []frame
	for first := true; ; first = false {
		fr, err := r.next(context.Background(), false)
		switch {
		case err != nil && first:
			return nil, nil, errCutOff
		case err != nil && (errors.Is(err, errCutOff) || errors.Is(err, io.EOF)):
			return nil, parts, nil
		case err != nil:
			return nil, nil, err
		}
		if fr.Kind == partFrame {
			parts = append(parts, fr)
			continue
		}
		l, err := r.single(fr)
		if err != nil {
			return nil, nil, err
		}
		if l.Head != nil {
			*h = *l.Head
		}
		if l.Foot != nil {
			return l.Foot, parts, nil
		}
	}
}

// single reads a frame of one line.
func (r *frames) single(fr frame) (record.Line, error) {
	text, err := r.unpack(fr)
	if err != nil {
		return record.Line{}, err
	}
	return record.DecodeLine(text)
}

// names returns the names that the parts of a run define so far.
func (r *frames) names(parts []frame) (*record.Names, error) {
	var names record.Names
	for _, fr := range parts {
		if !fr.Defines {
			continue
		}
		text, err := r.unpack(fr)
		if err != nil {
			return nil, err
		}
		for len(text) > 0 {
			var line []byte
			line, text = cutLine(text)
			l, err := record.DecodeLine(line)
			if err != nil {
				return nil, err
			}
			names.Learn(&l)
		}
	}
	return &names, nil
}

// bodyMatches checks the conditions on the hosts and the tasks of a run.
func (s *Store) bodyMatches(month string, e *record.Entry, f record.Filter) (bool, error) {
	if e.Foot != nil && f.Task == "" && len(e.Foot.Hosts) > 0 {
		return f.Hosts(e.Foot), nil
	}
	file, err := os.Open(s.path(month, e.Head.Run, recordExt))
	if err != nil {
		return false, inRun(e.Head.Run, err)
	}
	r := frames{f: file, run: e.Head.Run}
	defer r.Close()
	var h record.Head
	foot, parts, err := r.survey(&h)
	if err != nil {
		return false, inRun(e.Head.Run, err)
	}
	if foot == nil {
		names, err := r.names(parts)
		if err != nil {
			return false, inRun(e.Head.Run, err)
		}
		foot = names.Foot()
	}
	return f.Hosts(foot) && f.Tasks(foot), nil
}

// Find implements record.Store.
func (s *Store) Find(_ context.Context, run string) (record.Entry, error) {
	month, err := s.month(run)
	if err != nil {
		return record.Entry{}, err
	}
	e := record.Entry{Origin: Origin}
	if _, err := os.Stat(s.path(month, run, keepExt)); err == nil {
		e.Pinned = true
	}
	err = s.look(month, run, &e, false)
	if errors.Is(err, errCutOff) {
		err = &record.MissingError{Run: run} // it has no head: it has just begun, or its writer died there
	}
	return e, err
}
