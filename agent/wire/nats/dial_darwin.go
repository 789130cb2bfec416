package nats

import (
	"time"

	"golang.org/x/sys/unix"
)

// giveUpAfter ends a connection whose bytes are not acknowledged for that long, in whole seconds.
func giveUpAfter(fd int, silence time.Duration) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_RXT_CONNDROPTIME, int(silence.Seconds()))
}

// retries is not known here: the connection is given up after a while.
func retries(int) int { return 0 }
