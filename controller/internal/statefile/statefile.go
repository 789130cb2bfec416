// Package statefile keeps the files of JSON that the controller's side remembers things in, with the version of their
// form.
package statefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"hark/agent/atomicfile"
)

// Load reads JSON whose field version is at most the one given into v, which stays as it is if there is no file.
func Load(path string, version int, v any) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return err
	}
	if head.Version > version {
		return fmt.Errorf("it has version %d, this hark knows %d", head.Version, version)
	}
	return json.Unmarshal(text, v)
}

// Save writes v as JSON. Its field version is the writer's to set.
func Save(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(text, '\n'))
}

// LockOf returns the lock of a file.
func LockOf(path string) string { return path + ".lock" }

// Lock waits for the lock of a file, and gives what ends it.
func Lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(LockOf(path), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// Owner is the owner of a file.
func Owner(path string) (uid, gid int, err error) {
	st, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	is, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, fmt.Errorf("the system does not tell whose %s is", path)
	}
	return int(is.Uid), int(is.Gid), nil
}
