package files

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hark/agent/atomicfile"
	"hark/controller/internal/runs/record"
)

// pruneEvery is the time between two prunings.
const pruneEvery = time.Hour

// PruneSoon calls Prune unless that was done within the hour.
func (s *Store) PruneSoon(k record.Keep, now time.Time) error {
	mark := filepath.Join(s.Dir, "pruned")
	st, err := os.Stat(mark)
	if err == nil && now.Sub(st.ModTime()) < pruneEvery {
		return nil
	}
	if st, err := os.Stat(s.Dir); err != nil || !st.IsDir() {
		return nil // there is nothing to remove, and the recorder reports what is wrong
	}
	if err := errors.Join(os.WriteFile(mark, nil, 0o600), os.Chtimes(mark, now, now)); err != nil {
		return whyNot(err)
	}
	return s.Prune(k, now)
}

// Prune removes the lines of runs that are older than the limit, or of the oldest when all take too much room, and
// later the runs themselves. Running and pinned runs stay.
func (s *Store) Prune(k record.Keep, now time.Time) error {
	all, err := s.List(context.Background(), record.Filter{})
	if err != nil {
		return err
	}
	index := s.readIndex()
	if index == nil {
		index = map[string]*indexed{}
	}
	entries := slices.DeleteFunc(all.Entries, func(e record.Entry) bool { return e.Pinned || e.State == record.Running })
	slices.SortFunc(entries,
		func(a, b record.Entry) int { return cmp.Compare(b.Head.At.UnixNano(), a.Head.At.UnixNano()) })
	var errs []error
	left := k.Bytes
	for _, e := range entries {
		age := now.Sub(e.Head.At)
		left -= e.Bytes
		month := e.Head.At.UTC().Format("2006-01")
		if age > PointAge && age < 2*PointAge+k.Age {
			errs = append(errs, s.dropPoint(month, e.Head.Run))
		}
		switch {
		case age > k.Heads:
			errs = append(errs, s.remove(month, e.Head.Run))
			delete(index, e.Head.Run)
		case e.Body && (age > k.Age || k.Bytes > 0 && left < 0):
			x, err := s.strip(month, e.Head.Run)
			if errs = append(errs, err); err == nil {
				index[e.Head.Run] = &x
			}
		}
	}
	return errors.Join(append(errs, s.writeIndex(index))...)
}

// remove deletes a run with all its files.
func (s *Store) remove(month, run string) error {
	var errs []error
	for _, ext := range []string{recordExt, driverExt, keepExt, limitExt, pointExt} {
		if err := os.Remove(s.path(month, run, ext)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	_ = os.Remove(filepath.Join(s.Dir, month)) // only an empty one can be removed
	return errors.Join(errs...)
}

// strip reduces a record to its head and its foot.
func (s *Store) strip(month, run string) (indexed, error) {
	path := s.path(month, run, recordExt)
	f, err := os.Open(path)
	if err != nil {
		return indexed{}, err
	}
	r := frames{f: f, run: run}
	defer r.Close()
	var text []byte
	var head record.Head
	var foot *record.Foot
	for {
		fr, err := r.next(context.Background(), false)
		if err != nil {
			if errors.Is(err, errCutOff) && text != nil {
				break
			}
			return indexed{}, inRun(run, err)
		}
		if fr.Kind == partFrame {
			continue
		}
		packed, err := r.data(fr)
		if err != nil {
			return indexed{}, inRun(run, err)
		}
		l, err := r.single(fr)
		if err != nil {
			return indexed{}, inRun(run, err)
		}
		if l.Head != nil {
			head = *l.Head
		}
		foot = l.Foot
		if text, err = appendFrame(text, fr.label, packed); err != nil {
			return indexed{}, err
		}
	}
	x := entryOf(head, foot, int64(len(text)))
	x.Bare = true
	return x, atomicfile.WriteLoose(path, text)
}
