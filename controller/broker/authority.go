package broker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"hark/agent/wire"
)

// Authority decides who may connect to the broker, and to what: NATS's operator mode, in which a user's credentials are a
// token signed for his public key. It has an account for hark with two roles, agents and controllers. Its keys are made
// at the first start and lie in the broker's data directory; nobody else needs them.
//
// What the roles may do is defence in depth. An agent believes an operator's signature and not the broker.
type Authority struct {
	operator, account, system nkeys.KeyPair
	agents, controllers       nkeys.KeyPair // that sign the tokens of a role
}

// OpenAuthority reads the keys below data, or makes them.
func OpenAuthority(data string) (*Authority, error) {
	dir := filepath.Join(data, "keys")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot keep the broker's keys: %v", err)
	}
	a := &Authority{}
	for _, k := range []struct {
		name   string
		to     *nkeys.KeyPair
		create func() (nkeys.KeyPair, error)
	}{
		{"operator", &a.operator, nkeys.CreateOperator},
		{"account", &a.account, nkeys.CreateAccount},
		{"system", &a.system, nkeys.CreateAccount},
		{"agents", &a.agents, nkeys.CreateAccount},
		{"controllers", &a.controllers, nkeys.CreateAccount},
	} {
		pair, err := openKey(filepath.Join(dir, k.name+".nk"), k.create)
		if err != nil {
			return nil, err
		}
		*k.to = pair
	}
	return a, nil
}

func openKey(path string, create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, error) {
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
	if err := writeWhole(path, string(seed)+"\n"); err != nil {
		return nil, fmt.Errorf("cannot keep the broker's key: %w", err)
	}
	return pair, nil
}

// Agent is the token of an agent with the given public key. It may listen to what is sent to it and speak for itself.
func (a *Authority) Agent(key string) (string, error) { return a.token(a.agents, key) }

// Controller is the token of an operator with the given public key.
func (a *Authority) Controller(key string) (string, error) { return a.token(a.controllers, key) }

// token is a user's token; what it permits is the template of its signer in the account.
func (a *Authority) token(role nkeys.KeyPair, key string) (string, error) {
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
	user.UserPermissionLimits = jwt.UserPermissionLimits{} // all from the template
	return user.Encode(role)
}

// answerTime is how long an agent may take to answer a message that wants an answer.
const answerTime = 2 * time.Minute

// agentRole is what PROTOCOL.md section 5 lets agents do.
func agentRole() jwt.Permissions {
	return jwt.Permissions{
		Pub: jwt.Permission{Allow: jwt.StringList{
			wire.Results("*", "{{name()}}", ">"), wire.Questions("{{name()}}", "*", ">"), wire.Presence("{{name()}}", ">"),
		}},
		Sub:  jwt.Permission{Allow: jwt.StringList{wire.ToHost("{{name()}}", ">"), wire.ToRun("*", ">"), wire.ToAll(">"), wire.Inbox("{{name()}}") + ".>"}},
		Resp: &jwt.ResponsePermission{MaxMsgs: wire.MaxMessage >> 18, Expires: answerTime}, // an answer may come in parts
	}
}

// controllerRole: a controller commands agents, hears all of them, and reads the roster's stream.
func controllerRole() jwt.Permissions {
	return jwt.Permissions{
		Pub: jwt.Permission{Allow: jwt.StringList{wire.Prefix + ".t.>", wire.Inbox(">"), "$JS.API.>", "$JS.FC.>"}},
		Sub: jwt.Permission{Allow: jwt.StringList{wire.ResultsOfRun("*"), wire.QuestionsOfRun("*"), wire.PresenceOfAll(">"), wire.Inbox("{{name()}}") + ".>"}},
	}
}

// configure makes a server take only users with a token of this authority.
func (a *Authority) configure(o *server.Options) error {
	operator, err := a.operator.PublicKey()
	if err != nil {
		return err
	}
	system, err := a.system.PublicKey()
	if err != nil {
		return err
	}
	claims := jwt.NewOperatorClaims(operator)
	claims.Name, claims.SystemAccount = "hark", system
	trusted, err := claims.Encode(a.operator)
	if err != nil {
		return err
	}
	if claims, err = jwt.DecodeOperatorClaims(trusted); err != nil {
		return err
	}
	accounts, err := a.accounts()
	if err != nil {
		return err
	}
	resolver := &server.MemAccResolver{}
	for key, token := range accounts {
		if err := resolver.Store(key, token); err != nil {
			return err
		}
	}
	o.TrustedOperators = []*jwt.OperatorClaims{claims}
	o.SystemAccount = system
	o.AccountResolver = resolver
	return nil
}

// accounts are the tokens of hark's account and of the server's own, by public key.
func (a *Authority) accounts() (map[string]string, error) {
	out := map[string]string{}
	add := func(pair nkeys.KeyPair, name string, complete func(*jwt.AccountClaims) error) error {
		key, err := pair.PublicKey()
		if err != nil {
			return err
		}
		claims := jwt.NewAccountClaims(key)
		claims.Name = name
		if err := complete(claims); err != nil {
			return err
		}
		out[key], err = claims.Encode(a.operator)
		return err
	}
	err := errors.Join(
		add(a.system, "SYS", func(*jwt.AccountClaims) error { return nil }),
		add(a.account, "hark", func(c *jwt.AccountClaims) error {
			c.Limits.JetStreamLimits = jwt.JetStreamLimits{
				MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit,
				MaxAckPending: jwt.NoLimit,
			}
			return errors.Join(addRole(c, a.agents, "agent", agentRole()), addRole(c, a.controllers, "controller", controllerRole()))
		}),
	)
	return out, err
}

func addRole(c *jwt.AccountClaims, signer nkeys.KeyPair, name string, p jwt.Permissions) error {
	key, err := signer.PublicKey()
	if err != nil {
		return err
	}
	scope := jwt.NewUserScope()
	scope.Key, scope.Role = key, name
	scope.Template.Permissions = p
	c.SigningKeys.AddScopedSigner(scope)
	return nil
}
