package nats

import (
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"hark/modules/nss"
)

// silence is how long the broker's machine may leave sent bytes unacknowledged before the connection counts as lost.
// The kernel alone would try for a quarter of an hour, less and less often, and a host whose network comes back would
// return long after that.
const silence = 15 * time.Second

// knock is how long the broker's machine may take to answer Patient clients. The kernel repeats the request after one
// and three seconds, so a longer wait would only miss the machine's return.
const knock = 3500 * time.Millisecond

// remembering is a dialer that remembers why it could not connect: with several servers, or one that refuses, nats.go
// says only that there is none.
type remembering struct {
	nss.Dialer

	mu   sync.Mutex
	last error    // guarded by mu
	conn net.Conn // the last one; guarded by mu
}

// Dial implements nats.CustomDialer.
func (r *remembering) Dial(network, address string) (net.Conn, error) {
	conn, err := r.Dialer.Dial(network, address)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last, r.conn = err, conn
	return conn, err
}

// stuck reports whether the broker's machine leaves what was sent on the connection unacknowledged.
func (r *remembering) stuck() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	raw, ok := r.conn.(syscall.Conn)
	if !ok {
		return false
	}
	c, err := raw.SyscallConn()
	if err != nil {
		return false
	}
	is := false
	_ = c.Control(func(fd uintptr) { is = retries(int(fd)) >= inVain }) // one that is closed is not stuck
	return is
}

// inVain is how often the kernel must have sent something in vain until a silent connection is given up: that takes it
// three seconds at least, and longer on a long way. A broker that is only busy has a kernel that acknowledges.
const inVain = 4

// why returns the reason behind an error of nats.go.
func (r *remembering) why(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if errors.Is(err, nats.ErrNoServers) && r.last != nil {
		return r.last
	}
	return err
}

// dialer opens connections that notice within silence that the other side is gone.
func (c Config) dialer() *remembering {
	limit := c.Timeout
	if c.Patient {
		limit = min(limit, knock)
	}
	return &remembering{Dialer: nss.Dialer{Timeout: limit, KeepAlive: silence,
		Control: func(_, _ string, raw syscall.RawConn) error {
			var err error
			if cerr := raw.Control(func(fd uintptr) {
				err = giveUpAfter(int(fd), silence)
			}); cerr != nil {
				return cerr
			}
			return err
		}}}
}
