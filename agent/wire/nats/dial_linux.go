package nats

import (
	"time"

	"golang.org/x/sys/unix"
)

// giveUpAfter ends a connection whose bytes are not acknowledged for that long.
func giveUpAfter(fd int, silence time.Duration) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silence.Milliseconds()))
}

// retries is how often the kernel has sent again what waits to be acknowledged.
func retries(fd int) int {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return 0
	}
	return int(info.Retransmits)
}
