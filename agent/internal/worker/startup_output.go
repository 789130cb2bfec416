package worker

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"hark/agent/wire"
	"hark/modules/dialect"
)

// startupOutput is what the become program and the worker print while they start. It keeps the beginning.
type startupOutput struct {
	as         wire.RunAs
	complained chan struct{} // closed when it is clear that the worker will not start
	terminal   bool          // they have one

	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

func newStartupOutput(as wire.RunAs) *startupOutput {
	return &startupOutput{as: as, complained: make(chan struct{})}
}

func (s *startupOutput) Write(p []byte) (int, error) {
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

// complaint returns Ansible's message for a wrong or missing password, "" if there is no problem. It assumes mu held.
func (s *startupOutput) complaint() string {
	as := dialect.RunAs(s.as)
	return as.Words(as.Complaint(s.b.String()))
}

// passwordError is Ansible's message about a password.
type passwordError string

func (e passwordError) Error() string { return string(e) }

// why returns the error of a worker that did not start, with Ansible's messages for passwords.
func (s *startupOutput) why(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if complaint := s.complaint(); complaint != "" {
		return passwordError(complaint)
	}
	if strings.Contains(s.b.String(), "you must have a tty") && !s.terminal {
		return errTerminal
	}
	return fmt.Errorf("cannot run as %s: %s", s.as.User, strings.TrimSpace(strings.TrimSpace(s.b.String())+"\n"+
		err.Error()))
}
