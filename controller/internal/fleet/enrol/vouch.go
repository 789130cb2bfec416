package enrol

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"hark/agent/wire"
)

// Vouch is an operator's word that a name is the owner's of a key: by his signature, or by that of a token of his
// that lets agents in. The book carries it; the broker and the registrar cannot make one.
type Vouch struct {
	By string    `json:"by"` // the operator's public key
	At time.Time `json:"at"`
	// Sig is his signature, for the agent or for the token.
	Sig []byte `json:"sig"`
	// Token, if set, has vouched in his place.
	Token *TokenVouch `json:"token,omitempty"`
}

// TokenVouch is what a token's own key has signed when an agent came with it.
type TokenVouch struct {
	Key string `json:"key"`
	// Name and Expires are what the operator has signed of the token.
	Name    string    `json:"name,omitempty"`
	Expires time.Time `json:"expires"`
	// Proof is its signature over wire.JoinProof, Nonce that of the request.
	Nonce string `json:"nonce"`
	Proof []byte `json:"proof"`
}

// maxVouches is how many operators may vouch for an agent.
const maxVouches = 16

// agentWords returns what an operator signs for an agent, tokenWords for a token that lets agents in; times to the
// second.
func agentWords(name, key string, at time.Time) []byte {
	b, _ := json.Marshal([]any{"hark agent", 1, name, key, at.Unix()}) // plain data always encodes
	return b
}

func tokenWords(key, name string, expires time.Time) []byte {
	b, _ := json.Marshal([]any{"hark token", 1, key, name, expires.Unix()})
	return b
}

// vouch signs that a name is the owner's of a key.
func vouch(operator *wire.Identity, name, key string, now time.Time) (Vouch, error) {
	v := Vouch{By: operator.Key, At: now.UTC().Truncate(time.Second)}
	var err error
	v.Sig, err = operator.Sign(agentWords(name, key, v.At))
	return v, err
}

// good reports whether it is v.By's word for this name and this key.
func (v Vouch) good(name, key string) bool {
	t := v.Token
	if t == nil {
		return wire.VerifySignature(v.By, agentWords(name, key, v.At), v.Sig)
	}
	return (t.Name == "" || t.Name == name) && wire.VerifySignature(v.By, tokenWords(t.Key, t.Name, t.Expires), v.Sig) &&
		wire.VerifySignature(t.Key, wire.JoinProof(key, name, t.Nonce), t.Proof)
}

// Vouched returns the key of the agent if one of the operators who are believed vouches for it. The error says what
// is missing.
func (a *Agent) Vouched(believed []string) (key string, err error) {
	var others []string
	for _, v := range a.Vouches {
		switch {
		case !v.good(a.Name, a.Key):
		case slices.Contains(believed, v.By):
			return a.Key, nil
		default:
			others = append(others, v.By)
		}
	}
	if len(others) == 0 {
		return "", fmt.Errorf(
			"no operator has vouched for the agent of %s, and it is not on record here: an operator who knows its key, %s, "+
				"runs `hark agents approve %s`",
			a.Name, a.Key, a.Name)
	}
	return "", fmt.Errorf(
		"the agent of %s is not on record here, and it is operator %s who vouches for it: if you know that this key is a "+
			"colleague's, `hark key believe %s`",
		a.Name, others[0], others[0])
}

// add enters a vouch, in place of what the same operator said before.
func (a *Agent) add(v Vouch) error {
	if !v.good(a.Name, a.Key) {
		return errors.New("the operator's word for the agent is not signed by him")
	}
	a.Vouches = slices.DeleteFunc(slices.Clone(a.Vouches), func(had Vouch) bool { return had.By == v.By })
	if len(a.Vouches) >= maxVouches {
		a.Vouches = a.Vouches[1:]
	}
	a.Vouches = append(a.Vouches, v)
	return nil
}
