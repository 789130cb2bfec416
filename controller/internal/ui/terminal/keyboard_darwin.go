package terminal

import "golang.org/x/sys/unix"

// The requests that read and set how a terminal behaves: at once without what was typed before, or when all output is
// through.
const (
	getTermios     = unix.TIOCGETA
	setAndFlush    = unix.TIOCSETAF
	setAfterOutput = unix.TIOCSETAW
)
