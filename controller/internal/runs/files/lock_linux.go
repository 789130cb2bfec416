package files

import "golang.org/x/sys/unix"

// The requests for locks that belong to an open file and not to a process.
const (
	setLock = unix.F_OFD_SETLK
	getLock = unix.F_OFD_GETLK
)
