package terminal

import "golang.org/x/sys/unix"

// The requests that read and set how a terminal behaves: at once without what was typed before, or when all output is
// through.
const (
	getTermios     = unix.TCGETS
	setAndFlush    = unix.TCSETSF
	setAfterOutput = unix.TCSETSW
)
