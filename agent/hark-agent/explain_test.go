package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// TestAgentSaysWhyItIsNotLetIn: what it can know itself, and what an operator can do.
func TestAgentSaysWhyItIsNotLetIn(t *testing.T) {
	account, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	user, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	key, err := user.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	claims := jwt.NewUserClaims(key)
	claims.Expires = time.Now().Add(time.Hour).Unix()
	token, err := claims.Encode(account)
	if err != nil {
		t.Fatal(err)
	}
	refused := fmt.Errorf("cannot connect: %w", nats.ErrAuthorization)
	for _, c := range []struct {
		err   error
		later time.Duration
		want  string
	}{
		{refused, 2 * time.Hour, "the credentials of this agent expired on "},
		{refused, 0, "`hark agents approve NAME`"},
		{errors.New("connection refused"), 2 * time.Hour, "connection refused"},
	} {
		if got := explain(token, time.Now().Add(c.later), c.err).Error(); !strings.Contains(got, c.want) {
			t.Errorf("%v after %s: %s", c.err, c.later, got)
		}
	}
}
