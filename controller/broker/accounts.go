package broker

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// permissions returns what the users of a role may do (PROTOCOL.md section 7). {{name()}} is the user's id, api is
// StreamAPI.
func permissions(r role, api string) jwt.Permissions {
	inbox := wire.Inbox("{{name()}}") + ".>"
	// An answer may come in parts.
	answers := &jwt.ResponsePermission{MaxMsgs: wire.MaxMessage >> 18, Expires: answerTime}
	var publish, subscribe []string
	var p jwt.Permissions
	switch r {
	case agents:
		publish = []string{wire.Results("*", "{{name()}}", ">"), wire.Questions("{{name()}}", "*", ">"),
			wire.Presence("{{name()}}", ">"), wire.Credentials("{{name()}}"), wire.ReadPiece(">")}
		subscribe = []string{wire.HostSubject("{{name()}}", ">"), wire.RunSubject("*", ">"), wire.ToAll(">"), inbox}
		p.Resp = answers
	// commands agents, hears all of them, reads the streams, and publishes its own runs. The registrar decides what it
	// may ask for
	case controllers:
		publish = append(readStreams(), wire.Prefix+".t.>", wire.Registrar(">"), wire.Credentials("{{name()}}"),
			wire.Inbox(">"), wire.Record("{{name()}}", "*", "*"), wire.RunStopSubject("{{name()}}", "*"),
			wire.DutyStateSubject("{{name()}}", "*", "*"), wire.Facts("{{name()}}", "*"), wire.FactsKeys("{{name()}}",
				"*"), wire.Keeper("*"), dutystate.LockSubject("{{name()}}"), wire.FilePiece("{{name()}}", "*", "*"),
			wire.EventSubject("{{name()}}", "*", "*"))
		subscribe = []string{wire.ResultsOfRun("*"), wire.QuestionsOfRun("*"), wire.PresenceOfAll(">"),
			wire.EventSubject("*", "*", "*"), wire.DisconnectSubject, wire.Record("*", "*", "*"),
			wire.RunStopSubject("{{name()}}", "*"), wire.Keeper("{{name()}}"), dutystate.LockSubject("{{name()}}"), inbox}
	case readers: // looks, and commands nobody
		publish = append(readStreams(), wire.Credentials("{{name()}}"))
		subscribe = []string{wire.PresenceOfAll(">"), wire.Record("*", "*", "*"), wire.EventSubject("*", "*", "*"), inbox}
	case listeners: // hears what is told in clear
		publish = []string{inbox} // none at all would be any
		subscribe = []string{wire.EventSubject("*", "*", "*"), inbox}
	case joiners:
		publish = []string{wire.JoinSubject}
		subscribe = []string{inbox}
	case registrars:
		publish = []string{api + ".>", "$JS.API.DIRECT.GET.>", "$JS.API.STREAM.INFO.*", wire.ToAll(wire.KindFleetSize),
			wire.PresenceOfAll(wire.KindBye)}
		subscribe = []string{
			wire.JoinSubject, wire.Credentials("*"), wire.Registrar(">"), wire.ConnectSubject, wire.DisconnectSubject, inbox,
		}
		p.Resp = answers
	}
	p.Pub, p.Sub = jwt.Permission{Allow: publish}, jwt.Permission{Allow: subscribe}
	return p
}

// readStreams returns what reading the streams takes, and nothing that changes them or leaves anything at the
// servers.
func readStreams() []string {
	var may []string
	for _, name := range streamNames() {
		may = append(may, "$JS.API.STREAM.INFO."+name, "$JS.API.DIRECT.GET."+name, "$JS.API.DIRECT.GET."+name+".>")
	}
	return may
}

// streamNames returns the streams that the registrar makes.
func streamNames() []string {
	return []string{roster.StreamName, ledger.StreamName, dutystate.StreamName, dutystate.LockName, factcache.StreamName,
		wire.FilesStream}
}

// Account returns the token of hark's account, with its public key: what the roles may do, and whose tokens are void.
func (a *Authority) Account() (key, token string, err error) {
	revoked, err := a.Revoked()
	if err != nil {
		return "", "", err
	}
	system, err := a.system.PublicKey()
	if err != nil {
		return "", "", err
	}
	api, err := a.StreamAPI()
	if err != nil {
		return "", "", err
	}
	return a.encode(a.account, "hark", func(c *jwt.AccountClaims) error {
		// Without the first one the server would add one for all of $JS.API.
		c.Imports.Add(
			&jwt.Import{Name: "streams", Account: system, Type: jwt.Service, Share: true, Subject: openAPI + ".>",
				LocalSubject: "$JS.API.>"},
			&jwt.Import{Name: "management of streams", Account: system, Type: jwt.Service, Share: true, Subject: "$JS.API.>",
				LocalSubject: jwt.RenamingSubject(api + ".>")})
		c.Limits.JetStreamLimits = jwt.JetStreamLimits{
			MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit,
			MaxAckPending: jwt.NoLimit,
		}
		for key, at := range revoked {
			c.RevokeAt(key, at)
		}
		for event, to := range map[string]string{"CONNECT": wire.ConnectSubject, "DISCONNECT": wire.DisconnectSubject} {
			c.Imports.Add(&jwt.Import{
				Name:    strings.ToLower(event) + "s",
				Subject: jwt.Subject("$SYS.ACCOUNT." + c.Subject + "." + event), Account: system,
				LocalSubject: jwt.RenamingSubject(to), Type: jwt.Stream,
			})
		}
		for r, signer := range a.roles {
			key, err := signer.PublicKey()
			if err != nil {
				return err
			}
			scope := jwt.NewUserScope()
			scope.Key, scope.Role = key, string(r)
			scope.Template.Permissions = permissions(r, api)
			c.SigningKeys.AddScopedSigner(scope)
		}
		return nil
	})
}

// openAPI is where the questions of the account's users to JetStream arrive in the account of the servers, which passes
// on those about streams.
const openAPI = "$HARK.JS"

// StreamAPI returns the subject below which the registrar reaches JetStream to make and change streams. Nobody else
// knows it. Permissions would not be enough: the server sends its answers to whatever reply subject a request names, so
// that everyone who may ask it anything could have it delete a stream under $JS.API.
func (a *Authority) StreamAPI() (string, error) {
	seed, err := a.account.Seed()
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, seed)
	mac.Write([]byte("management of streams"))
	return "$HARK." + hex.EncodeToString(mac.Sum(nil)[:16]), nil
}

// systemAccount returns the account of the servers themselves. It lets every account hear of its own connections.
func (a *Authority) systemAccount() (key, token string, err error) {
	return a.encode(a.system, "SYS", func(c *jwt.AccountClaims) error {
		c.Exports.Add(&jwt.Export{Name: "account-monitoring-streams", Subject: "$SYS.ACCOUNT.*.>", Type: jwt.Stream,
			AccountTokenPosition: 3},
			&jwt.Export{Name: "streams", Subject: openAPI + ".>", Type: jwt.Service},
			&jwt.Export{Name: "jetstream", Subject: "$JS.API.>", Type: jwt.Service})
		c.Mappings = jwt.Mapping{openAPI + ".STREAM.INFO.*": {{Subject: "$JS.API.STREAM.INFO.{{wildcard(1)}}"}}}
		return nil
	})
}

func (a *Authority) encode(pair nkeys.KeyPair, name string,
	complete func(*jwt.AccountClaims) error) (key, token string, err error) {
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

// trusted returns the token of the NATS operator that owns the accounts.
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

// Revoked returns the public keys whose tokens are void, with the time up to which tokens are.
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
	path := filepath.Join(a.dir, revokedFile)
	if err := errors.Join(statefile.Save(path, revoked), a.give(path)); err != nil {
		return fmt.Errorf("cannot keep which keys are revoked: %v", err)
	}
	return nil
}
