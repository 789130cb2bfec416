package answer

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"hark/agent/wire"
)

// A step that brings files to the controller says where, before its host is called: the host gets a token for that
// place and names only what lies in it. Whoever does not know the token writes nothing, and nothing is written
// through links.

// uploads are the places that were offered to calls.
type uploads struct {
	private Private

	mu     sync.Mutex
	places map[string]*place // by token; guarded by mu
}

// offer names a place for a step. Only the controller's own sessions ask for one.
func (s *uploads) offer(b *batch, ask wire.Ask) (wire.Answer, error) {
	if ask.Place == nil || ask.Place.Root == "" {
		return wire.Answer{}, &refusal{"a place without a path"}
	}
	p := &place{Place: *ask.Place, play: ask.Play}
	p.Root, p.Only, p.Tail = b.Dir.Path(wire.Unescaped(p.Root)), wire.Unescaped(p.Only), wire.Unescaped(p.Tail)
	if s.private.holds(p.Root) {
		return wire.Answer{}, refusePrivate(p.Root)
	}
	token := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places[token] = p
	return wire.Answer{Paths: []string{token}}, nil
}

// take takes a piece of a file that a step fetches. Pieces come in order; the last one carries the digest of
// the whole, and only then does the file appear.
func (s *uploads) take(ask wire.Ask) (wire.Answer, error) {
	u := ask.Upload
	if u == nil {
		return wire.Answer{}, &refusal{"an upload of nothing"}
	}
	token, rel, _ := strings.Cut(wire.Unescaped(u.Dest), "/")
	s.mu.Lock()
	p := s.places[token]
	s.mu.Unlock()
	if p == nil || p.play != ask.Play {
		return wire.Answer{}, &refusal{"no call of the play uploads there"}
	}
	if p.File != (rel == "") && !p.Archive || p.Archive && (rel != "" || u.Stat) ||
		rel != "" && (!filepath.IsLocal(rel) || filepath.Clean(rel) == ".") {
		return wire.Answer{}, &refusal{fmt.Sprintf("%q does not lie in the place", rel)}
	}
	if rel != "" && !s.isFile(p, filepath.Clean(rel)) {
		return wire.Answer{}, &refusal{fmt.Sprintf("%q is not the file that the step fetches", rel)}
	}
	if u.Stat {
		return p.stat(rel)
	}
	s.mu.Lock()
	in := p.in
	p.in = nil
	s.mu.Unlock()
	in, err := p.take(in, rel, u)
	if err != nil || u.Last {
		in.discard()
		return wire.Answer{EOF: u.Last}, err
	}
	s.mu.Lock()
	other := p.in // that a host has begun meanwhile
	p.in = in
	s.mu.Unlock()
	other.discard()
	return wire.Answer{}, nil
}

// isFile reports whether a path is that of the one file of a place. Only its host may know which that is: what it
// names first.
func (s *uploads) isFile(p *place, rel string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case p.Only != "":
		return rel == p.Only
	case p.named == "" && strings.HasSuffix("/"+rel, strings.TrimSuffix(p.Tail, "/")):
		p.named = rel
	}
	return rel == p.named
}

// forget drops the places of a play, with what was never finished.
func (s *uploads) forget(play string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for token, p := range s.places {
		if p.play == play {
			p.in.discard()
			delete(s.places, token)
		}
	}
}
