package wire

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
)

// Token is what an agent needs to know of its own credentials. They are a JWT of NATS, which the broker checks.
type Token struct {
	// Subject is the public key that they were issued to, Issuer that of the authority.
	Subject, Issuer string
	// Issued and Expires are by the authority's clock; Expires is zero if they never expire.
	Issued, Expires time.Time
}

// ParseToken reads a token and checks its issuer's signature. The caller decides whether that issuer is the right one.
func ParseToken(text string) (Token, error) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return Token{}, errors.New("it is not a token")
	}
	var claims struct {
		Subject string `json:"sub"`
		Issuer  string `json:"iss"`
		Issued  int64  `json:"iat"`
		Expires int64  `json:"exp"`
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err == nil {
		err = json.Unmarshal(raw, &claims)
	}
	sig, err2 := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || err2 != nil {
		return Token{}, errors.New("it is not a token")
	}
	issuer, err := nkeys.FromPublicKey(claims.Issuer)
	if err != nil || issuer.Verify([]byte(parts[0]+"."+parts[1]), sig) != nil {
		return Token{}, errors.New("the token is not signed by its issuer")
	}
	t := Token{Subject: claims.Subject, Issuer: claims.Issuer, Issued: time.Unix(claims.Issued, 0)}
	if claims.Expires > 0 {
		t.Expires = time.Unix(claims.Expires, 0)
	}
	return t, nil
}

// Life returns how long the token is valid from its beginning, 0 for ever.
func (t Token) Life() time.Duration {
	if t.Expires.IsZero() {
		return 0
	}
	return t.Expires.Sub(t.Issued)
}

// Renews reports whether t may replace had: for the same key, by the same authority, issued later and valid for longer.
func (t Token) Renews(had Token) bool {
	later := had.Expires.IsZero() || t.Expires.After(had.Expires)
	return t.Subject == had.Subject && t.Issuer == had.Issuer && later && t.Issued.After(had.Issued)
}
