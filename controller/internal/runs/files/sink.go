package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hark/controller/internal/runs/record"
)

// Sink returns a sink for the record of one run. It holds the record's lock until it is closed.
func (s *Store) Sink() record.Sink { return &sink{store: s} }

// roomForEnd is what the end of a record may take. It is reserved with each part: a run whose disk becomes full is not
// taken for one that was lost.
const roomForEnd = 128 << 10

type sink struct {
	store  *Store
	f      *os.File
	head   record.Head
	month  string
	driver string // the RUN.driver file
	size   int64  // of the whole frames
}

// Begin creates the file with its head.
func (s *sink) Begin(h record.Head, data []byte) error {
	if !validID().MatchString(h.Run) {
		return fmt.Errorf("internal error: the run is called %q", h.Run)
	}
	s.head, s.month = h, h.At.UTC().Format("2006-01")
	if err := os.MkdirAll(filepath.Join(s.store.Dir, s.month), 0o700); err != nil {
		return whyNot(err)
	}
	path := s.store.path(s.month, h.Run, recordExt)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return whyNot(err)
	}
	s.f = f
	if err := errors.Join(lock(f), s.write(label{Kind: headFrame, Lines: 1}, data)); err != nil {
		_ = os.Remove(path) // it could not be attributed
		return whyNot(err)
	}
	s.driver = s.store.path(s.month, h.Run, driverExt)
	text, err := json.Marshal(Driver{PID: os.Getpid(), Boot: boot()})
	if err != nil {
		return err
	}
	return whyNot(os.WriteFile(s.driver, text, 0o600))
}

// Part implements record.Sink.
func (s *sink) Part(p record.Part) error {
	return whyNot(s.write(label{Kind: partFrame, PartSum: p.PartSum, Lines: p.Lines, Raw: p.Raw}, p.Data))
}

// End implements record.Sink.
func (s *sink) End(f record.Foot, data []byte) error {
	if err := s.write(label{Kind: footFrame, Lines: 1}, data); err != nil {
		return whyNot(err)
	}
	_ = s.store.note(s.head, f, s.size) // if that fails, the record is read again next time
	return nil
}

// write appends a frame with one write. It removes what could not be written whole, so that later frames can be read.
func (s *sink) write(l label, data []byte) error {
	text, err := appendFrame(nil, l, data)
	if err == nil && l.Kind != footFrame {
		err = reserve(s.f, s.size, s.size+int64(len(text))+roomForEnd)
	}
	if err != nil {
		return err
	}
	if _, err := s.f.Write(text); err != nil {
		return errors.Join(err, s.f.Truncate(s.size))
	}
	s.size += int64(len(text))
	s.store.written.beat()
	return nil
}

// Close implements record.Sink.
func (s *sink) Close() error {
	if s.driver != "" {
		_ = os.Remove(s.driver) // a file that stays does no harm: the lock counts
	}
	if s.f == nil {
		return nil
	}
	defer s.store.written.beat() // nothing will follow
	_ = s.f.Truncate(s.size)     // what was reserved for the end is free again
	return whyNot(s.f.Close())
}

// whyNot returns an error of writing for the user.
func whyNot(err error) error {
	if err == nil {
		return nil
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("cannot record the run in %s: %w", path.Path, path.Err)
	}
	return fmt.Errorf("cannot record the run: %w", err)
}
