// Package tempdir makes directories that live no longer than the process which made them. One that was killed cannot
// remove its own: the next of the same user does, and touches no directory whose process lives.
package tempdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Dir is a directory that this process keeps locked as long as it lives.
type Dir struct {
	Path string

	lock *os.File
}

// Make makes a directory for a purpose, one word, in the system's directory for temporary files, and removes what
// killed processes of this user have left there of the same purpose.
func Make(purpose string) (*Dir, error) {
	base, prefix := os.TempDir(), "hark-"+purpose+"."
	sweep(base, prefix)
	for {
		path, err := os.MkdirTemp(base, prefix+"*")
		if err != nil {
			return nil, fmt.Errorf("cannot make a temporary directory: %w", err)
		}
		lock, err := open(path)
		if err == nil {
			err = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(fmt.Errorf("cannot lock %s: %w", path, err), os.RemoveAll(path))
		}
		if err == nil && same(lock, path) {
			return &Dir{path, lock}, nil
		}
		if lock != nil {
			lock.Close() // one who swept was faster
		}
	}
}

// Remove removes the directory with all that is in it.
func (d *Dir) Remove() error {
	defer d.lock.Close()
	return os.RemoveAll(d.Path)
}

// sweep removes the directories of a prefix that belong to this user and to no process. What cannot be removed stays.
func sweep(base, prefix string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && e.IsDir() {
			bury(filepath.Join(base, e.Name()))
		}
	}
}

// bury removes a directory whose process is dead.
func bury(path string) {
	lock, err := open(path)
	if err != nil {
		return
	}
	defer lock.Close()
	if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && mine(lock) && same(lock, path) {
		_ = os.RemoveAll(path)
	}
}

// open opens a directory itself and nothing that a link leads to.
func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
}

func mine(f *os.File) bool {
	st, err := f.Stat()
	if err != nil {
		return false
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Geteuid()
}

// same reports whether a path still leads to a directory.
func same(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(path)
	return err == nil && os.SameFile(open, now)
}
