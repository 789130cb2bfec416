package call

import "syscall"

// ownDir gives this thread a directory of its own.
func ownDir() error { return syscall.Unshare(syscall.CLONE_FS) }

// chdirThread changes the directory of a thread that has its own.
func chdirThread(dir string) error { return syscall.Chdir(dir) }
