package broker

import (
	"encoding/json"
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
	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/fleet/factcache"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/runs/ledger"
	"hark/controller/internal/statefile"
)

// answerTime is how long an agent may take to answer a message that wants an answer.
const answerTime = 2 * time.Minute

// permissions are what the users of a role may do (PROTOCOL.md section 5). {{name()}} is the user's id.
func permissions(r role) jwt.Permissions {
	inbox := wire.Inbox("{{name()}}") + ".>"
	// An answer may come in parts.
	answers := &jwt.ResponsePermission{MaxMsgs: wire.MaxMessage >> 18, Expires: answerTime}
	var publish, subscribe []string
	var p jwt.Permissions
	switch r {
	case agents:
		publish = []string{wire.Results("*", "{{name()}}", ">"), wire.Questions("{{name()}}", "*", ">"), wire.Presence("{{name()}}", ">"), wire.Credentials("{{name()}}"), wire.ReadPiece(">")}
		subscribe = []string{wire.ToHost("{{name()}}", ">"), wire.ToRun("*", ">"), wire.ToAll(">"), inbox}
		p.Resp = answers
	case controllers: // commands agents, hears all of them, reads the streams, and tells of his own runs; what he may ask the registrar to do, that decides
		publish = append(readStreams(), wire.Prefix+".t.>", wire.Registrar(">"), wire.Inbox(">"), wire.Record("{{name()}}", "*", "*"), wire.Stops("{{name()}}", "*"),
			wire.Standing("{{name()}}", "*", "*"), wire.Facts("{{name()}}", "*"), wire.FactsKeys("{{name()}}", "*"), wire.Keeper("*"), dutystate.LockSubject("{{name()}}"), wire.FilePiece("{{name()}}", "*", "*"), wire.EventSubject("{{name()}}", "*", "*"))
		subscribe = []string{wire.ResultsOfRun("*"), wire.QuestionsOfRun("*"), wire.PresenceOfAll(">"), wire.EventSubject("*", "*", "*"), wire.DisconnectSubject, wire.Record("*", "*", "*"),
			wire.Stops("{{name()}}", "*"), wire.Keeper("{{name()}}"), inbox}
	case readers: // looks, and commands nobody
		publish = readStreams()
		subscribe = []string{wire.PresenceOfAll(">"), wire.Record("*", "*", "*"), wire.EventSubject("*", "*", "*"), inbox}
	case listeners: // hears what is told in clear
		publish = []string{inbox} // none at all would be any
		subscribe = []string{wire.EventSubject("*", "*", "*"), inbox}
	case joiners:
		publish = []string{wire.JoinSubject}
		subscribe = []string{inbox}
	case registrars:
		publish = []string{"$JS.API.>", wire.ToAll(wire.KindCrowd)}
		subscribe = []string{wire.JoinSubject, wire.Credentials("*"), wire.Registrar(">"), inbox}
		p.Resp = answers
	}
	p.Pub, p.Sub = jwt.Permission{Allow: publish}, jwt.Permission{Allow: subscribe}
	return p
}

// readStreams is what reading the streams takes, and nothing that changes them or leaves anything at the servers.
func readStreams() []string {
	var may []string
	for _, name := range streamNames() {
		may = append(may, "$JS.API.STREAM.INFO."+name, "$JS.API.DIRECT.GET."+name, "$JS.API.DIRECT.GET."+name+".>")
	}
	return may
}

// streamNames are the streams that the registrar makes.
func streamNames() []string {
	return []string{roster.StreamName, ledger.StreamName, dutystate.StreamName, dutystate.LockName, factcache.StreamName, wire.FilesStream}
}

// Account is the token of hark's account, with its public key: what the roles may do, and whose tokens are void.
func (a *Authority) Account() (key, token string, err error) {
	revoked, err := a.Revoked()
	if err != nil {
		return "", "", err
	}
	system, err := a.system.PublicKey()
	if err != nil {
		return "", "", err
	}
	return a.encode(a.account, "hark", func(c *jwt.AccountClaims) error {
		c.Limits.JetStreamLimits = jwt.JetStreamLimits{
			MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit, MaxAckPending: jwt.NoLimit,
		}
		for key, at := range revoked {
			c.RevokeAt(key, at)
		}
		c.Imports.Add(&jwt.Import{
			Name: "disconnects", Subject: jwt.Subject("$SYS.ACCOUNT." + c.Subject + ".DISCONNECT"), Account: system,
			LocalSubject: wire.DisconnectSubject, Type: jwt.Stream,
		})
		for r, signer := range a.roles {
			key, err := signer.PublicKey()
			if err != nil {
				return err
			}
			scope := jwt.NewUserScope()
			scope.Key, scope.Role = key, string(r)
			scope.Template.Permissions = permissions(r)
			c.SigningKeys.AddScopedSigner(scope)
		}
		return nil
	})
}

// systemAccount is the account of the servers themselves. It lets every account hear of its own connections.
func (a *Authority) systemAccount() (key, token string, err error) {
	return a.encode(a.system, "SYS", func(c *jwt.AccountClaims) error {
		c.Exports.Add(&jwt.Export{Name: "account-monitoring-streams", Subject: "$SYS.ACCOUNT.*.>", Type: jwt.Stream, AccountTokenPosition: 3})
		return nil
	})
}

func (a *Authority) encode(pair nkeys.KeyPair, name string, complete func(*jwt.AccountClaims) error) (key, token string, err error) {
	if key, err = pair.PublicKey(); err != nil {
		return "", "", err
	}
	claims := jwt.NewAccountClaims(key)
	claims.Name = name
	if err := complete(claims); err != nil {
		return "", "", err
	}
	token, err = claims.Encode(a.operator)
	return key, token, err
}

// trusted is the token of the NATS operator, to whom the accounts belong.
func (a *Authority) trusted() (string, error) {
	key, err := a.operator.PublicKey()
	if err != nil {
		return "", err
	}
	claims := jwt.NewOperatorClaims(key)
	claims.Name = "hark"
	if claims.SystemAccount, err = a.system.PublicKey(); err != nil {
		return "", err
	}
	return claims.Encode(a.operator)
}

// configure makes a server take only users with a token of this authority.
func (a *Authority) configure(o *server.Options) error {
	trusted, err := a.trusted()
	if err != nil {
		return err
	}
	claims, err := jwt.DecodeOperatorClaims(trusted)
	if err != nil {
		return err
	}
	resolver := &server.MemAccResolver{}
	for _, account := range []func() (string, string, error){a.Account, a.systemAccount} {
		key, token, err := account()
		if err == nil {
			err = resolver.Store(key, token)
		}
		if err != nil {
			return err
		}
	}
	o.TrustedOperators = []*jwt.OperatorClaims{claims}
	o.SystemAccount = claims.SystemAccount
	o.AccountResolver = resolver
	return nil
}

// revokedFile holds the public keys whose tokens are void, and since when.
const revokedFile = "revoked.json"

// Revoked are the public keys whose tokens are void, with the time up to which tokens are.
func (a *Authority) Revoked() (map[string]time.Time, error) {
	revoked := map[string]time.Time{}
	text, err := os.ReadFile(filepath.Join(a.dir, revokedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return revoked, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &revoked)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read which keys are revoked: %v", err)
	}
	return revoked, nil
}

// Revoke makes the tokens of a key void. The servers must get the new account: see Account.
func (a *Authority) Revoke(key string, at time.Time) error {
	revoked, err := a.Revoked()
	if err != nil {
		return err
	}
	revoked[key] = at.UTC()
	return a.keepRevoked(revoked)
}

// Readmit lets a key have tokens again.
func (a *Authority) Readmit(key string) error {
	revoked, err := a.Revoked()
	if err != nil {
		return err
	}
	if _, is := revoked[key]; !is {
		return nil
	}
	delete(revoked, key)
	return a.keepRevoked(revoked)
}

func (a *Authority) keepRevoked(revoked map[string]time.Time) error {
	if err := statefile.Save(filepath.Join(a.dir, revokedFile), revoked); err != nil {
		return fmt.Errorf("cannot keep which keys are revoked: %v", err)
	}
	return nil
}
