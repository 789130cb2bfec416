package main

import (
	"os"
	"strconv"
	"syscall"
)

// keepToOurselves keeps what else the shell had open from the processes that modules start.
func keepToOurselves() {
	open, _ := os.ReadDir("/dev/fd")
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
