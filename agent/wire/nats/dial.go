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

// silence is how long the broker's machine may leave what was sent without an acknowledgement before the connection
// counts as lost. The kernel alone would try for a quarter of an hour, and less and less often: a host whose network
// comes back would be heard of long after that.
const silence = 15 * time.Second

// knock is how long the broker's machine may take to answer those who are Patient. It is asked again after a second
// and three, so a longer wait would only miss its coming back.
const knock = 3500 * time.Millisecond

// remembering is a dialer that knows why it could not connect: of several servers, and of one that refuses, nats.go
// tells only that none is there.
type remembering struct {
	nss.Dialer

	mu   sync.Mutex
	last error // guarded by mu
}

// Dial implements nats.CustomDialer.
func (r *remembering) Dial(network, address string) (net.Conn, error) {
	conn, err := r.Dialer.Dial(network, address)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = err
	return conn, err
}

// why is the reason behind an error of nats.go.
func (r *remembering) why(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if errors.Is(err, nats.ErrNoServers) && r.last != nil {
		return r.last
	}
	return err
}

// dialer opens connections that notice within silence that nobody is there any more.
func (c Config) dialer() *remembering {
	limit := c.Timeout
	if c.Patient {
		limit = min(limit, knock)
	}
	return &remembering{Dialer: nss.Dialer{Timeout: limit, KeepAlive: silence, Control: func(_, _ string, raw syscall.RawConn) error {
		var err error
		if cerr := raw.Control(func(fd uintptr) {
			err = giveUpAfter(int(fd), silence)
		}); cerr != nil {
			return cerr
		}
		return err
	}}}
}
