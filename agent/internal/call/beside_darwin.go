package call

import "golang.org/x/sys/unix"

// ownDir has nothing to do: a thread's directory is its own from the first time that it is changed.
func ownDir() error { return nil }

// chdirThread changes the directory of this thread.
func chdirThread(dir string) error { return unix.PthreadChdir(dir) }
