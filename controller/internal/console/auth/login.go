package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/nats-io/nkeys"
)

// The addresses at which operators sign in.
const (
	ChallengePath = "/login/challenge"
	LoginPath     = "/login"
)

// How many operators may sign in at once, and how long a challenge is valid.
const (
	mostNonces = 256
	nonceLife  = 2 * time.Minute
)

type nonce struct {
	text  string
	until time.Time
}

// Challenge is what an operator signs.
type Challenge struct {
	Nonce string `json:"nonce"`
}

// Statement returns what is signed: the challenge, and the digest of the server's certificate (all zeros without TLS),
// so that nobody can forward another server's challenge.
func Statement(nonce string, digest [sha256.Size]byte) []byte {
	return fmt.Appendf(nil, "hark console login\n%s\n%x\n", nonce, digest)
}

// challenge sends a nonce that may be signed once.
func (g *Authenticator) challenge(w http.ResponseWriter, r *http.Request) {
	if len(g.c.Operators) == 0 {
		g.refuse(w, r, http.StatusNotFound, "Nobody signs in here with an operator's key.")
		return
	}
	text := rand.Text()
	g.mu.Lock()
	g.nonces = append(g.current(), nonce{text, g.c.Now().Add(nonceLife)})
	if over := len(g.nonces) - mostNonces; over > 0 {
		g.nonces = slices.Delete(g.nonces, 0, over)
	}
	g.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(Challenge{Nonce: text}) // a client that went away misses nothing
}

// current returns the nonces that are still valid. It assumes mu held.
func (g *Authenticator) current() []nonce {
	now := g.c.Now()
	return slices.DeleteFunc(g.nonces, func(n nonce) bool { return now.After(n.until) })
}

// signIn reports whether a nonce was given and not used, and uses it up.
func (g *Authenticator) signIn(text string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.nonces = g.current()
	i := slices.IndexFunc(g.nonces, func(n nonce) bool { return n.text == text })
	if i < 0 {
		return false
	}
	g.nonces = slices.Delete(g.nonces, i, i+1)
	return true
}

// login admits the operator who signed a challenge.
func (g *Authenticator) login(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("nonce") == "" && q.Get("sig") == "" {
		g.refuse(w, r, http.StatusUnauthorized, g.howToSignIn())
		return
	}
	key := q.Get("key")
	name, listed := g.c.Operators[key]
	sig, err := base64.RawURLEncoding.DecodeString(q.Get("sig"))
	switch {
	case !listed || err != nil || !signed(key, Statement(q.Get("nonce"), g.c.Digest), sig):
		g.refuse(w, r, http.StatusForbidden, "This is not the signature of an operator who may read here.")
	case !g.signIn(q.Get("nonce")):
		g.refuse(w, r, http.StatusForbidden,
			"This link was used already, or is too old: make another one with `hark console login`.")
	default:
		g.admit(w, r, name, "/", nil)
	}
}

func signed(key string, statement, sig []byte) bool {
	pub, err := nkeys.FromPublicKey(key)
	return err == nil && pub.Verify(statement, sig) == nil
}
