package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/jwt/v2"

	"hark/agent/wire"
	"hark/controller/internal/fleet/trust"
)

// Credentials are an operator's token for a broker. It is renewed over the connection that it opened once a third of
// its life is over, and kept in the record of brokers. They are safe for concurrent use.
type Credentials struct {
	operator *wire.Identity
	onRecord CredentialStore
	codec    wire.Codec

	mu    sync.Mutex
	token string // guarded by mu
}

// CredentialStore is where an access is on record. Other processes use it too.
type CredentialStore interface {
	// Token is what is on record now.
	Token() (string, error)
	// Renew enters a newer token in the place of one.
	Renew(old, newer string) error
}

// NewCredentials returns those of an access.
func NewCredentials(operator *wire.Identity, token string, onRecord CredentialStore) *Credentials {
	return &Credentials{operator: operator, token: token, onRecord: onRecord}
}

// brokerRecord is the record of brokers of a directory as a CredentialStore for one of them.
type brokerRecord struct{ home, url string }

func (r brokerRecord) Token() (string, error) {
	brokers, err := trust.OpenBrokers(r.home)
	if err != nil {
		return "", err
	}
	return brokers.For(r.url).Token, nil
}

func (r brokerRecord) Renew(old, newer string) error {
	brokers, err := trust.OpenBrokers(r.home)
	if err != nil {
		return err
	}
	return brokers.Renew(old, newer)
}

// Token returns what the next connection uses, "" if the broker asks for none.
func (c *Credentials) Token() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.token
}

// Renewed reports whether a token is renewed when it is used.
func Renewed(token string) bool {
	claims, err := jwt.DecodeUserClaims(token)
	return err == nil && slices.Contains(claims.Tags, "renews")
}

// Ends returns when an access ends that somebody has to give anew: the zero time for never, and for credentials that
// renew themselves in time.
func Ends(token string) time.Time {
	claims, err := jwt.DecodeUserClaims(token)
	if err != nil || claims.Expires == 0 {
		return time.Time{}
	}
	t := wire.Token{Issued: time.Unix(claims.IssuedAt, 0), Expires: time.Unix(claims.Expires, 0)}
	if slices.Contains(claims.Tags, "renews") && time.Now().Before(t.Expires.Add(-t.Life()/3)) {
		return time.Time{}
	}
	return t.Expires
}

// The pauses between two looks are a part of the life of the credentials.
const (
	looksPerLife = 60
	longestLook  = time.Hour
	shortestLook = 50 * time.Millisecond
	renewLimit   = 5 * time.Second
)

// Keep renews the credentials over their connection until ctx is over. warn is told why that fails.
func (c *Credentials) Keep(ctx context.Context, over wire.Transport, warn func(error)) {
	if !Renewed(c.Token()) {
		return
	}
	began := time.Now()
	for {
		had, err := wire.ParseToken(c.Token())
		if err != nil {
			return
		}
		if due(had, time.Now()) {
			err := c.renew(ctx, over, had)
			if err == nil && time.Since(began) > had.Life()/3 {
				err = reconnect(over)
			}
			if err != nil && ctx.Err() == nil {
				warn(fmt.Errorf("the credentials for the broker, which end on %s, cannot be renewed yet: %w",
					had.Expires.Local().Format(time.DateTime), err))
			}
		}
		pause := max(min(had.Life()/looksPerLife, longestLook), shortestLook)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause/2 + rand.N(pause/2+1)):
		}
	}
}

// reconnect has a connection that lasts use the newer credentials before the broker cuts it: nats.go gives a server up
// that has cut it twice for that.
func reconnect(over wire.Transport) error {
	if t, ok := over.(interface{ Reconnect() error }); ok {
		return t.Reconnect()
	}
	return nil
}

// due reports whether it is time for newer credentials.
func due(had wire.Token, now time.Time) bool { return now.Sub(had.Issued) > had.Life()/3 }

// renew takes the credentials that another process of this operator was given meanwhile, or asks the registrar for
// some.
func (c *Credentials) renew(ctx context.Context, over wire.Transport, had wire.Token) error {
	if other, err := c.onRecord.Token(); err == nil && renews(other, had) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.token = other
		return nil
	}
	old := c.Token()
	frame, err := c.codec.Pack(wire.Header{Kind: wire.KindRights}, wire.Rights{JWT: old, Reader: c.operator.XKey},
		wire.Packing{Sign: c.operator})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, renewLimit)
	defer cancel()
	raw, err := over.Request(ctx, wire.Credentials(c.operator.ID()), frame)
	if err != nil {
		return err
	}
	var answer wire.Joined
	if err := json.Unmarshal(raw, &answer); err != nil {
		return fmt.Errorf("cannot read the registrar's answer: %w", err)
	}
	switch {
	case answer.Err != "":
		return errors.New(answer.Err)
	case !renews(answer.JWT, had):
		return errors.New("what came are no newer credentials of the same authority for this operator")
	}
	c.mu.Lock()
	c.token = answer.JWT
	c.mu.Unlock()
	return c.onRecord.Renew(old, answer.JWT)
}

// renews reports whether a token may stand in the place of another.
func renews(token string, had wire.Token) bool {
	t, err := wire.ParseToken(token)
	return err == nil && t.Renews(had)
}
