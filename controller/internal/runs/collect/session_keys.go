package collect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"hark/agent/securefile"
	"hark/agent/wire"
	"hark/controller/internal/play/link"
)

// The files of a run below the operator's directory: its seats, as long as it goes on, and what was told to who
// collects.
const (
	seatsDir  = "seats"
	toldExt   = ".told"
	seatsForm = 1 // the version of the form of both
)

// form begins both files.
type form struct {
	Version int `json:"version"`
}

// Seats notes the sessions of a run as they are opened. The file holds the keys of the sessions, as the memory of the
// process does; it is there as long as the run.
type Seats struct {
	path string

	mu  sync.Mutex
	f   *os.File // nil before the first seat; guarded by mu
	err error    // guarded by mu
}

// NewSeats is for a run that begins. Nothing is written before the first seat.
func NewSeats(home, run string) *Seats { return &Seats{path: seatsPath(home, run)} }

func seatsPath(home, run string) string { return filepath.Join(home, seatsDir, run) }

// Add notes a seat. That it cannot be noted does not keep the session from being opened: it can only not be collected.
func (s *Seats) Add(seat link.Seat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && s.f == nil {
		s.f, s.err = create(s.path)
	}
	if s.err == nil {
		s.err = appendLine(s.f, seat)
	}
}

// Remove ends the notes: the run has ended.
func (s *Seats) Remove() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.f == nil {
		return nil
	}
	return errors.Join(s.f.Close(), os.Remove(s.path))
}

// create makes one of the files, or goes on with it.
func create(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && st.Size() == 0 {
		err = appendLine(f, form{seatsForm})
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func appendLine(f *os.File, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return err
}

// readLines reads one of the files. A last line that was cut off when its process was killed is passed over.
func readLines[T any](path string) ([]T, error) {
	text, err := securefile.Read(path, securefile.Secret)
	if err != nil {
		return nil, err
	}
	var out []T
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") {
			break
		}
		if out == nil {
			var f form
			if err := json.Unmarshal([]byte(line), &f); err != nil || f.Version < 1 {
				return nil, fmt.Errorf("%s cannot be read: it has no version", path)
			}
			if f.Version > seatsForm {
				return nil, fmt.Errorf("%s has version %d, this hark knows %d", path, f.Version, seatsForm)
			}
			out = []T{}
			continue
		}
		var v T
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			return nil, fmt.Errorf("%s cannot be read: %v", path, err)
		}
		out = append(out, v)
	}
	return out, nil
}

// readSeats gives the seats of a run, false if none are on record.
func readSeats(home, run string) ([]link.Seat, bool, error) {
	seats, err := readLines[link.Seat](seatsPath(home, run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return seats, err == nil, err
}

// readTold gives what was told before.
func readTold(home, run string) ([]wire.Event, error) {
	events, err := readLines[wire.Event](seatsPath(home, run) + toldExt)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return events, err
}

// removeAll removes both files.
func removeAll(home, run string) error {
	path := seatsPath(home, run)
	var errs []error
	for _, name := range []string{path, path + toldExt} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
