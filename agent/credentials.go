package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"hark/agent/wire"
)

// Credentials let an agent connect to the broker. They expire, and the agent renews them over its connection:
//
//	kept --a third of their life is over--> asked for --> newer ones kept --agent idle--> connected with them
//
// When credentials expire, the broker closes connections that use them. The agent then connects with the newer ones.
type Credentials interface {
	// Token returns the token for the next connection, "" if the broker requires none.
	Token() string
	// Keep stores a newer token for the next connection, also after a restart.
	Keep(token string) error
	// Reconnect closes the connection and connects again.
	Reconnect() error
}

// The pauses between two checks of the credentials are a fraction of their lifetime.
const (
	looksPerLife = 60
	longestLook  = 10 * time.Minute
	renewLimit   = 15 * time.Second
)

// credentialRenewal asks for newer credentials while the agent runs.
type credentialRenewal struct {
	cfg   *Config
	id    string
	codec *wire.Codec
	busy  func() bool // see Agent.Busy
}

// run renews the credentials until ctx is done.
func (r *credentialRenewal) run(ctx context.Context) {
	if r.cfg.Credentials == nil || r.cfg.Credentials.Token() == "" {
		return
	}
	var renewed time.Time // by this process
	unused := false       // the connection uses older ones than the stored ones
	for {
		had, err := wire.ParseToken(r.cfg.Credentials.Token())
		if err != nil {
			r.cfg.Logger.Error().AnErr("cause", err).Msg("cannot renew the credentials for the broker")
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookAgain(had.Life())):
		}
		if unused && !r.busy() {
			unused = r.cfg.Credentials.Reconnect() != nil
		}
		now := r.cfg.Now()
		if !due(had, now, renewed) {
			continue
		}
		if err := r.renew(ctx, had); err != nil {
			r.cfg.Logger.Warn().AnErr("cause", err).Time("expires", had.Expires).
				Msg("cannot renew the credentials for the broker yet")
			continue
		}
		renewed, unused = now, true
	}
}

// lookAgain returns a random pause up to a fraction of the lifetime, so that the agents of a fleet do not ask all at
// once.
func lookAgain(life time.Duration) time.Duration {
	pause := min(life/looksPerLife, longestLook)
	if life <= 0 {
		pause = longestLook
	}
	return pause/2 + rand.N(pause/2+1)
}

// due reports whether it is time for newer credentials. If this host's clock is wrong, renewed counts: the time at
// which this process last got new ones.
func due(had wire.Token, now, renewed time.Time) bool {
	third := had.Life() / 3
	if !renewed.IsZero() && had.Life() > 0 && now.Sub(renewed).Abs() < third {
		return false
	}
	age := now.Sub(had.Issued)
	return had.Life() == 0 || age > third || age < -wire.Skew
}

// renew asks the registrar for newer credentials and stores them. It rejects credentials that the
// authority of the current ones did not sign: with them the broker could lock this agent out.
func (r *credentialRenewal) renew(ctx context.Context, had wire.Token) error {
	frame, err := r.codec.Pack(wire.Header{Kind: wire.KindRights, Fleet: r.cfg.Fleet},
		wire.Rights{JWT: r.cfg.Credentials.Token()},
		wire.Packing{Sign: r.cfg.Identity, Now: r.cfg.Now})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, renewLimit)
	defer cancel()
	raw, err := r.cfg.Transport.Request(ctx, wire.Credentials(r.id), frame)
	switch {
	case errors.Is(err, wire.ErrNoResponder):
		return errors.New("nobody enrols agents at this broker")
	case err != nil:
		return err
	}
	var answer wire.Joined
	if err := json.Unmarshal(raw, &answer); err != nil {
		return fmt.Errorf("cannot read the registrar's answer: %w", err)
	}
	if answer.Err != "" {
		return errors.New(answer.Err)
	}
	next, err := wire.ParseToken(answer.JWT)
	if err == nil && !next.Renews(had) {
		err = errors.New("they are not newer ones of the same authority for this agent")
	}
	if err != nil {
		return fmt.Errorf("cannot use the credentials that came: %w", err)
	}
	if err := r.cfg.Credentials.Keep(answer.JWT); err != nil {
		return err
	}
	r.cfg.Logger.Info().Time("expires", next.Expires).Msg("credentials for the broker renewed")
	return nil
}
