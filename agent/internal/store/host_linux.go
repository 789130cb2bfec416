package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// nameless returns a file that is only in memory and has no path.
func nameless(path string) (*os.File, error) {
	fd, err := unix.MemfdCreate("hark-secret", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

func syncContent(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
