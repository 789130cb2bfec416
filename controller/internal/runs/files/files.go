// Package files keeps records as files of this machine: HARK_HOME/runs/2026-11/RUN.zst. The process that drives a run
// writes its file, and any number of others read it. Beside it are RUN.driver while the run goes on, which says who
// drives it, and RUN.keep if the user wants it kept. The file index holds heads and feet of the runs that ended, so
// that a list opens none of them; it is rebuilt if it is lost.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"hark/controller/internal/runs/record"
)

// Store is a directory of records. Any goroutine may call its methods, and any number of processes may use it at once.
type Store struct {
	// Dir is the directory; it need not exist.
	Dir string
	// Poll is how often a reader that follows a run looks for more; 0 is a fifth of a second. It sees at once what sinks
	// of this store write.
	Poll time.Duration

	written pulse
}

// pulse wakes goroutines that wait for something to be written. The zero value is ready.
type pulse struct {
	mu   sync.Mutex
	next chan struct{} // closed at the next beat; guarded by mu, nil if none waits
}

// wait returns a channel that is closed at the next beat.
func (p *pulse) wait() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == nil {
		p.next = make(chan struct{})
	}
	return p.next
}

// beat wakes all that wait.
func (p *pulse) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next != nil {
		close(p.next)
		p.next = nil
	}
}

var _ record.Store = (*Store)(nil)

// The extensions of a run's files, after its id.
const (
	recordExt = ".zst"
	driverExt = ".driver"
	keepExt   = ".keep"
	limitExt  = ".limit"  // the hosts of a retry
	pointExt  = ".resume" // where it can go on
)

// validID matches ids that can be names of files.
var validID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]{1,64}$`) })

// path returns a file of a run that began in a month.
func (s *Store) path(month, run, ext string) string { return filepath.Join(s.Dir, month, run+ext) }

// months returns the directories of months, the newest first.
func (s *Store) months() ([]string, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for i := len(entries) - 1; i >= 0; i-- {
		if entries[i].IsDir() {
			out = append(out, entries[i].Name())
		}
	}
	return out, err
}

// month returns the directory of a run.
func (s *Store) month(run string) (string, error) {
	if !validID().MatchString(run) {
		return "", &record.MissingError{Run: run}
	}
	months, err := s.months()
	if err != nil {
		return "", err
	}
	for _, m := range months {
		if _, err := os.Stat(s.path(m, run, recordExt)); err == nil {
			return m, nil
		}
	}
	return "", &record.MissingError{Run: run}
}

// runs returns the runs of a month, and which other files they have.
func (s *Store) runs(month string) (runs []string, beside map[string]bool, err error) {
	dir, err := os.Open(filepath.Join(s.Dir, month))
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	beside = map[string]bool{}
	for _, name := range names {
		if run, ok := strings.CutSuffix(name, recordExt); ok && validID().MatchString(run) {
			runs = append(runs, run)
		} else {
			beside[name] = true
		}
	}
	return runs, beside, err
}

// lock marks a file as written by this process, until it is closed.
func lock(f *os.File) error {
	return unix.FcntlFlock(f.Fd(), setLock, &unix.Flock_t{Type: unix.F_WRLCK})
}

// written reports whether a process writes a record.
func written(f *os.File) bool {
	l := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), getLock, &l); err != nil {
		return false
	}
	return l.Type != unix.F_UNLCK
}

// inRun adds the id of the run to an error of its record.
func inRun(run string, err error) error {
	var newer *record.NewerError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &newer):
		newer.Run = run
		return newer
	}
	return fmt.Errorf("cannot read the record of run %s: %w", run, err)
}
