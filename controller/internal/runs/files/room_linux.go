package files

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve makes sure that a file can grow to end, and keeps that room without changing the file's size. It returns an
// error only if the disk is full: file systems that cannot reserve promise nothing.
func reserve(f *os.File, size, end int64) error {
	err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, size, end-size)
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return &os.PathError{Op: "write", Path: f.Name(), Err: err}
	}
	return nil
}
