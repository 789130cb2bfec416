// Package fleet is an operator's connection to his fleet: where the broker is, as whom he reaches it, which agents
// are there, and how it stands with those that are not. Commands dial, ask and close; what runs are is the matter of
// packages link and play.
package fleet

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/fleet/trust"
)

// ErrNoBroker is why a host has no agent when nobody said where the broker is.
var ErrNoBroker = errors.New("no broker is configured: set HARK_BROKER, broker= in the [hark] section of ansible.cfg, or --broker, or start one with `hark broker run` " +
	"(hosts with ansible_connection=local need none)")

// Dialer knows how this operator reaches brokers.
type Dialer struct {
	// Home is the directory of the operator's own files, OperatorKey the file of his key.
	Home, OperatorKey string
	// CA is a file with the authority to trust in place of the broker's own, Credentials one with a token in place of
	// the access on record; "" for none.
	CA, Credentials string
	// Timeout is how long connecting may take.
	Timeout time.Duration
	// Name is what the broker shows of the connection.
	Name string
	// Logger makes the log of a connection.
	Logger func() zerolog.Logger
	// Warn and Say tell the user, Say only if he wants to know much.
	Warn, Say func(text string)
}

// Dial connects to the broker of the flags or settings, or to the one that the operator has access to.
func (d *Dialer) Dial(ctx context.Context, url string) (*Connection, error) {
	access, err := d.Access(url)
	if err != nil {
		return nil, err
	}
	operator, created, err := trust.LoadOrCreate(d.OperatorKey, d.Home)
	if err != nil {
		return nil, err
	}
	if created {
		d.Say("Made an operator key: " + d.OperatorKey)
	}
	known, err := trust.OpenKnown(d.Home, d.Warn)
	if err != nil {
		return nil, err
	}
	if d.Credentials != "" {
		if access.Token, err = nats.ReadToken(d.Credentials); err != nil {
			return nil, err
		}
	}
	token := NewCredentials(operator, access.Token, brokerRecord{d.Home, access.URL})
	t, err := d.reach(ctx, operator, access, token, d.Credentials)
	if err != nil {
		return nil, err
	}
	b := &Connection{
		token:     token,
		Transport: t, home: d.Home, URL: access.URL, Access: access, Operator: operator, Known: known,
		believed: append([]string{operator.Key}, access.Operators...), believers: trust.NewTrustedOperators(d.Home,
			access.URL, access.Operators),
	}
	b.Roster = roster.New(t.Conn(), known)
	loadSharedKeys(d.Home, operator, b.Roster.Verified)
	if !access.ReadOnly { // who only looks may ask no agent
		b.Roster.Ask = b.greet
	}
	if access.Token != "" {
		b.Roster.Vouch = b.vouch
		if d.Credentials == "" {
			log := d.Logger()
			b.keepCredentials(func(err error) { log.Warn().AnErr("cause", err).Msg("credentials") })
		}
	}
	return b, nil
}

// Reach connects an operator to a broker. A file with credentials replaces the access's own.
func (d *Dialer) Reach(ctx context.Context, operator *wire.Identity, access trust.Access, credentials string) (*nats.Transport, error) {
	return d.reach(ctx, operator, access, NewCredentials(operator, access.Token, brokerRecord{d.Home, access.URL}),
		credentials)
}

func (d *Dialer) reach(ctx context.Context, operator *wire.Identity, access trust.Access, token *Credentials,
	credentials string) (*nats.Transport, error) {
	conf, err := d.TLS(access.CA)
	if err != nil {
		return nil, err
	}
	t, err := nats.Dial(ctx, nats.Config{
		URL: access.URL, ID: operator.ID(), Name: d.Name, Identity: operator, Token: token.Token, Credentials: credentials, TLS: conf,
		Logger: d.Logger(), Timeout: d.Timeout,
	})
	if err != nil {
		why := whyRefused(err, operator, token.Token())
		return nil, fmt.Errorf("cannot reach the broker at %s: %w%s", access.URL, err, why)
	}
	return t, nil
}

// whyRefused says why a broker that is there lets this operator not in, "" if it is not there: the broker itself only
// says that it does not.
func whyRefused(refused error, operator *wire.Identity, token string) string {
	if !nats.Refused(refused) {
		return ""
	}
	t, err := wire.ParseToken(token)
	if err != nil || t.Expires.IsZero() || t.Expires.After(time.Now()) {
		return fmt.Sprintf(" (this operator, %s, was expelled or never admitted, "+
			"or this is another broker than the one that "+
			"admitted it: `hark broker operators`, where the broker's keys are, lists who is admitted)", operator.Key)
	}
	return fmt.Sprintf(" (this operator's credentials expired on %s: `hark broker admit %s`, where the broker's keys are, gives new ones)",
		t.Expires.Local().Format(time.DateTime), t.Subject)
}

// Access returns how to reach a broker, "" for the operator's own.
func (d *Dialer) Access(url string) (trust.Access, error) {
	brokers, err := trust.OpenBrokers(d.Home)
	if err != nil {
		return trust.Access{}, err
	}
	access := brokers.For(url)
	if access.URL == "" {
		return access, ErrNoBroker
	}
	return access, nil
}

// TLS trusts the authority of the settings, or the broker's own (PEM), nil for the system's.
func (d *Dialer) TLS(own string) (*tls.Config, error) {
	path := d.CA
	if path == "" {
		return nats.TLS(own)
	}
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the broker's certificate authority: %w", err)
	}
	c, err := nats.TLS(string(pem))
	if err != nil {
		return nil, fmt.Errorf("cannot use %s as certificate authority: %w", path, err)
	}
	return c, nil
}

// The wait for a broker that is being started again: systemd takes two seconds for it.
const (
	restartLimit = 4 * time.Second
	restartPause = 200 * time.Millisecond
)

// DialPatiently connects to a broker as Dial does. One that is on record, and whose machine says that nobody listens,
// may be being started again.
func (d *Dialer) DialPatiently(ctx context.Context, url string) (*Connection, error) {
	for until := time.Now().Add(restartLimit); ; {
		b, err := d.Dial(ctx, url)
		if !errors.Is(err, syscall.ECONNREFUSED) || !d.onRecord(url) || time.Now().After(until) {
			return b, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(restartPause):
		}
	}
}

// onRecord reports whether a broker was given to this operator, under this URL.
func (d *Dialer) onRecord(url string) bool {
	brokers, err := trust.OpenBrokers(d.Home)
	if err != nil {
		return false
	}
	_, ok := brokers.Brokers[cmp.Or(url, brokers.Default)]
	return ok
}

// Agents returns all agents of the fleet at a broker.
func (d *Dialer) Agents(ctx context.Context, url string) ([]Agent, error) {
	c, err := d.Dial(ctx, url)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Agents(ctx)
}

// State describes how it stands with a broker.
func (d *Dialer) State(ctx context.Context, url string) (State, error) {
	c, err := d.Dial(ctx, url)
	if err != nil {
		return State{}, err
	}
	defer c.Close()
	return c.State(ctx)
}
