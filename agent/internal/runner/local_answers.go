package runner

import (
	"errors"
	"sync"

	"hark/playbook/plan"
)

// errBeyond says that this session does not hold something. It is no fault of the playbook.
var errBeyond = errors.New("only the controller has what this task needs")

// localAnswers is what a session can answer of what a step may need, and whether the current step has needed more.
type localAnswers struct {
	own bool // the session is the controller's, which holds everything
	// withheld are names of variables that the host does not get.
	withheld map[string]bool

	mu sync.Mutex
	// beyond says that the current step needed something that this session does not hold; called says that a part of
	// it was done. Guarded by mu.
	beyond, called bool
}

// beyondHere notes that the current step needs the controller. Templates hide errors, so the note counts and not the
// error.
func (h *localAnswers) beyondHere() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.beyond = true
	return errBeyond
}

// isBeyond reports whether beyondHere was called for the current step.
func (h *localAnswers) isBeyond() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.beyond
}

// fresh resets the notes for the next step.
func (h *localAnswers) fresh() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.beyond, h.called = false, false
}

// withhold adds names that this host does not get.
func (h *localAnswers) withhold(names []string) {
	for _, name := range names {
		h.withheld[name] = true
	}
}

// commits notes that a part of the current step is done now: it is too late to hand it over.
func (h *localAnswers) commits() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.beyond && !h.called {
		return errBeyond
	}
	h.called = true
	return nil
}

// undone reports whether the current step is the controller's and no part of it was done yet.
func (h *localAnswers) undone() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.beyond && !h.called
}

// has reports whether a name may be looked up here. "" stands for all names.
func (h *localAnswers) has(s *plan.Step, name string) bool {
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
