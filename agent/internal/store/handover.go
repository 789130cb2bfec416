package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"hark/agent/atomicfile"
)

// A process of the agent that is told to stop in the middle of plays leaves the directory to the next one, and keeps
// what belongs to the runs that it still serves: their logs, and a journal of its own. It says so in a file that it
// holds locked as long as it lives:
//
//	handovers/<life>.json      its runs
//	handovers/<life>.journal   nonces that it has taken since
//	handovers/<life>.taken     made by the process that has come in its place
//
//	opened --HandOver--> given up, but for its runs --its process ends--> settled by the one in its place

// handover is what a handovers/<life>.json holds.
type handover struct {
	Version int      `json:"version"`
	Runs    []string `json:"runs"`
}

// Predecessor is an earlier process that still has active runs.
type Predecessor struct {
	Runs []string
	path string // without the suffix
}

func (s *Store) handoverPath(name string) string { return filepath.Join(s.dir, "handovers", name) }

// HandOver leaves the directory to another process, but for what belongs to the runs. name is that of this process,
// and of no other.
func (s *Store) HandOver(name string, runs []string) error {
	path := s.handoverPath(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("cannot hand over: %w", err)
	}
	text, err := json.Marshal(handover{layout, runs})
	if err != nil {
		return err
	}
	if err := s.Journal.move(path + ".journal"); err != nil {
		return err
	}
	held, err := writeLocked(path+".json", text)
	if err != nil {
		return errors.Join(fmt.Errorf("cannot hand over: %w", err), s.Journal.move(filepath.Join(s.dir, "journal")))
	}
	lock := s.lock
	s.lock, s.handedOver = held, path
	return lock.Close()
}

// writeLocked writes a file whole. Nobody sees it before this process has its lock.
func writeLocked(path string, text []byte) (*os.File, error) {
	next := path + ".next"
	if err := atomicfile.Write(next, text); err != nil {
		return nil, err
	}
	f, err := os.Open(next)
	if err != nil {
		return nil, err
	}
	if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(next))
	}
	return f, nil
}

// Succeeded reports whether another process has come in the place of this one, which has handed over.
func (s *Store) Succeeded() bool {
	_, err := os.Stat(s.handedOver + ".taken")
	return err == nil
}

// Predecessors returns the earlier processes that still have active runs. They learn that this one has come.
func (s *Store) Predecessors() ([]Predecessor, error) {
	paths, err := filepath.Glob(s.handoverPath("*.json"))
	if err != nil {
		return nil, err
	}
	var out []Predecessor
	var errs []error
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var h handover
		if err == nil {
			err = json.Unmarshal(raw, &h)
		}
		if err == nil && h.Version > layout {
			err = fmt.Errorf("it has version %d, this agent knows %d", h.Version, layout)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("cannot read what an earlier process has kept: %s: %w", p, err))
			continue
		}
		before := Predecessor{Runs: h.Runs, path: strings.TrimSuffix(p, ".json")}
		if err := os.WriteFile(before.path+".taken", nil, 0o600); err != nil {
			errs = append(errs, err)
		}
		out = append(out, before)
	}
	return out, errors.Join(errs...)
}

// Lives reports whether the process still has its active runs.
func (p Predecessor) Lives() bool {
	f, err := os.Open(p.path + ".json")
	if err != nil {
		return false
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil
}

// Settle takes over the journal of a predecessor that has gone, and forgets it. Its logs are for RecoverRuns.
func (s *Store) Settle(p Predecessor) error {
	left, err := readJournal(p.path + ".journal")
	if err != nil {
		return err
	}
	for nonce, expires := range left {
		if _, err := s.Journal.TakeBriefly(nonce, expires); err != nil {
			return err
		}
	}
	if err := s.Journal.sync(); err != nil {
		return err
	}
	for _, suffix := range []string{".journal", ".taken", ".json"} { // the last one is what the others belong to
		if err := os.Remove(p.path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// RecoverRuns reads the sessions that an earlier process left, of the runs that which holds for.
func (s *Store) RecoverRuns(which func(run string) bool) ([]Session, []error) {
	return s.recover(func(file string) bool {
		run, _, _ := strings.Cut(file, "+")
		return which(run)
	})
}

// Kept reports whether a run is in the hands of one of the processes.
func Kept(by []Predecessor, run string) bool {
	return slices.ContainsFunc(by, func(p Predecessor) bool { return slices.Contains(p.Runs, run) })
}
