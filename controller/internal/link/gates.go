package link

import (
	"cmp"
	"slices"
	"time"

	"hark/agent/wire"
)

// owed is a batch whose events are delivered and that was not answered yet: its host stands at a gate, and the Advance that lets it go will do for all, or has ended
// its play.
type owed struct {
	msg   wire.Msg
	frame *wire.Frame
	since time.Time
}

// owedFor is how long an answer may be owed: agents send again after 5 s, and later where their answers count for longer.
const owedFor = 1500 * time.Millisecond

// owesFor is how long an answer to the host's session may be owed.
func (t *host) owesFor() time.Duration { return max(owedFor, t.fresh/2) }

// mostRanges is how many ranges of sessions an Advance names. The others are answered one by one.
const mostRanges = 256

// letGo notes whom an Advance moves: of a host that waits nothing is to come, and of one that goes there is. The Advance answers what they have sent. Hub.mu is held.
func letGo(hosts map[string]*host, a *wire.Advance) {
	now := time.Now()
	only := map[string]bool{}
	for _, name := range a.Only {
		only[name] = true
	}
	var heard []*host
	for _, t := range hosts {
		if t.gate == "" || !moves(a, only, t) {
			continue
		}
		t.gate = ""
		t.peer.release(now)
		if t.owed != nil && !t.over {
			heard = append(heard, t)
		}
	}
	slices.SortFunc(heard, func(x, y *host) int { return cmp.Compare(x.place, y.place) })
	for _, t := range heard {
		n := len(a.Heard)
		switch {
		case n > 0 && a.Heard[n-1]+1 == t.place:
			a.Heard[n-1] = t.place
		case n < 2*mostRanges:
			a.Heard = append(a.Heard, t.place, t.place)
		default:
			continue
		}
		t.owed = nil
	}
}

// moves tells whether an Advance moves a host that stands at a gate; only are those whom it names.
func moves(a *wire.Advance, only map[string]bool, t *host) bool {
	here := a.Step == t.gate && (len(only) == 0 || only[t.name])
	return here || a.EndPlay || slices.Contains(a.Drop, t.name) || slices.Contains(a.Fail, t.name)
}

// owes tells whether the answer to a batch can wait for the Advance that lets its host go, and keeps it until then; at the end of a play, for the next one or the run's
// end, which answer it too. What was sent again, and brought no news, is
// answered at once, and so is a session whose answers are late. Hub.mu is held.
func (t *host) owes(m wire.Msg, f *wire.Frame, b *wire.Batch, news bool) bool {
	t.owed = nil
	last := b.Events[max(0, len(b.Events)-1):]
	if !t.hears || !news || t.verdict.Fresh > 0 || len(last) == 0 || last[0].Seq != t.seq || t.gate == "" && last[0].Kind != wire.Ended {
		return false
	}
	t.owed = &owed{m, f, time.Now()}
	return true
}

// payUp answers the batches that have waited for too long.
func payUp(h *Hub, now time.Time) {
	type debt struct {
		*owed
		to    *peer
		acked wire.Acked
	}
	var due []debt
	h.mu.Lock()
	for name, t := range h.hosts {
		if t.owed == nil || now.Sub(t.owed.since) < t.owesFor() {
			continue
		}
		v := wire.Verdict{Over: t.over, Held: now.Sub(t.owed.since)}
		due = append(due, debt{t.owed, t.peer, wire.Acked{Verdict: v, Run: h.cfg.Run, Host: name, Seq: t.seq}})
		t.owed = nil
	}
	h.mu.Unlock()
	for _, d := range due {
		h.reply(d.msg, d.frame, d.to, d.acked)
	}
}
