package nats

import (
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// silence is how long the broker's machine may leave what was sent without an acknowledgement before the connection counts as
// lost. The kernel alone would try for a quarter of an hour, and less and less often: a host whose network comes back would be
// heard of long after that.
const silence = 15 * time.Second

// dialer opens connections that notice within silence that nobody is there any more.
func (c Config) dialer() *net.Dialer {
	return &net.Dialer{Timeout: c.Timeout, KeepAlive: silence, Control: func(_, _ string, raw syscall.RawConn) error {
		var err error
		if cerr := raw.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silence.Milliseconds()))
		}); cerr != nil {
			return cerr
		}
		return err
	}}
}
