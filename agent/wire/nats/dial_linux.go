package nats

import (
	"time"

	"golang.org/x/sys/unix"
)

// giveUpAfter ends a connection whose bytes are not acknowledged for that long.
func giveUpAfter(fd int, silence time.Duration) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silence.Milliseconds()))
}
