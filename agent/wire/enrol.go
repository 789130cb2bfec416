package wire

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
)

// JoinToken is what a host needs to enrol itself: where the broker is, how to recognise it, credentials that permit
// nothing but the request to be enrolled, and the operators that the agent will obey. Whoever has it can enrol agents
// until it expires.
type JoinToken struct {
	V int `json:"v"`
	// URL is the broker's, several separated by commas. CA is its authority: the certificate in PEM, or the certificate's
	// sha256 in hex if the broker sends it; "" trusts the system's.
	URL string `json:"url"`
	CA  string `json:"ca,omitempty"`
	// JWT and Seed open the connection.
	JWT  string `json:"jwt"`
	Seed string `json:"seed"`
	// Operators are the public keys that the agent will obey.
	Operators []string `json:"operators"`
	Fleet     string   `json:"fleet,omitempty"`
	// Name, if set, is the only name that may be enrolled with it.
	Name string `json:"name,omitempty"`
}

// joinMark begins the text of a token, so that people and scanners for secrets know it.
const joinMark = "hark-join-1."

// Text returns the token as one word, for people to copy.
func (t JoinToken) Text() (string, error) {
	raw, err := json.Marshal(t)
	return joinMark + base64.RawURLEncoding.EncodeToString(raw), err
}

// ParseJoinToken reads what Text wrote.
func ParseJoinToken(text string) (JoinToken, error) {
	var t JoinToken
	body, ok := strings.CutPrefix(strings.TrimSpace(text), joinMark)
	if !ok {
		return t, fmt.Errorf("cannot read the join token: it must begin with %q", joinMark)
	}
	raw, err := base64.RawURLEncoding.DecodeString(body)
	if err == nil {
		err = json.Unmarshal(raw, &t)
	}
	switch {
	case err != nil:
		return t, errors.New("cannot read the join token: a part of it is missing or changed")
	case t.V > Version:
		return t, fmt.Errorf("cannot read the join token: it has version %d, this agent knows %d", t.V, Version)
	case t.URL == "" || t.JWT == "" || len(t.Operators) == 0:
		return t, errors.New("cannot read the join token: it is not complete")
	}
	for _, key := range t.Operators {
		if !ValidKey(key) {
			return t, fmt.Errorf("cannot read the join token: %q is not an operator's public key", key)
		}
	}
	return t, nil
}

// Identity returns the identity with which the token's holder asks to join.
func (t JoinToken) Identity() (*Identity, error) {
	sign, err := nkeys.FromSeed([]byte(t.Seed))
	if err != nil {
		return nil, fmt.Errorf("cannot read the join token: its key is damaged")
	}
	curve, err := nkeys.CreateCurveKeys()
	if err != nil {
		return nil, fmt.Errorf("cannot make a curve key: %v", err)
	}
	return newIdentity(sign, curve)
}

// Seed returns the secret of the signing key, for a JoinToken.
func (id *Identity) Seed() (string, error) {
	seed, err := id.sign.Seed()
	return string(seed), err
}

// Join is the body of a KindJoin message, signed by the agent that wants to be enrolled.
type Join struct {
	Name    string `json:"name"`
	XKey    string `json:"xkey"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Version string `json:"version"`
	// Token is the public key of the token. Proof is its signature over JoinProof.
	Token string `json:"token"`
	Proof []byte `json:"proof"`
}

// JoinProof returns what the owner of a token signs: that this key may have this name, once.
func JoinProof(key, name, nonce string) []byte {
	b, _ := json.Marshal([]string{"join", key, name, nonce}) // plain data always encodes
	return b
}

// VerifySignature reports whether the owner of a public key signed data.
func VerifySignature(key string, data, sig []byte) bool { return verify(key, data, sig) }

// Joined answers Join.
type Joined struct {
	// Pending says that an operator must approve the agent first. The agent asks again.
	Pending bool `json:"pending,omitempty"`
	// JWT are the agent's credentials, CA the certificate of the broker's authority in PEM.
	JWT string `json:"jwt,omitempty"`
	CA  string `json:"ca,omitempty"`
	Err string `json:"err,omitempty"`
}

// Rights is the body of a KindRights message, signed by the agent. It asks for new credentials while the agent's are
// still valid.
type Rights struct {
	// JWT are the agent's credentials.
	JWT string `json:"jwt"`
	// Reader is the public key that records are sealed with for an operator; agents have none.
	Reader string `json:"reader,omitempty"`
}

// Trust is the body of a KindTrust message, sealed for the agent: the operators that it obeys from now on, and those
// that it no longer obeys.
type Trust struct {
	Add    []string `json:"add,omitempty"`
	Remove []string `json:"remove,omitempty"`
	// Limited are operators to add with limits. They are a list of their own, so that an agent that does not know limits
	// adds none of them.
	Limited []Limited `json:"limited,omitempty"`
}

// Limited is an operator that may not do everything.
type Limited struct {
	Key string `json:"key"`
	// Check permits the operator only to look, as check in policy.yml does.
	Check bool `json:"check,omitempty"`
	// Until is when the agent stops obeying the operator, by the agent's clock; the zero time is never.
	Until time.Time `json:"until,omitzero"`
}

// Trusted answers Trust.
type Trusted struct {
	Operators []string `json:"operators,omitempty"`
	Err       string   `json:"err,omitempty"`
}
