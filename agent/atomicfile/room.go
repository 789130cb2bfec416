package atomicfile

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// enough is the room below which a file system counts as full: the programs that keep files here would soon stop.
const enough = 16 << 20

// Room returns what keeps files from being written in a directory: its file system is full, or read-only. nil is
// nothing.
func Room(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return fmt.Errorf("cannot look at %s: %w", dir, err)
	}
	free := st.Bavail * uint64(st.Bsize)
	switch {
	case readOnly(&st):
		return fmt.Errorf("the file system of %s is read-only", dir)
	case free < enough:
		return fmt.Errorf("the file system of %s is full: %d MB are free", dir, free>>20)
	case st.Files > 0 && st.Ffree == 0:
		return fmt.Errorf("the file system of %s is full: it has no inode free", dir)
	}
	return nil
}
