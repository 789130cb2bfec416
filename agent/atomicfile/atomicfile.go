// Package atomicfile writes files whole: whoever reads one has the old or the new, never half of it. It is for what
// agents and controllers keep for themselves; what modules do to a host's files is modules/internal/fsx.
package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Write puts text in place of a file, readable by its owner only. It is on the disk when Write returns.
func Write(path string, text []byte) error {
	return write(path, text, true)
}

// WriteLoose is Write without waiting for the disk: when the machine loses its power the file may be empty.
func WriteLoose(path string, text []byte) error {
	return write(path, text, false)
}

func write(path string, text []byte, sync bool) error {
	staged, err := stage(path, bytes.NewReader(text), 0o600, sync)
	if err != nil {
		return err
	}
	defer os.Remove(staged) // gone already when all went well
	return os.Rename(staged, path)
}

// WriteNew is Write for a file that must not be there; if it is, the error is fs.ErrExist.
func WriteNew(path string, text []byte) error {
	staged, err := stage(path, bytes.NewReader(text), 0o600, true)
	if err != nil {
		return err
	}
	defer os.Remove(staged)
	return os.Link(staged, path) // fails if there is one, as a rename does not
}

// Stage writes a file beside its place, on the disk and under a name of its own, for the caller to rename or remove.
// If it is a program it can be run at once.
func Stage(path string, from io.Reader, mode fs.FileMode) (staged string, err error) {
	staged, err = stage(path, from, mode, true)
	// A child that was forked meanwhile holds the file open for writing until it becomes its program, and what is
	// open for writing cannot be run ("text file busy"). Forkers hold the lock until then.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return staged, err
}

func stage(path string, from io.Reader, mode fs.FileMode, sync bool) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, from)
	err = errors.Join(err, f.Chmod(mode))
	if sync {
		err = errors.Join(err, f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}
