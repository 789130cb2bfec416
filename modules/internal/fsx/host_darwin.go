package fsx

import (
	"os"
	"syscall"
)

// Times returns when a file was last read, when its content and when its status changed.
func Times(st *syscall.Stat_t) (access, modification, change syscall.Timespec) {
	return st.Atimespec, st.Mtimespec, st.Ctimespec
}

// syncFileSystem makes the directory durable; the whole file system cannot be asked to.
func syncFileSystem(f *os.File) { _ = f.Sync() }

// readFlags says no: the attributes are those of Linux's file systems.
func readFlags(string, bool) (set, generation uint32, ok bool) { return 0, 0, false }

func changeFlags(path string, _ byte, _ uint32) error {
	return chattrError(syscall.ENOTSUP, " while reading flags on "+path)
}
