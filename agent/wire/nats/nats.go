// Package nats carries messages over a NATS server. It reconnects for ever, splits what is larger than the
// server's limit, and makes loud what NATS keeps quiet: a subscription that the server does not permit fails
// the next Flush.
package nats

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
	"github.com/rs/zerolog"

	"hark/agent/wire"
)

// Transport is a wire.Transport over a connection to NATS.
type Transport struct {
	cfg    Config
	dialer *remembering
	stuck  func() bool // the dialer's; tests have others
	nc     *nats.Conn
	inbox  string // of this connection, with the final dot
	// arrears is what the broker has sent and this side has not taken up.
	arrears backlog

	// gate is held for reading while an f of a subscription runs, and by Close for writing.
	gate   sync.RWMutex
	closed bool // guarded by gate

	mu        sync.Mutex
	waiting   map[string]*call // by token; guarded by mu
	dialled   *nats.Conn       // nc, once it is there; guarded by mu
	since     time.Time        // of the connection, zero until its handler has run; guarded by mu
	fleetSize int              // how many agents the fleet has; guarded by mu
	// why the last attempt to connect failed, "" if none did since the last connection; guarded by mu
	missed   string
	denied   error   // what the broker did not permit, for the next Flush; guarded by mu
	denial   error   // the last denial that is known of; guarded by mu
	ahead    []error // denials that Flush reported before asyncError had them, in their order; guarded by mu
	isClosed bool    // guarded by mu
}

// Dial connects; its errors do not name the broker, the caller knows it. With Config.Patient it returns at once and
// connects in the background.
func Dial(ctx context.Context, cfg Config) (*Transport, error) {
	t := &Transport{cfg: cfg, dialer: cfg.orDefault().dialer(), inbox: wire.Inbox(cfg.ID) + "." + nuid.Next() + ".",
		fleetSize: cfg.FleetSize, waiting: map[string]*call{}}
	t.stuck = t.dialer.stuck
	if cfg.URL == "" && cfg.Open == nil {
		return nil, errors.New("no broker is configured")
	}
	if cfg.Open == nil {
		if err := CheckURL(cfg.URL); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if cfg.Credentials != "" { // a missing file is an error now and not after a minute of retries
		if _, err := cfg.token(); err != nil {
			return nil, err
		}
	}
	nc, err := nats.Connect(cfg.URL, cfg.options(t)...)
	if err != nil {
		return nil, t.dialer.why(err)
	}
	t.nc = nc
	t.mu.Lock()
	t.dialled = nc
	if nc.IsConnected() && t.since.IsZero() {
		t.since = time.Now()
	}
	t.mu.Unlock()
	if _, err := nc.Subscribe(t.inbox+"*", t.answered); err != nil {
		nc.Close()
		return nil, fmt.Errorf("cannot listen for replies: %w", err)
	}
	if cfg.Patient {
		return t, nil
	}
	if err := t.Flush(ctx); err != nil {
		nc.Close()
		return nil, err
	}
	return t, nil
}

// Conn returns the connection itself, for what only NATS has (JetStream).
func (t *Transport) Conn() *nats.Conn { return t.nc }

// Reconnect connects again, with the credentials that there are now. What is on its way may be lost, as with any
// connection.
func (t *Transport) Reconnect() error { return t.nc.ForceReconnect() }

func (t *Transport) connected(msg string) {
	t.mu.Lock()
	t.missed = ""
	if t.since.IsZero() {
		t.since = time.Now()
	}
	t.mu.Unlock()
	t.about(zerolog.InfoLevel).Msg(msg)
	if t.cfg.OnConnect != nil {
		t.cfg.OnConnect()
	}
}

func (t *Transport) disconnected(err error) {
	t.mu.Lock()
	t.since = time.Time{}
	t.mu.Unlock()
	t.cfg.Logger.Info().AnErr("cause", err).Msg("the broker is away")
}

// about returns a line of the log that names the broker. Of one that is reached without an address, such as that of
// this process, there is nothing to tell.
func (t *Transport) about(level zerolog.Level) *zerolog.Event {
	if t.cfg.URL == "" {
		return t.cfg.Logger.Debug()
	}
	return t.cfg.Logger.WithLevel(level).Str("broker", t.cfg.URL)
}

// Since implements wire.Transport.
func (t *Transport) Since() time.Time {
	if !t.nc.IsConnected() {
		return time.Time{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.since.IsZero() { // the handler will run in a moment
		return time.Now()
	}
	return t.since
}

// SetFleetSize says how many agents the fleet has, which shares with this one a broker that comes back.
func (t *Transport) SetFleetSize(agents int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fleetSize = agents
}

// delay returns the pause before an attempt to connect: anything up to the longest. Why the last attempt failed, if
// the broker was there and did not take this side, nats.go tells nobody.
func (t *Transport) delay(int) time.Duration {
	t.mu.Lock()
	nc := t.dialled
	t.mu.Unlock()
	if nc != nil && nc.LastError() != nil {
		t.unreachable(nc.LastError())
	}
	return t.pause()
}

// pause is anything up to the longest pause.
func (t *Transport) pause() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	longest := t.cfg.MaxDelay
	switch {
	case longest > 0:
	case t.cfg.Patient:
		longest = wire.Spread(t.fleetSize)
	default:
		longest = soon
	}
	return rand.N(longest) + time.Millisecond
}

// soon is the pause of clients that are few, and for which a user waits.
const soon = time.Second

// unreachable explains why the broker cannot be reached: each reason once, then only to those who debug.
func (t *Transport) unreachable(err error) {
	err = t.dialer.why(err)
	if t.cfg.Explain != nil {
		err = t.cfg.Explain(err)
	}
	t.mu.Lock()
	level := zerolog.WarnLevel
	if t.missed == err.Error() {
		level = zerolog.DebugLevel
	}
	t.missed = err.Error()
	t.mu.Unlock()
	t.about(level).AnErr("cause", err).Msg("cannot reach the broker yet")
}

func (t *Transport) asyncError(s *nats.Subscription, err error) {
	e := t.cfg.Logger.Warn().AnErr("cause", err)
	if s != nil {
		e = e.Str("subject", s.Subject)
	}
	e.Msg("the broker reports an error")
	if errors.Is(err, nats.ErrPermissionViolation) {
		t.mu.Lock()
		defer t.mu.Unlock()
		asked := t.refused(err)
		if len(t.ahead) > 0 { // errors come in their order, so this one is not younger than what Flush reported
			if err == t.ahead[0] {
				t.ahead = t.ahead[1:]
			}
			return
		}
		t.denial = err
		if !asked {
			t.denied = err
		}
	}
}

func (t *Transport) closedForGood(err error) {
	t.mu.Lock()
	own := t.isClosed
	t.mu.Unlock()
	if !own && t.cfg.OnClosed != nil {
		t.cfg.OnClosed(err)
	}
}

// Publish implements wire.Transport.
func (t *Transport) Publish(subject string, data []byte) error {
	return t.send(&nats.Msg{Subject: subject, Data: data})
}

// send publishes m, in parts if it is too large for one message. A reply subject goes with the last part.
func (t *Transport) send(m *nats.Msg) error {
	parts, err := split(m, t.limit())
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err := t.nc.PublishMsg(p); errors.Is(err, nats.ErrReconnectBufExceeded) {
			return wire.ErrAway
		} else if err != nil {
			return err
		}
	}
	return nil
}

// limit returns the largest payload that is sent in one message.
func (t *Transport) limit() int {
	if most := int(t.nc.MaxPayload()); most > 0 && most < partSize+headroom {
		return max(most-headroom, most/2)
	}
	return partSize
}

// Subscribe implements wire.Transport.
func (t *Transport) Subscribe(subject string, f func(wire.Msg)) (wire.Subscription, error) {
	var j joiner
	s, err := t.nc.Subscribe(subject, func(m *nats.Msg) {
		whole, ok := j.join(m)
		if !ok {
			return
		}
		t.gate.RLock()
		defer t.gate.RUnlock()
		if t.closed {
			return
		}
		f(t.received(m, whole))
	})
	if err != nil {
		return nil, err
	}
	// A slow receiver must not lose messages below the size of a fleet's answers.
	if err := s.SetPendingLimits(1<<20, 512<<20); err != nil {
		return nil, err
	}
	return s, nil
}

func (t *Transport) received(m *nats.Msg, whole []byte) wire.Msg {
	msg := wire.Msg{Subject: m.Subject, Data: whole, Reply: m.Reply}
	if m.Reply != "" {
		msg.Respond = func(data []byte) error { return t.send(&nats.Msg{Subject: m.Reply, Data: data}) }
	}
	return msg
}

// Flush implements wire.Transport. It reports a subscription or publication that the broker did not permit. If the
// broker does not answer and its machine acknowledges nothing either, another connection is made: that is there as soon
// as the network is, while the kernel tries the old one less and less often.
func (t *Transport) Flush(ctx context.Context) error {
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.cfg.orDefault().Timeout)
		defer cancel()
	}
	if err := t.nc.FlushWithContext(ctx); errors.Is(err, nats.ErrReconnectBufExceeded) {
		return wire.ErrAway
	} else if err != nil {
		if errors.Is(err, context.DeadlineExceeded) && t.stuck() {
			t.cfg.Logger.Info().Msg("the line to the broker is silent: a new connection is made")
			_ = t.Reconnect() // else the old one goes on trying
		}
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	// The error handler runs in its own goroutine and may be late; the connection knows at once.
	if err := t.nc.LastError(); errors.Is(err, nats.ErrPermissionViolation) && err != t.denial {
		t.denied, t.denial, t.ahead = err, err, append(t.ahead, err)
	}
	err := t.denied
	if err != nil {
		t.denied = nil
		return fmt.Errorf("%w: %v", wire.ErrDenied, err)
	}
	return nil
}

// Close implements wire.Transport.
func (t *Transport) Close() error {
	t.mu.Lock()
	t.isClosed = true
	t.mu.Unlock()
	t.nc.Close()
	t.gate.Lock()
	defer t.gate.Unlock()
	t.closed = true
	return nil
}
