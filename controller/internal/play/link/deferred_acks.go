package link

import (
	"cmp"
	"slices"
	"time"

	"hark/agent/wire"
)

// deferredAck is a batch whose events are delivered and that was not answered yet: its host stands at a gate, and the
// Advance that lets it go will do for all, or has ended its play.
type deferredAck struct {
	msg   wire.Msg
	frame *wire.Frame
	since time.Time
}

// maxAckDelay is how long an answer may be owed: agents send again after 5 s, and later where their answers count for
// longer.
const maxAckDelay = 1500 * time.Millisecond

// ackDelay returns how long an answer to the host's session may be owed.
func (t *host) ackDelay() time.Duration { return max(maxAckDelay, t.fresh/2) }

// mostRanges is how many ranges of sessions an Advance names. The others are answered one by one.
const mostRanges = 256

// letGo notes which hosts an Advance moves: nothing is awaited of a host that waits, but of one that goes. The
// Advance answers what they have sent, but for those that it does not name: they are answered one by one, since until
// then they report nothing of what they do. members.mu is held.
func letGo(hosts map[string]*host, a *wire.Advance) (alone []*host) {
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
		if t.deferredAck != nil && !t.over {
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
			alone = append(alone, t)
			continue
		}
		t.deferredAck = nil
	}
	return alone
}

// moves reports whether an Advance moves a host that stands at a gate; only are those that it names.
func moves(a *wire.Advance, only map[string]bool, t *host) bool {
	here := a.Step == t.gate && (len(only) == 0 || only[t.name])
	return here || a.EndPlay || slices.Contains(a.Drop, t.name) || slices.Contains(a.Fail, t.name)
}

// deferAck reports whether the answer to a batch can wait for the Advance that lets its host go, and keeps it until
// then; at the end of a play, for the next one or the run's end, which answer it too. What was sent again, and brought
// no news, is answered at once, and so is a session whose answers are late. members.mu is held.
func (t *host) deferAck(m wire.Msg, f *wire.Frame, b *wire.Batch, news bool) bool {
	t.deferredAck = nil
	last := b.Events[max(0, len(b.Events)-1):]
	if !t.hears || !news || t.verdict.Fresh > 0 || len(last) == 0 || last[0].Seq != t.seq ||
		t.gate == "" && last[0].Kind != wire.Ended {
		return false
	}
	t.deferredAck = &deferredAck{m, f, time.Now()}
	return true
}

// dueAck is an owed batch with its answer.
type dueAck struct {
	*deferredAck
	to    *peer
	acked wire.Acked
}

// takeDueAck returns what a host is owed, which it is not any more. members.mu is held.
func takeDueAck(run string, t *host, now time.Time) dueAck {
	d := dueAck{t.deferredAck, t.peer,
		wire.Acked{StopVerdict: wire.StopVerdict{Over: t.over, Held: now.Sub(t.deferredAck.since)}, Run: run, Host: t.name,
			Seq: t.seq}}
	t.deferredAck = nil
	return d
}

// sendAcks answers batches.
func sendAcks(h *Hub, debts []dueAck) {
	for _, d := range debts {
		h.replies.reply(d.msg, d.frame, d.to, d.acked)
	}
}

// sendLateAcks answers the batches that have waited for too long, or all of them.
func sendLateAcks(h *Hub, now time.Time, all bool) {
	var debts []dueAck
	h.members.mu.Lock()
	for _, t := range h.members.hosts {
		if t.deferredAck != nil && (all || now.Sub(t.deferredAck.since) >= t.ackDelay()) {
			debts = append(debts, takeDueAck(h.cfg.Run, t, now))
		}
	}
	h.members.mu.Unlock()
	sendAcks(h, debts)
}
