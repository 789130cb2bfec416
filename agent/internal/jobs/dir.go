package jobs

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"hark/agent/atomicfile"
)

// The files in a job's directory. All are 0600 in a directory that is 0700.
const (
	stateFile  = "state.json"
	resultFile = "result.json"
	lockFile   = "lock"   // the job's process holds its lock as long as it lives
	cancelFile = "cancel" // exists when somebody has cancelled the job
)

func readRecord(dir string) (record, error) {
	var r record
	raw, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, fmt.Errorf("cannot read %s: %w", filepath.Join(dir, stateFile), err)
	}
	if r.Version > version {
		return r, fmt.Errorf("cannot read %s: it was written by a newer version (%d)", filepath.Join(dir, stateFile),
			r.Version)
	}
	return r, nil
}

// write writes the record.
func (r record) write(dir string) error { return r.save(dir, false) }

// seal writes the record of a job that has ended, and syncs it together with the result that was written before.
func (r record) seal(dir string) error { return r.save(dir, true) }

func (r record) save(dir string, sync bool) error {
	r.Version = version
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if sync {
		return atomicfile.Write(filepath.Join(dir, stateFile), raw)
	}
	return atomicfile.WriteLoose(filepath.Join(dir, stateFile), raw)
}

// lock takes the lock of a job's directory, which the job's process inherits. It fails if another process holds it.
func lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// held reports whether the job's process, or the one that is starting it, lives.
func held(dir string) bool {
	f, err := lock(dir)
	if err == nil {
		f.Close()
	}
	return errors.Is(err, unix.EWOULDBLOCK)
}

// inherit takes the lock when the job's process has ended, so that one supervisor at a time decides what became of the
// job. The returned func releases it.
func inherit(dir string) func() {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return func() {} // the job was forgotten
	}
	for errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_EX), unix.EINTR) {
	}
	return func() { f.Close() }
}

// cancelled reports whether somebody has cancelled the job of a directory.
func cancelled(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, cancelFile))
	return err == nil
}
