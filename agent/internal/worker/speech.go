package worker

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"hark/agent/wire"
)

// speech is what sudo, su and the worker say while it comes up. It keeps the beginning.
type speech struct {
	as         wire.RunAs
	complained chan struct{} // closed when it is clear that nothing will come of it

	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

func newSpeech(as wire.RunAs) *speech {
	if as.Method == "" {
		as.Method = "sudo"
	}
	return &speech{as: as, complained: make(chan struct{})}
}

func (s *speech) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := s.complaint()
	if room := 4<<10 - s.b.Len(); room > 0 {
		s.b.Write(p[:min(room, len(p))])
	}
	if had == "" && s.complaint() != "" {
		close(s.complained)
	}
	return len(p), nil
}

// complaint words what is wrong with the password as Ansible does; "" if nothing is. sudo and su would ask again, and wait for
// an answer that nobody gives. It assumes mu held.
func (s *speech) complaint() string {
	said := strings.ToLower(s.b.String())
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(said, w) {
				return true
			}
		}
		return false
	}
	method := s.as.Method[strings.LastIndexByte(s.as.Method, '.')+1:]
	switch {
	case has("a password is required"), s.as.Password == "" && has("authentication failure", "password:"):
		return "Missing " + method + " password"
	case has("incorrect password", "sorry, try again", "authentication failure"):
		return "Incorrect " + method + " password"
	}
	return ""
}

// passwordError is worded as Ansible words it.
type passwordError string

func (e passwordError) Error() string { return string(e) }

// why words a worker that did not come up, with Ansible's messages for passwords.
func (s *speech) why(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if complaint := s.complaint(); complaint != "" {
		return passwordError(complaint)
	}
	return fmt.Errorf("cannot run as %s: %s", s.as.User, strings.TrimSpace(strings.TrimSpace(s.b.String())+"\n"+err.Error()))
}
