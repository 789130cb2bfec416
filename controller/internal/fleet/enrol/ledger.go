package enrol

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/statefile"
)

// bookFile is the book's name in the broker's directory, bookVersion the version of its form.
const (
	bookFile    = "enrolled.json"
	bookVersion = 1
)

// mostPending is how many agents may wait for approval: the holder of a token cannot fill the disk.
const mostPending = 10_000

// book is the record of tokens and agents. It is used by one goroutine at a time.
type ledger struct {
	path string

	Version int     `json:"version"`
	Tokens  []Token `json:"tokens"`
	Agents  []Agent `json:"agents"`
	// Requests are the nonces of the operators' requests that changed the book, until they expire: none of them
	// counts again after a restart.
	Requests map[string]time.Time `json:"requests,omitempty"`
}

func openLedger(dir string) (*ledger, error) {
	b := &ledger{path: filepath.Join(dir, bookFile), Version: bookVersion}
	if err := statefile.Load(b.path, bookVersion, b); err != nil {
		return nil, fmt.Errorf("cannot read the book of agents %s: %v", b.path, err)
	}
	return b, nil
}

// clone returns a copy that does not change with the book.
func (b *ledger) clone() *ledger {
	c := *b
	c.Tokens, c.Agents, c.Requests = slices.Clone(b.Tokens), slices.Clone(b.Agents), maps.Clone(b.Requests)
	return &c
}

// did notes a request that changes the book.
func (b *ledger) did(nonce string, until time.Time) {
	if b.Requests == nil {
		b.Requests = map[string]time.Time{}
	}
	b.Requests[nonce] = until
}

// keep writes the book whole. What has expired is left out.
func (b *ledger) keep(now time.Time) error {
	maps.DeleteFunc(b.Requests, func(_ string, until time.Time) bool { return until.Before(now) })
	b.Tokens = slices.DeleteFunc(b.Tokens, func(t Token) bool { return t.Expires.Before(now) })
	if err := statefile.Save(b.path, b); err != nil {
		return fmt.Errorf("cannot keep the book of agents: %v", err)
	}
	return nil
}

// token finds a token that is still good.
func (b *ledger) token(key string, now time.Time) *Token {
	for i := range b.Tokens {
		if t := &b.Tokens[i]; t.Key == key && now.Before(t.Expires) {
			return t
		}
	}
	return nil
}

// find returns the agents that a name, a key or an id means.
func (b *ledger) find(what string) []*Agent {
	var out []*Agent
	for i := range b.Agents {
		if a := &b.Agents[i]; what != "" && (a.Name == what || a.Key == what || wire.IDOf(a.Key) == what) {
			out = append(out, a)
		}
	}
	return out
}

// key returns the agent of a key, nil if there is none.
func (b *ledger) key(key string) *Agent {
	for i := range b.Agents {
		if b.Agents[i].Key == key {
			return &b.Agents[i]
		}
	}
	return nil
}

// named returns the approved agent of a name, nil if there is none.
func (b *ledger) named(name string) *Agent {
	for i := range b.Agents {
		if a := &b.Agents[i]; a.Name == name && a.State == Approved {
			return a
		}
	}
	return nil
}

// put enters an agent, in place of what was there of its key.
func (b *ledger) put(a Agent) {
	if had := b.key(a.Key); had != nil {
		*had = a
		return
	}
	b.Agents = append(b.Agents, a)
}

// drop forgets the agent of a key.
func (b *ledger) drop(key string) {
	b.Agents = slices.DeleteFunc(b.Agents, func(a Agent) bool { return a.Key == key })
}

// dropTokensBy withdraws the tokens that an operator made, and returns how many there were.
func (b *ledger) dropTokensBy(operator string) int {
	n := len(b.Tokens)
	b.Tokens = slices.DeleteFunc(b.Tokens, func(t Token) bool { return t.By == operator })
	return n - len(b.Tokens)
}

func (b *ledger) pending() int {
	n := 0
	for _, a := range b.Agents {
		if a.State == Pending {
			n++
		}
	}
	return n
}
