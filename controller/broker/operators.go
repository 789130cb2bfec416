package broker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"

	"hark/agent/wire"
	"hark/controller/internal/fleet/enrol"
	"hark/controller/internal/statefile"
)

// DefaultOperatorLife is for how long an operator's credentials are good. They are renewed when they are used after a
// third of it.
const DefaultOperatorLife = 90 * 24 * time.Hour

// operatorsFile lists who was given access, operatorsVersion is the version of its form.
const (
	operatorsFile    = "operators.json"
	operatorsVersion = 1
)

// The tags of operators' tokens. Tokens of before have none of them: their owners manage agents, and nothing renews
// them.
const (
	playsOnly = "plays-only" // its owner may not let agents in or out
	renews    = "renews"     // it is renewed
	endsAt    = "ends-"      // the second of Unix time at which the access ends
)

// operatorBook is the list of operators.
type operatorBook struct {
	Version   int              `json:"version"`
	Operators []enrol.Operator `json:"operators"`
}

func (b *operatorBook) find(key string) *enrol.Operator {
	for i := range b.Operators {
		if b.Operators[i].Key == key {
			return &b.Operators[i]
		}
	}
	return nil
}

// Operators returns those who were given access and have it still, in the order in which they got it.
func (a *Authority) Operators() ([]enrol.Operator, error) {
	b, err := a.operatorBook()
	if err != nil {
		return nil, err
	}
	return b.Operators, nil
}

func (a *Authority) operatorBook() (*operatorBook, error) {
	b := &operatorBook{Version: operatorsVersion}
	if err := statefile.Load(filepath.Join(a.dir, operatorsFile), operatorsVersion, b); err != nil {
		return nil, fmt.Errorf("cannot read who has access to the broker: %v", err)
	}
	return b, nil
}

// changeOperators replaces the list while no other process does: the registrar and `hark broker admit` both do.
func (a *Authority) changeOperators(change func(*operatorBook)) error {
	path := filepath.Join(a.dir, operatorsFile)
	unlock, err := statefile.Lock(path)
	if err != nil {
		return fmt.Errorf("cannot keep who has access to the broker: %v", err)
	}
	defer unlock()
	b, err := a.operatorBook()
	if err != nil {
		return err
	}
	change(b)
	if err := errors.Join(statefile.Save(path, b), a.give(path), a.give(statefile.LockOf(path))); err != nil {
		return fmt.Errorf("cannot keep who has access to the broker: %v", err)
	}
	return nil
}

// give has a file belong to the owner of the directory: root changes what the broker's own user has to read.
func (a *Authority) give(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := statefile.Owner(a.dir)
	if err != nil || uid == 0 {
		return err
	}
	return os.Lchown(path, uid, gid)
}

// Admit gives an operator access. Key, Access and Until of it are set, Name and By may be. A name that was
// given before stays if there is none now.
func (a *Authority) Admit(o enrol.Operator) (token string, err error) {
	if token, err = a.operatorToken(o.Access, o.Key, o.Until); err != nil {
		return "", err
	}
	claims, err := jwt.DecodeUserClaims(token)
	if err != nil {
		return "", err
	}
	taken := false
	err = a.changeOperators(func(b *operatorBook) {
		if o.Name != "" {
			taken = slices.ContainsFunc(b.Operators, func(x enrol.Operator) bool { return x.Name == o.Name && x.Key != o.Key })
		}
		if taken {
			return
		}
		o = describe(o, claims)
		if had := b.find(o.Key); had != nil {
			if o.Name == "" {
				o.Name = had.Name
			}
			o.Reader, o.Seen = had.Reader, had.Seen
			*had = o
			return
		}
		b.Operators = append(b.Operators, o)
	})
	if err == nil && taken {
		err = fmt.Errorf("another operator is called %s: `hark broker operators` lists them", o.Name)
	}
	return token, err
}

// describe enters what a token says.
func describe(o enrol.Operator, c *jwt.UserClaims) enrol.Operator {
	o.Key, o.Until, o.Renews = c.Subject, endOf(c), c.Tags.Contains(renews)
	if o.Since.IsZero() {
		o.Since = time.Unix(c.IssuedAt, 0).UTC()
	}
	o.Expires = time.Time{}
	if c.Expires > 0 {
		o.Expires = time.Unix(c.Expires, 0).UTC()
	}
	return o
}

// endOf returns when the access ends that a token gives, the zero time for never.
func endOf(c *jwt.UserClaims) time.Time {
	if c.Expires > 0 && !c.Tags.Contains(renews) {
		return time.Unix(c.Expires, 0).UTC()
	}
	for _, tag := range c.Tags {
		if text, ok := strings.CutPrefix(tag, endsAt); ok {
			if at, err := strconv.ParseInt(text, 10, 64); err == nil {
				return time.Unix(at, 0).UTC()
			}
		}
	}
	return time.Time{}
}

// roleOf returns the role of an operator with such rights.
func roleOf(r enrol.Rights) role {
	switch r {
	case enrol.MayRead:
		return readers
	case enrol.MayListen:
		return listeners
	}
	return controllers
}

// operatorToken returns the token of an operator: good for OperatorLife and renewed, and no longer than until.
// Somebody outside of hark renews nothing, so that token is good until then.
func (a *Authority) operatorToken(rights enrol.Rights, key string, until time.Time) (string, error) {
	var tags []string
	if rights == enrol.MayPlay {
		tags = append(tags, playsOnly)
	}
	expires := until
	if rights != enrol.MayListen {
		life := a.OperatorLife
		if life <= 0 {
			life = DefaultOperatorLife
		}
		if end := time.Now().Add(life); until.IsZero() || until.After(end) {
			expires = end
			tags = append(tags, renews)
			if !until.IsZero() {
				tags = append(tags, endsAt+strconv.FormatInt(until.Unix(), 10))
			}
		}
	}
	if err := a.afterRevocation(key); err != nil {
		return "", err
	}
	return a.token(roleOf(rights), key, expires, tags...)
}

// afterRevocation waits for the second after a key's tokens were made void: a token says the second of its issue.
func (a *Authority) afterRevocation(key string) error {
	revoked, err := a.Revoked()
	if err != nil {
		return err
	}
	if at, is := revoked[key]; is {
		time.Sleep(time.Until(at.Truncate(time.Second).Add(time.Second)))
	}
	return nil
}

// Renew returns an operator a newer token in place of one that is good, with the same rights and the same end.
func (a *Authority) Renew(text string) (key, token string, err error) {
	for _, r := range []role{controllers, readers} {
		c := a.is(r, text)
		if c == nil {
			continue
		}
		if !c.Tags.Contains(renews) {
			return c.Subject, "", errors.New("these credentials are not renewed: `hark broker admit` gives others")
		}
		token, err = a.operatorToken(rightsOf(r, c), c.Subject, endOf(c))
		return c.Subject, token, err
	}
	return "", "", errors.New("the credentials are not good")
}

// rightsOf returns the rights that a token of a role gives.
func rightsOf(r role, c *jwt.UserClaims) enrol.Rights {
	switch {
	case r == readers:
		return enrol.MayRead
	case r == listeners:
		return enrol.MayListen
	case c.Tags.Contains(playsOnly):
		return enrol.MayPlay
	}
	return enrol.MayManage
}

// IsOperators reports whether the public key of an issuer of tokens is that of a role of operators.
func (a *Authority) IsOperators(issuer string) bool {
	for _, r := range []role{controllers, readers, listeners} {
		if key, err := a.roles[r].PublicKey(); err == nil && key == issuer {
			return true
		}
	}
	return false
}

// Saw notes that an operator was there, with the token shown if it is known. reader is the key for records, "" if that
// is not known. One who was admitted by a version that kept no list is entered.
func (a *Authority) Saw(key, reader, token string, at time.Time) error {
	var claims *jwt.UserClaims
	var rights enrol.Rights
	for _, r := range []role{controllers, readers, listeners} {
		if c := a.is(r, token); c != nil && c.Subject == key {
			claims, rights = c, rightsOf(r, c)
		}
	}
	return a.changeOperators(func(b *operatorBook) {
		had := b.find(key)
		switch {
		case had == nil && (claims == nil || !wire.ValidKey(key)):
			return
		case had == nil:
			b.Operators = append(b.Operators, enrol.Operator{Access: rights})
			had = &b.Operators[len(b.Operators)-1]
			fallthrough
		case claims != nil && !time.Unix(claims.IssuedAt, 0).Before(had.Since.Truncate(time.Second)):
			had.Access = rights
			*had = describe(*had, claims)
		}
		had.Seen = at.UTC()
		if reader != "" {
			had.Reader = reader
		}
	})
}

// Expel makes the tokens of an operator void and takes the operator out of the list. The servers must get the new
// account: see Account.
func (a *Authority) Expel(key string, at time.Time) error {
	if err := a.Revoke(key, at); err != nil {
		return err
	}
	return a.changeOperators(func(b *operatorBook) {
		b.Operators = slices.DeleteFunc(b.Operators, func(o enrol.Operator) bool { return o.Key == key })
	})
}
