package link

import (
	"cmp"
	"slices"
	"time"

	"hark/agent/wire"
)

// owed is a batch whose events are delivered and that was not answered yet: its host stands at a gate, and the
// Advance that lets it go will do for all, or has ended its play.
type owed struct {
	msg   wire.Msg
	frame *wire.Frame
	since time.Time
}

// owedFor is how long an answer may be owed: agents send again after 5 s, and later where their answers count for
// longer.
const owedFor = 1500 * time.Millisecond

// owesFor is how long an answer to the host's session may be owed.
func (t *host) owesFor() time.Duration { return max(owedFor, t.fresh/2) }

// mostRanges is how many ranges of sessions an Advance names. The others are answered one by one.
const mostRanges = 256

// letGo notes whom an Advance moves: of a host that waits nothing is to come, and of one that goes there is. The
// Advance answers what they have sent, but for those that it does not name: they are to be answered alone, since
// until then they tell nothing of what they do. Hub.mu is held.
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
			alone = append(alone, t)
			continue
		}
		t.owed = nil
	}
	return alone
}

// moves reports whether an Advance moves a host that stands at a gate; only are those whom it names.
func moves(a *wire.Advance, only map[string]bool, t *host) bool {
	here := a.Step == t.gate && (len(only) == 0 || only[t.name])
	return here || a.EndPlay || slices.Contains(a.Drop, t.name) || slices.Contains(a.Fail, t.name)
}

// owes reports whether the answer to a batch can wait for the Advance that lets its host go, and keeps it until then;
// at the end of a play, for the next one or the run's end, which answer it too. What was sent again, and brought no
// news, is answered at once, and so is a session whose answers are late. Hub.mu is held.
func (t *host) owes(m wire.Msg, f *wire.Frame, b *wire.Batch, news bool) bool {
	t.owed = nil
	last := b.Events[max(0, len(b.Events)-1):]
	if !t.hears || !news || t.verdict.Fresh > 0 || len(last) == 0 || last[0].Seq != t.seq || t.gate == "" && last[0].Kind != wire.Ended {
		return false
	}
	t.owed = &owed{m, f, time.Now()}
	return true
}

// debt is an owed batch with its answer.
type debt struct {
	*owed
	to    *peer
	acked wire.Acked
}

// due is what a host is owed, which it is not any more. Hub.mu is held.
func due(run string, t *host, now time.Time) debt {
	d := debt{t.owed, t.peer, wire.Acked{Verdict: wire.Verdict{Over: t.over, Held: now.Sub(t.owed.since)}, Run: run, Host: t.name, Seq: t.seq}}
	t.owed = nil
	return d
}

// pay answers batches.
func pay(h *Hub, debts []debt) {
	for _, d := range debts {
		h.reply(d.msg, d.frame, d.to, d.acked)
	}
}

// payUp answers the batches that have waited for too long.
func payUp(h *Hub, now time.Time) {
	var debts []debt
	h.mu.Lock()
	for _, t := range h.hosts {
		if t.owed != nil && now.Sub(t.owed.since) >= t.owesFor() {
			debts = append(debts, due(h.cfg.Run, t, now))
		}
	}
	h.mu.Unlock()
	pay(h, debts)
}
