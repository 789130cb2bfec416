package keeper

import (
	"context"
	"errors"
	"slices"
	"strings"

	"hark/agent/wire"
)

// Look reports, by an agent's answer to a ping, whether a host's turn may begin, and if not, why. Runs whose controller
// has gone, as those of a keeper that was killed, keep no host: their sessions stay for as long as somebody may come
// for what they tell. A turn that comes while the broker is away is tried again.
func (j *Job) Look(hello wire.Hello, err error) (Outcome, bool) {
	going := slices.DeleteFunc(slices.Clone(hello.Runs),
		func(id string) bool { return slices.Contains(hello.Orphans, id) })
	switch {
	case errors.Is(err, wire.ErrNoResponder):
		return Outcome{Status: Away, Why: "its agent is not connected to the broker"}, false
	case errors.Is(err, context.DeadlineExceeded):
		return Outcome{Status: Away, Why: "its agent did not answer"}, false
	case errors.Is(err, wire.ErrAway): // it was not asked: nothing is known, and nothing done
		return Outcome{Status: Busy, Why: err.Error()}, false
	case err != nil:
		return Outcome{Status: Broke, Why: err.Error()}, false
	case hello.Hold != nil:
		return Outcome{Status: OnHold, Why: hello.Hold.Why, Until: hello.Hold.Until}, false
	case len(going) > 0 && !j.Push:
		return Outcome{Status: Busy, Why: "it is at run " + strings.Join(going, ", ")}, false
	}
	return Outcome{}, true
}
