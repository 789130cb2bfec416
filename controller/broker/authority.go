package broker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"hark/agent/atomicfile"
	"hark/agent/wire"
)

// Authority decides who may connect to the broker, and to what: NATS's operator mode, in which a user's credentials
// are a token signed for his public key. It has an account for hark with a role for each kind of user. Its keys are
// made at the first start and lie in the broker's data directory; nobody else needs them.
//
// What the roles may do is defence in depth. An agent believes an operator's signature and not the broker.
type Authority struct {
	// AgentLife is for how long the credentials of agents are good, which renew them in time; 0 is DefaultAgentLife.
	AgentLife time.Duration
	// OperatorLife is for how long those of operators are, which are renewed when they are used; 0 is
	// DefaultOperatorLife.
	OperatorLife time.Duration

	dir                       string
	operator, account, system nkeys.KeyPair
	roles                     map[role]nkeys.KeyPair // that sign the tokens of a role
}

// role is what a user may do, see permissions.
type role string

const (
	agents      role = "agents"
	controllers role = "controllers"
	joiners     role = "joiners"    // who may ask to be enrolled, and nothing else
	registrars  role = "registrars" // who enrols
	readers     role = "readers"    // who may look at the roster and at records, and command nobody
	listeners   role = "listeners"  // who may hear what is told in clear, and nothing else
)

// DefaultAgentLife is for how long an agent's credentials are good: a host may be away for most of it and come back
// by itself.
const DefaultAgentLife = 30 * 24 * time.Hour

// OpenAuthority reads the keys below data, or makes them.
func OpenAuthority(data string) (*Authority, error) {
	a := &Authority{dir: filepath.Join(data, "keys"), roles: map[role]nkeys.KeyPair{}}
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot keep the broker's keys: %v", err)
	}
	for _, k := range []struct {
		name   string
		to     *nkeys.KeyPair
		create func() (nkeys.KeyPair, error)
	}{
		{"operator", &a.operator, nkeys.CreateOperator},
		{"account", &a.account, nkeys.CreateAccount},
		{"system", &a.system, nkeys.CreateAccount},
	} {
		pair, err := a.openKey(k.name, k.create)
		if err != nil {
			return nil, err
		}
		*k.to = pair
	}
	for _, r := range []role{agents, controllers, joiners, registrars, readers, listeners} {
		pair, err := a.openKey(string(r), nkeys.CreateAccount)
		if err != nil {
			return nil, err
		}
		a.roles[r] = pair
	}
	return a, nil
}

func (a *Authority) openKey(name string, create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, error) {
	path := filepath.Join(a.dir, name+".nk")
	seed, err := os.ReadFile(path)
	if err == nil {
		pair, err := nkeys.ParseDecoratedNKey(seed)
		if err != nil {
			return nil, fmt.Errorf("cannot read the broker's key %s: %v", path, err)
		}
		return pair, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read the broker's key: %v", err)
	}
	pair, err := create()
	if err != nil {
		return nil, err
	}
	if seed, err = pair.Seed(); err != nil {
		return nil, err
	}
	if err := atomicfile.Write(path, append(seed, '\n')); err != nil {
		return nil, fmt.Errorf("cannot keep the broker's key: %w", err)
	}
	return pair, a.give(path)
}

// Agent returns the token of an agent with the given public key. It may listen to what is sent to it and speak for
// itself, for AgentLife.
func (a *Authority) Agent(key string) (string, error) {
	life := a.AgentLife
	if life <= 0 {
		life = DefaultAgentLife
	}
	return a.token(agents, key, time.Now().Add(life))
}

// Controller returns the token of an operator with the given public key.
func (a *Authority) Controller(key string) (string, error) {
	return a.ControllerUntil(key, time.Time{}, true)
}

// ControllerUntil is Controller for a time; the zero time is for ever. Who does not manage agents may command those
// that obey him, and ask the registrar who is there.
func (a *Authority) ControllerUntil(key string, expires time.Time, manages bool) (string, error) {
	if manages {
		return a.token(controllers, key, expires)
	}
	return a.token(controllers, key, expires, playsOnly)
}

// Reader returns the token of somebody who may only look, with the given public key; the zero time is for ever.
func (a *Authority) Reader(key string, expires time.Time) (string, error) {
	return a.token(readers, key, expires)
}

// Listener returns the token of somebody who may only hear events, with the given public key; the zero time is for
// ever.
func (a *Authority) Listener(key string, expires time.Time) (string, error) {
	return a.token(listeners, key, expires)
}

// Joiner returns the token of somebody who may ask to be enrolled, until it expires.
func (a *Authority) Joiner(key string, expires time.Time) (string, error) {
	return a.token(joiners, key, expires)
}

// Registrar returns the token of the one who enrols agents.
func (a *Authority) Registrar(key string) (string, error) {
	return a.token(registrars, key, time.Time{})
}

// token returns a user's token; what it permits is the template of its signer in the account.
func (a *Authority) token(r role, key string, expires time.Time, tags ...string) (string, error) {
	if !wire.ValidKey(key) {
		return "", fmt.Errorf("cannot give credentials to %q: that is not a public key", key)
	}
	account, err := a.account.PublicKey()
	if err != nil {
		return "", err
	}
	user := jwt.NewUserClaims(key)
	user.Name = wire.IDOf(key)
	user.IssuerAccount = account
	user.Tags.Add(tags...)
	if !expires.IsZero() {
		user.Expires = expires.Unix()
	}
	user.UserPermissionLimits = jwt.UserPermissionLimits{} // all from the template
	return user.Encode(a.roles[r])
}

// System returns a token for the servers' own account, which may replace accounts.
func (a *Authority) System(key string) (string, error) {
	user := jwt.NewUserClaims(key)
	user.Name = "hark registrar"
	return user.Encode(a.system)
}

// IsController reports whether text is a good token that this authority gave to an operator, the key that it was
// given to, and whether he may let agents in and out.
func (a *Authority) IsController(text string) (key string, manages, ok bool) {
	claims := a.is(controllers, text)
	if claims == nil {
		return "", false, false
	}
	return claims.Subject, !claims.Tags.Contains(playsOnly), true
}

// IsAgent reports whether text is a good token that this authority gave to an agent, and the key that it was given to.
func (a *Authority) IsAgent(text string) (key string, ok bool) {
	claims := a.is(agents, text)
	if claims == nil {
		return "", false
	}
	return claims.Subject, true
}

// is returns what a token of a role says that has neither expired nor been revoked, nil if text is none.
func (a *Authority) is(r role, text string) *jwt.UserClaims {
	claims, err := jwt.DecodeUserClaims(text)
	if err != nil {
		return nil
	}
	signer, err := a.roles[r].PublicKey()
	if err != nil || claims.Issuer != signer || claims.Expires > 0 && claims.Expires <= time.Now().Unix() {
		return nil
	}
	revoked, err := a.Revoked()
	if at, is := revoked[claims.Subject]; err != nil || is && claims.IssuedAt <= at.Unix() {
		return nil
	}
	return claims
}
