package files

// The requests for locks that belong to an open file and not to a process: F_OFD_SETLK and F_OFD_GETLK of macOS'
// fcntl.h.
const (
	setLock = 90
	getLock = 92
)
