package wire_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"hark/agent/wire"
)

// TestOnlyNewerTokensOfTheSameAuthorityRenew: whoever has the broker cannot lock an agent out with another token.
func TestOnlyNewerTokensOfTheSameAuthorityRenew(t *testing.T) {
	authority, stranger := account(t), account(t)
	own, other := user(t), user(t)
	now := time.Now().Truncate(time.Second)
	make := func(signer nkeys.KeyPair, key string, life time.Duration) string {
		t.Helper()
		c := jwt.NewUserClaims(key)
		if life > 0 {
			c.Expires = now.Add(life).Unix()
		}
		text, err := c.Encode(signer)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	parse := func(text string) wire.Token {
		t.Helper()
		token, err := wire.ParseToken(text)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	had := parse(make(authority, own, time.Hour))
	if had.Subject != own || had.Life() < 59*time.Minute || had.Life() > time.Hour {
		t.Fatalf("%+v", had)
	}
	had.Issued = had.Issued.Add(-time.Minute)
	forever := parse(make(authority, own, 0))
	forever.Issued = had.Issued
	for name, tt := range map[string]struct {
		had  wire.Token
		next string
		want bool
	}{
		"a newer one":                {had, make(authority, own, 2*time.Hour), true},
		"in place of one for ever":   {forever, make(authority, own, 2*time.Hour), true},
		"one that ends before":       {had, make(authority, own, time.Minute), false},
		"for another key":            {had, make(authority, other, 2*time.Hour), false},
		"of another authority":       {had, make(stranger, own, 2*time.Hour), false},
		"one that was issued before": {parse(make(authority, own, time.Hour)), make(authority, own, time.Hour), false},
	} {
		if got := parse(tt.next).Renews(tt.had); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	good := make(authority, own, time.Hour)
	parts, changed := strings.Split(good, "."), strings.Split(make(stranger, own, time.Hour), ".")
	for _, bad := range []string{"", "a.b", "a.b.c", strings.Join([]string{parts[0], changed[1], parts[2]}, "."),
		good + "x"} {
		if token, err := wire.ParseToken(bad); err == nil {
			t.Errorf("%q was read: %+v", bad, token)
		}
	}
}

func account(t *testing.T) nkeys.KeyPair {
	t.Helper()
	pair, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func user(t *testing.T) string {
	t.Helper()
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return id.Key
}
