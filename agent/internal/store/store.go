// Package store is what an agent keeps on disk: the log of each session (what it received, what it did, what the
// controller has not acknowledged), the journal of messages, and a cache of files by digest. A log is both the outbox
// and the journal of at-most-once: an event "started" without its "done" is a step that was interrupted.
//
// Layout of a state directory:
//
//	version               the number of this layout
//	lock                  held by the agent that uses the directory
//	identity.key          the agent's keys
//	enrolment.json        what it was told when it was enrolled (package agent)
//	crowd.json            how many agents the fleet has
//	journal               nonces of plans and calls, with their expiry
//	sessions/<name>.log   one JSON object a line: open, event, ack
//	blobs/<sha256>        files
//	handovers/<life>.*    runs that an earlier process still serves, see HandOver
//	before-<n>/           what an older agent needs to come back, see GoBack
package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"hark/agent/atomicfile"
	"hark/agent/securefile"
	"hark/agent/wire"
)

// Store is an opened state directory.
type Store struct {
	dir  string
	lock *os.File
	// locked is the file that Open has locked. It stays what it is when HandOver takes another lock.
	locked os.FileInfo
	// handedOver is what HandOver has written, without its suffix, "" if it was not called.
	handedOver string
	// Journal holds the messages that the agent has had.
	Journal *Journal
	// Blobs caches files.
	Blobs *Blobs
}

// Open opens a state directory and locks it: two agents on one directory would answer twice. It creates the directory
// if need be.
func Open(dir string) (*Store, error) {
	for _, d := range []string{dir, filepath.Join(dir, "sessions")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("cannot make the state directory: %v", err)
		}
	}
	s := &Store{dir: dir}
	if err := s.take(); err != nil {
		return nil, err
	}
	if err := upgrade(dir, upgrades()); err != nil {
		s.Close()
		return nil, err
	}
	var err error
	if s.Journal, err = openJournal(filepath.Join(dir, "journal")); err != nil {
		s.Close()
		return nil, err
	}
	if s.Blobs, err = OpenBlobs(filepath.Join(dir, "blobs")); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Store) take() error {
	f, err := os.OpenFile(filepath.Join(s.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("cannot lock the state directory: %v", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return fmt.Errorf("cannot use the state directory %s: another agent uses it", s.dir)
		}
		return fmt.Errorf("cannot lock the state directory %s: %v", s.dir, err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return fmt.Errorf("cannot look at the state directory: %w", err)
	}
	s.lock, s.locked = f, info
	return nil
}

// Dir returns the directory. The caller may keep files of other names in it.
func (s *Store) Dir() string { return s.dir }

// Identity reads the agent's keys, or creates them the first time.
func (s *Store) Identity() (*wire.Identity, error) { return Identity(s.dir) }

// IdentityFile holds the agent's keys.
const IdentityFile = "identity.key"

// Identity reads the agent's keys from a state directory, or creates them the first time. It needs no lock.
func Identity(dir string) (*wire.Identity, error) {
	path := filepath.Join(dir, IdentityFile)
	text, err := securefile.Read(path, securefile.Secret)
	if err == nil {
		id, err := wire.ParseIdentity(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %v", path, err)
		}
		return id, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read the agent's keys: %v", err)
	}
	id, err := wire.NewIdentity()
	if err != nil {
		return nil, err
	}
	if text, err = id.Text(); err != nil {
		return nil, err
	}
	if err := atomicfile.Write(path, text); err != nil {
		return nil, fmt.Errorf("cannot keep the agent's keys: %v", err)
	}
	return id, nil
}

// Close unlocks the directory.
func (s *Store) Close() error {
	if s.Journal != nil {
		s.Journal.close()
	}
	return s.lock.Close()
}
