package worker

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"hark/agent/wire"
	"hark/modules/dialect"
)

// speech is what the become program and the worker say while it comes up. It keeps the beginning.
type speech struct {
	as         wire.RunAs
	complained chan struct{} // closed when it is clear that nothing will come of it
	terminal   bool          // whether they have one

	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

func newSpeech(as wire.RunAs) *speech {
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

// complaint words what is wrong with the password as Ansible does; "" if nothing is. It assumes mu held.
func (s *speech) complaint() string {
	as := dialect.RunAs(s.as)
	return as.Words(as.Complaint(s.b.String()))
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
	if strings.Contains(s.b.String(), "you must have a tty") && !s.terminal {
		return errTerminal
	}
	return fmt.Errorf("cannot run as %s: %s", s.as.User, strings.TrimSpace(strings.TrimSpace(s.b.String())+"\n"+err.Error()))
}
