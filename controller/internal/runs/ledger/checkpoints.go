package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"hark/agent/atomicfile"
)

// The files below Config.Home: a mark for each run whose record was not sent completely, and a line for each that was.
const (
	checkpointsDir = "unsent"
	sentFile       = "sent"
)

// checkpointVersion is the version of marks.
const checkpointVersion = 1

// Checkpoint says how far the record of a run was sent. It belongs to the process that opened it.
type Checkpoint struct {
	path string
	lock *os.File

	Version int    `json:"version"`
	Run     string `json:"run"`
	// Next is the number of the message to send next, 0 for the beginning. Prev is the digest of the one before it.
	Next uint64 `json:"next"`
	Prev string `json:"prev,omitempty"`
	// Part and Piece are the content of that message.
	Part  int  `json:"part"`
	Piece int  `json:"piece,omitempty"`
	Ended bool `json:"ended,omitempty"`
}

// errBusy says that another process sends the record.
var errBusy = errors.New("another process sends it")

// Note records that a run is to be sent. It is cheap, and needs no broker.
func Note(home, run string) error {
	dir := filepath.Join(home, checkpointsDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("cannot note that a record is to be sent: %v", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, run), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("cannot note that a record is to be sent: %v", err)
	}
	return f.Close()
}

// Unsent returns the runs to send, the oldest note first.
func Unsent(home string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(home, checkpointsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read which records are to be sent: %v", err)
	}
	var runs []string
	for _, e := range entries {
		if !strings.Contains(e.Name(), ".") {
			runs = append(runs, e.Name())
		}
	}
	return runs, nil
}

// openCheckpoint opens the mark of a run, which must have been noted.
func openCheckpoint(home, run string) (*Checkpoint, error) {
	path := filepath.Join(home, checkpointsDir, run)
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	m := &Checkpoint{path: path, lock: lock, Version: checkpointVersion, Run: run, Part: 1}
	if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return nil, errors.Join(errBusy, lock.Close())
	}
	text, err := os.ReadFile(path)
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, m)
	}
	if err == nil && m.Version > checkpointVersion {
		err = fmt.Errorf("its note has version %d, this hark knows %d", m.Version, checkpointVersion)
	}
	if err == nil && m.Run != run {
		err = fmt.Errorf("its note is that of run %q", m.Run)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return m, nil
}

// passed records that the message at Next was sent.
func (m *Checkpoint) passed(digest string, what meta, end bool) error {
	m.Prev, m.Ended = digest, end
	m.Next++
	switch {
	case what.Part == nil:
	case what.Piece+1 < what.Pieces:
		m.Part, m.Piece = what.Part.N, what.Piece+1
	default:
		m.Part, m.Piece = what.Part.N+1, 0
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	// not synced: the broker has what is lost of it
	if err := os.WriteFile(m.path+".new", text, 0o600); err != nil {
		return fmt.Errorf("cannot note what was sent: %v", err)
	}
	if err := os.Rename(m.path+".new", m.path); err != nil {
		return fmt.Errorf("cannot note what was sent: %v", err)
	}
	return nil
}

// since returns how long ago the mark was last written.
func (m *Checkpoint) since() time.Duration {
	st, err := os.Stat(m.path)
	if err != nil {
		return 0
	}
	return time.Since(st.ModTime())
}

// release unlocks the mark.
func (m *Checkpoint) release() { _ = m.lock.Close() }

// done removes the mark: everything was sent, or there is nothing to send.
func (m *Checkpoint) done() error {
	err := errors.Join(os.Remove(m.path), os.Remove(m.path+".lock"))
	m.release()
	return err
}

// Sent is a record that was sent completely from here: the broker must have it.
type Sent struct {
	Run    string    `json:"run"`
	At     time.Time `json:"at"`
	Digest string    `json:"digest"` // of its end
	// Operator is the id of the key that has signed it, "" for that which is here now: a key may be replaced.
	Operator string `json:"operator,omitempty"`
}

// noteSent adds a line about a record that was sent.
func noteSent(home string, s Sent) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(home, sentFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("cannot note what was sent: %v", err)
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("cannot note what was sent: %v", err)
	}
	return nil
}

// AllSent returns the records that were sent from here and that the broker must still have.
func AllSent(home string, now time.Time) ([]Sent, error) {
	path := filepath.Join(home, sentFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read what was sent: %v", err)
	}
	var all []Sent
	var kept []byte
	for line := range strings.Lines(string(text)) {
		var s Sent
		if json.Unmarshal([]byte(line), &s) == nil && now.Sub(s.At) < keepRuns { // skip a line that was cut off
			all = append(all, s)
			kept = append(kept, line...)
		}
	}
	const large = 1 << 20
	if len(text) > large && len(kept) < len(text)/2 {
		err = atomicfile.Write(path, kept)
	}
	return all, err
}
