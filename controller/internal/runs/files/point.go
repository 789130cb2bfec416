package files

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"hark/agent/atomicfile"
)

// PointAge is how long it is kept where a run can go on.
const PointAge = 24 * time.Hour

// KeepPoint keeps where a run can go on, which the caller has sealed, beside its record.
func (s *Store) KeepPoint(run string, sealed []byte) error {
	month, err := s.month(run)
	if err != nil {
		return err
	}
	return atomicfile.WriteLoose(s.path(month, run, pointExt), sealed)
}

// Point returns what KeepPoint has kept. The error is fs.ErrNotExist if there is none, or it is too old.
func (s *Store) Point(run string, now time.Time) ([]byte, error) {
	month, err := s.month(run)
	if err != nil {
		return nil, err
	}
	path := s.path(month, run, pointExt)
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if now.Sub(st.ModTime()) > PointAge {
		return nil, fs.ErrNotExist
	}
	return os.ReadFile(path)
}

// DropPoint removes what KeepPoint has kept.
func (s *Store) DropPoint(run string) error {
	month, err := s.month(run)
	if err != nil {
		return err
	}
	return s.dropPoint(month, run)
}

func (s *Store) dropPoint(month, run string) error {
	if err := os.Remove(s.path(month, run, pointExt)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
