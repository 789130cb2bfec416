package main

import (
	"math"

	"golang.org/x/sys/unix"
)

// keepToOurselves keeps what else the shell had open from the processes that modules start, as Python does: LVM's
// complain of it. Where the kernel does not know the call nothing changes.
func keepToOurselves() { _ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) }
