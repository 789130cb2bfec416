package runner

import (
	"errors"
	"sync"

	"hark/playbook/plan"
)

// errBeyond says that something is not held here. It is no fault of the playbook.
var errBeyond = errors.New("only the controller has what this task needs")

// held is what a session holds of the answers that a step may need, and whether the step in hand has met something
// beyond it.
type held struct {
	own bool // the session is the controller's, which holds everything
	// withheld are names of variables that the host does not get.
	withheld map[string]bool

	mu sync.Mutex
	// beyond: the step in hand has met something that this session does not hold; called: something of it was done.
	// Guarded by mu.
	beyond, called bool
}

// beyondHere notes that the step in hand needs the controller. Templates hide errors, so the note counts and not the
// error.
func (h *held) beyondHere() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.beyond = true
	return errBeyond
}

// isBeyond reports whether that was noted.
func (h *held) isBeyond() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.beyond
}

// fresh is for the next step.
func (h *held) fresh() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.beyond, h.called = false, false
}

// withhold takes in names that this host does not get.
func (h *held) withhold(names []string) {
	for _, name := range names {
		h.withheld[name] = true
	}
}

// commits notes that something of the step in hand is done now: it is too late to hand it over.
func (h *held) commits() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.beyond && !h.called {
		return errBeyond
	}
	h.called = true
	return nil
}

// undone reports whether the step in hand is the controller's, and that nothing of it was done yet.
func (h *held) undone() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.beyond && !h.called
}

// has reports whether a name may be looked up here. With "" all names are meant.
func (h *held) has(s *plan.Step, name string) bool {
	if h.own {
		return true
	}
	if name == "" {
		return len(h.withheld) == 0 && len(s.Withheld) == 0
	}
	if h.withheld[name] {
		return false
	}
	for _, n := range s.Withheld {
		if n == name {
			return false
		}
	}
	return true
}
