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

// The files of a run below the operator's directory: its session keys and what agents sent, as long as it goes on, and
// what was reported to a collector.
const (
	sessionsDir     = "session_keys"
	reportedExt     = ".reported"
	receivedExt     = ".received"
	olderExt        = ".received-before"
	sessionsVersion = 1 // the version of all of them
)

// form is the first line of each of these files.
type form struct {
	Version int `json:"version"`
}

// SessionKeyFiles stores the sessions of a run as they are opened. The file holds the keys of the sessions; it exists
// as long as the run.
type SessionKeyFiles struct {
	path string

	mu  sync.Mutex
	f   *os.File // nil before the first session; guarded by mu
	err error    // guarded by mu

	received received
}

// NewSessionKeyFiles returns the files of a run that begins. It writes nothing before the first session.
func NewSessionKeyFiles(home, run string) *SessionKeyFiles {
	path := sessionKeysPath(home, run)
	return &SessionKeyFiles{path: path, received: received{path: path, limit: mostReceived}}
}

func sessionKeysPath(home, run string) string { return filepath.Join(home, sessionsDir, run) }

// Add stores a session. An error does not prevent the session: it only cannot be collected.
func (s *SessionKeyFiles) Add(session link.SessionKeys) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && s.f == nil {
		s.f, s.err = create(s.path)
	}
	if s.err == nil {
		s.err = appendLine(s.f, session)
	}
}

// Remove deletes the file, since the run has ended.
func (s *SessionKeyFiles) Remove() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.received.remove()
	if s.f == nil {
		return err
	}
	return errors.Join(err, s.f.Close(), os.Remove(s.path))
}

// Keep stores a batch of an agent, see link.Config.Keep. An error costs what a controller that dies has not recorded.
func (s *SessionKeyFiles) Keep(agent string, frame []byte) { s.received.keep(agent, frame) }

// create creates one of the files, or opens it to append.
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
		err = appendLine(f, form{sessionsVersion})
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

// readLines reads one of the files. It skips a last line that was cut off when its process was killed.
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
			if f.Version > sessionsVersion {
				return nil, fmt.Errorf("%s has version %d, this hark knows %d", path, f.Version, sessionsVersion)
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

// readSessionKeys returns the session keys of a run, false if there are none.
func readSessionKeys(home, run string) ([]link.SessionKeys, bool, error) {
	sessions, err := readLines[link.SessionKeys](sessionKeysPath(home, run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return sessions, err == nil, err
}

// readReported returns what was reported before.
func readReported(home, run string) ([]wire.Event, error) {
	events, err := readLines[wire.Event](sessionKeysPath(home, run) + reportedExt)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return events, err
}

// removeAll removes all files of a run.
func removeAll(home, run string) error {
	path := sessionKeysPath(home, run)
	var errs []error
	for _, name := range []string{path, path + reportedExt, path + receivedExt, path + olderExt} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
