package files

import (
	"errors"
	"fmt"
	"io"
	"os"

	"hark/controller/internal/runs/record"
)

// Resume returns a sink that goes on with a record that breaks off after so many parts; it removes what is cut off
// behind them. It is an error if another process writes the record or has ended it.
func (s *Store) Resume(run string, parts int) (record.Sink, error) {
	month, err := s.month(run)
	if err != nil {
		return nil, err
	}
	path := s.path(month, run, recordExt)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, inRun(run, err)
	}
	k := &sink{store: s, f: f, month: month}
	if err := k.resume(run, parts); err != nil {
		return nil, inRun(run, errors.Join(err, f.Close()))
	}
	return k, nil
}

func (s *sink) resume(run string, parts int) error {
	if err := lock(s.f); err != nil {
		return errors.New("another process goes on with it")
	}
	r := frames{f: s.f, run: run}
	st, err := s.f.Stat()
	if err != nil {
		return err
	}
	found := 0
	for {
		fr, err := frameAt(s.f, s.size, st.Size())
		if errors.Is(err, errCutOff) {
			break
		}
		if err != nil {
			return err
		}
		switch fr.Kind {
		case headFrame:
			l, err := r.single(fr)
			if err != nil {
				return err
			}
			if l.Head == nil {
				return io.ErrUnexpectedEOF
			}
			s.head = *l.Head
		case partFrame:
			found++
		case footFrame:
			return errors.New("it has an end")
		}
		s.size = fr.end()
	}
	if found != parts {
		return fmt.Errorf("it has %d parts now and had %d", found, parts)
	}
	return s.f.Truncate(s.size)
}
