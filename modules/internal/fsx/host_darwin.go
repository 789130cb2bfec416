package fsx

import (
	"os"
	"syscall"
	"time"
)

func atime(st *syscall.Stat_t) time.Time { return time.Unix(st.Atimespec.Unix()) }
func mtime(st *syscall.Stat_t) time.Time { return time.Unix(st.Mtimespec.Unix()) }

// syncFileSystem makes the directory durable; the whole file system cannot be asked to.
func syncFileSystem(f *os.File) { _ = f.Sync() }

// readFlags says no: the attributes are those of Linux's file systems.
func readFlags(string, bool) (set, generation uint32, ok bool) { return 0, 0, false }

func changeFlags(path string, _ byte, _ uint32) error {
	return chattrError(syscall.ENOTSUP, " while reading flags on "+path)
}
