package wire

import (
	"fmt"
	"time"
	"unicode"
)

// Hold says that keepers leave a host alone until a time. Nobody else has to respect it.
type Hold struct {
	Until time.Time `json:"until"`
	Why   string    `json:"why"`
	// By is the public key of the operator who asked for it, "" for a user on the host.
	By string `json:"by,omitempty"`
}

// HoldChange is the body of a KindHold message, sealed for the agent: the hold from now on, nil for none.
type HoldChange struct {
	Hold *Hold `json:"hold"`
}

// HoldChanged answers HoldChange.
type HoldChanged struct {
	Hold *Hold  `json:"hold,omitempty"`
	Err  string `json:"err,omitempty"`
}

// The limits of holds. Every hold ends by itself.
const (
	MaxHold   = 90 * 24 * time.Hour
	maxReason = 300
)

// Check returns what is wrong with a hold.
func (h *Hold) Check(now time.Time) error {
	switch {
	case h.Why == "":
		return fmt.Errorf("a hold needs a reason")
	case h.Until.After(now.Add(MaxHold)):
		return fmt.Errorf("a hold ends within %d days", int(MaxHold/(24*time.Hour)))
	case !h.Until.After(now):
		return fmt.Errorf("the hold would have ended already")
	}
	return h.check()
}

// check returns an error unless the texts are one printable line and one word.
func (h *Hold) check() error {
	if len(h.Why) > maxReason {
		return fmt.Errorf("the reason of a hold has at most %d bytes", maxReason)
	}
	for _, r := range h.Why {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("the reason of a hold is one line of text")
		}
	}
	return CheckWords("operator of a hold", h.By)
}
