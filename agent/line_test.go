package agent

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"hark/agent/wire"
	"hark/agent/wire/mem"
)

// newTestLine is a line of an agent that does not run, in the third turn.
func newTestLine(t *testing.T) *line {
	t.Helper()
	var bus mem.Bus
	identity := newIdentity(t)
	a := New(Config{Transport: bus.Connect(identity.ID()), Identity: identity, Heartbeat: -1})
	l := newLine(a, "operator", "r", "h1", wire.Key{}, terms{})
	l.begin(wire.Session{Life: "now", Turn: 3}, terms{lease: time.Minute, fresh: 3 * time.Second})
	return l
}

// Something begins only on an answer to a question of this turn that is fresh, counted from the question.
func TestOnlyFreshAnswersOfTheTurnCount(t *testing.T) {
	this := wire.Session{Life: "now", Turn: 3}
	for name, tt := range map[string]struct {
		as  wire.Session
		ago time.Duration
		ok  bool
	}{
		"fresh":                 {this, 2 * time.Second, true},
		"old":                   {this, 4 * time.Second, false},
		"of an earlier turn":    {wire.Session{Life: "now", Turn: 2}, 0, false},
		"of an earlier process": {wire.Session{Life: "before", Turn: 3}, 0, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newTestLine(t)
			time.Sleep(time.Minute)
			l.answered(time.Now().Add(-tt.ago), tt.as)
			asked := false
			err := l.awaitWanted(t.Context(), func() {
				asked = true
				l.answered(time.Now(), this)
			})
			if err != nil || asked == tt.ok {
				t.Errorf("%s: asked %v, %v", name, asked, err)
			}
		})
	}
}

// A way that is too slow for anything to begin is an error after a while, and no waiting for ever.
func TestAnswersThatAlwaysComeLateAreAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTestLine(t)
		err := l.awaitWanted(t.Context(), func() { l.answered(time.Now().Add(-5*time.Second), l.who()) })
		if !errors.Is(err, errSlow) {
			t.Errorf("it ended with %v", err)
		}
	})
}
