package nats

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/rs/zerolog"

	"hark/agent/wire"
)

// Config says how to reach the broker, and with which identity.
type Config struct {
	// URL is one address or several with commas: nats://host:4222, tls://host:4222.
	URL string
	// ID is the id of this client (wire.Identity.ID): the prefix of its inboxes.
	ID string
	// Name is shown in the broker's list of connections.
	Name string
	// JWT is the token for a broker that asks for one (operator mode), given to the key of Identity.
	JWT      string
	Identity *wire.Identity
	// Token, if set, gives the JWT at each connection, since it may have been renewed.
	Token func() string
	// Credentials is a file with a token, read at each connection so that it can be renewed; if it holds a seed too
	// (.creds), that opens the connection and not Identity.
	Credentials string
	TLS         *tls.Config
	// Open, if set, gives the connection to the broker in place of dialling URL.
	Open func() (net.Conn, error)
	// Once is for a connection that cannot be had again: when it ends, it is closed for good.
	Once bool
	// Patient waits for a broker that is not there yet, for ever, as agents do; without it Dial fails at once.
	Patient bool
	// Timeout is how long one attempt to connect may take; 0 is 5 s, for those who are Patient 15 s once the broker's
	// machine has answered: a broker that was away has many to greet.
	Timeout time.Duration
	// FleetSize is how many agents share the broker, 0 if it is not known; SetFleetSize changes it.
	FleetSize int
	// MaxDelay is the longest pause before an attempt to connect again; 0 is wire.Spread of the Crowd for those who
	// are Patient, else a second. Pauses are drawn from the whole range and do not grow, so that a fleet comes back
	// one after another, and soon after the broker.
	MaxDelay time.Duration
	// Explain, if set, says more of why the broker could not be reached.
	Explain func(error) error
	Logger  zerolog.Logger
	// OnConnect is called after each connection, the first one too, from a goroutine of the transport.
	OnConnect func()
	// OnClosed is called when the connection is closed for good though nobody called Close: the broker refused the
	// credentials twice. Those who are Patient try on: credentials may be given back.
	OnClosed func(error)
}

func (c Config) options(t *Transport) []nats.Option {
	c = c.orDefault()
	o := []nats.Option{
		nats.Name(c.Name),
		nats.CustomInboxPrefix(wire.Inbox(c.ID)),
		nats.Timeout(c.Timeout),
		nats.SetCustomDialer(t.dialer), // it finds hosts itself
		nats.SkipHostLookup(),
		nats.MaxReconnects(-1),
		nats.CustomReconnectDelay(t.delay),
		nats.RetryOnFailedConnect(c.Patient),
		nats.PingInterval(20 * time.Second),
		nats.MaxPingsOutstanding(2),
		// Publishing while the broker is away must fail: the outbox sends it again, and a request that arrives minutes late
		// is worse than none.
		nats.ReconnectBufSize(-1),
		nats.DontRandomize(),
		nats.ConnectHandler(func(*nats.Conn) { t.connected("connected to the broker") }),
		nats.ReconnectHandler(func(*nats.Conn) { t.connected("connected to the broker again") }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			t.disconnected(err)
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { t.unreachable(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, s *nats.Subscription, err error) { t.asyncError(s, err) }),
		nats.ClosedHandler(func(nc *nats.Conn) { t.closedForGood(nc.LastError()) }),
	}
	if c.TLS != nil {
		o = append(o, nats.Secure(c.TLS))
	}
	if c.Patient {
		o = append(o, nats.IgnoreAuthErrorAbort())
	}
	if c.Once {
		o = append(o, nats.NoReconnect())
	}
	if c.Open != nil {
		o = append(o, nats.InProcessServer(opener(c.Open)))
	}
	switch {
	case c.Credentials != "":
		o = append(o, nats.UserJWT(c.token, challenged(c.sign)))
	case c.Token != nil && c.Token() != "":
		o = append(o, nats.UserJWT(func() (string, error) { return c.Token(), nil }, challenged(c.Identity.Sign)))
	case c.JWT != "":
		o = append(o, nats.UserJWT(func() (string, error) { return c.JWT, nil }, challenged(c.Identity.Sign)))
	}
	return o
}

// token reads the token of the credentials file.
func (c Config) token() (string, error) { return ReadToken(c.Credentials) }

// ReadToken reads the token of a credentials file.
func ReadToken(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("cannot read the credentials: %w", err)
	}
	token, err := nkeys.ParseDecoratedJWT(text)
	if token = strings.TrimSpace(token); err != nil || strings.Count(token, ".") != 2 {
		return "", fmt.Errorf("cannot read the credentials: there is no token in %s", path)
	}
	return token, nil
}

// mostChallenge is the longest challenge that is signed. Those of servers have 15 characters.
const mostChallenge = 64

// challenged signs a server's challenge and nothing else. The same key signs messages: a broker that sends a header as
// its challenge would get a message signed that the owner never wrote.
func challenged(sign func([]byte) ([]byte, error)) func([]byte) ([]byte, error) {
	return func(nonce []byte) ([]byte, error) {
		foreign := func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
		}
		if len(nonce) > mostChallenge || bytes.ContainsFunc(nonce, foreign) {
			return nil, fmt.Errorf("the broker wants %.100q signed, which is no challenge", nonce)
		}
		return sign(nonce)
	}
}

// sign signs the server's challenge with the key of the credentials file, or this side's own.
func (c Config) sign(nonce []byte) ([]byte, error) {
	text, err := os.ReadFile(c.Credentials)
	if err != nil {
		return nil, fmt.Errorf("cannot read the credentials: %w", err)
	}
	pair, err := nkeys.ParseDecoratedUserNKey(text)
	if err == nil {
		defer pair.Wipe()
		return pair.Sign(nonce)
	}
	if c.Identity == nil {
		return nil, fmt.Errorf("cannot use the credentials %s: %w", c.Credentials, err)
	}
	return c.Identity.Sign(nonce)
}

// Refused reports whether a broker was there and rejected the credentials.
func Refused(err error) bool {
	return slices.ContainsFunc([]error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked,
		nats.ErrAccountAuthExpired}, func(kind error) bool { return errors.Is(err, kind) })
}

// CheckURL returns what is wrong with the URL of a broker, or of several with commas between them. A scheme is not
// needed here: without one it is nats, as everywhere with NATS.
func CheckURL(text string) error {
	for _, one := range strings.Split(text, ",") {
		one = strings.TrimSpace(one)
		if !strings.Contains(one, "://") {
			one = "nats://" + one
		}
		if !ValidURL(one) {
			return fmt.Errorf("%.300q is not the URL of a broker, such as tls://broker.example.org:4222", text)
		}
	}
	return nil
}

// ValidURL reports whether text can be the URL of a broker, or several separated by commas, that others receive.
func ValidURL(text string) bool {
	for _, one := range strings.Split(text, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil || u.Host == "" || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
			return false
		}
	}
	return true
}

// opener is a func that returns an open connection to nats.go.
type opener func() (net.Conn, error)

// InProcessConn implements nats.InProcessConnProvider.
func (o opener) InProcessConn() (net.Conn, error) { return o() }

func (c Config) orDefault() Config {
	switch {
	case c.Timeout > 0:
	case c.Patient:
		c.Timeout = 15 * time.Second
	default:
		c.Timeout = 5 * time.Second
	}
	return c
}
