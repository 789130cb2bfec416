package link

import (
	"encoding/json"
	"fmt"
	"time"

	"hark/agent/wire"
	"hark/modules/py/value"
)

// takeResult takes what an agent sends of its own: batches of events and results of delegated calls. The key of the
// session, which nobody else has, says that they are its; agents of earlier versions sign them as well.
func (h *Hub) takeResult(m wire.Msg) {
	f, p, err := h.fromPeer(m)
	if err == nil && f.Signed && f.Header.Issuer != p.key {
		err = fmt.Errorf("it is signed by another agent than the one whose subject it is on")
	}
	if err == nil {
		switch f.Header.Kind {
		case wire.KindBatch:
			err = h.takeBatch(m, f, p)
		case wire.KindExecDone:
			err = h.takeExecDone(m, f, p)
		case wire.KindEnd:
			err = h.takeEnded(f, p)
		default:
			err = fmt.Errorf("nothing of kind %q is awaited", f.Header.Kind)
		}
	}
	if err != nil {
		h.replies.refused(m, err)
	}
}

// fromPeer finds the agent whose subject a message is on. Run and kind of the envelope must be the subject's.
func (h *Hub) fromPeer(m wire.Msg) (*wire.Frame, *peer, error) {
	f, err := wire.Parse(m.Data)
	if err != nil {
		return nil, nil, err
	}
	h.members.mu.Lock()
	p := h.members.peers[wire.SubjectID(m.Subject)]
	h.members.mu.Unlock()
	switch {
	case p == nil:
		return nil, nil, fmt.Errorf("its agent has no part in this run")
	case f.Header.Run != h.cfg.Run || f.Header.Kind != wire.SubjectKind(m.Subject):
		return nil, nil, fmt.Errorf("its envelope does not belong to its subject")
	}
	return f, p, nil
}

// takeBatch delivers the events that are new and acknowledges all that are delivered. It blocks while the reader of
// Events does not keep up: the agent then waits with its next batch.
func (h *Hub) takeBatch(m wire.Msg, f *wire.Frame, p *peer) error {
	var b wire.Batch
	if err := openBatch(h, f, p, &b); err != nil {
		return err
	}
	h.members.mu.Lock()
	t := h.members.hosts[b.Host]
	if t == nil || !p.hosts[b.Host] {
		h.members.mu.Unlock()
		return fmt.Errorf("its agent does not serve host %q", b.Host)
	}
	is := h.members.match(p, b.Host, b.Session)
	if is == refused && t.over && t.peer == p && b.Turn == t.turn && (t.life == "" || t.life == b.Session.Life) {
		h.notices.late(b.Host, t.seq, b.Events)
	}
	if is == refused {
		h.members.mu.Unlock()
		h.replies.reply(m, f, p, wire.Acked{StopVerdict: wire.StopVerdict{Over: true}, Run: b.Run, Host: b.Host})
		return nil
	}
	if is == current {
		t.takeReceipt(b.Ack)
	}
	had := t.seq
	h.members.mu.Unlock()
	if is == current && !p.local && h.cfg.Keep != nil {
		h.cfg.Keep(p.id, m.Data)
	}
	for _, e := range b.Events {
		if e.Run != h.cfg.Run || e.Host != b.Host {
			return fmt.Errorf("an event is about host %q of run %q", e.Host, e.Run)
		}
		if !h.deliver(t, e, b.Turn) {
			break
		}
	}
	answerBatch(h, m, f, p, t, &b, had)
	return nil
}

// MostOfBatch is how many bytes what a batch holds may take in this process. It is more than what one host may say in
// all, since what a task has said and what became a variable are both in it.
const MostOfBatch = 192 << 20

// mayBeHeavy is the length in bytes from which the memory that a batch takes is estimated before it is read.
const mayBeHeavy = 1 << 20

// openBatch opens a batch. Of one that would take too much only that is left.
func openBatch(h *Hub, f *wire.Frame, p *peer, b *wire.Batch) error {
	raw, err := f.Bytes(h.codec, wire.SealHost, wire.Keys{Host: &p.hostKey})
	if err != nil {
		return err
	}
	p.hear(time.Now())
	if len(raw) <= mayBeHeavy || value.Weight(raw) <= MostOfBatch {
		return wire.Decode(raw, b)
	}
	var heads struct {
		wire.Session
		Run, Host string
		Events    []struct {
			Run, Play, Host string
			Seq             uint64
		}
	}
	if err := json.Unmarshal(raw, &heads); err != nil || len(heads.Events) == 0 {
		return fmt.Errorf("it holds too much, and no events: %v", err)
	}
	first := heads.Events[0]
	b.Session, b.Run, b.Host = heads.Session, heads.Run, heads.Host
	b.Events = []wire.Event{{Run: first.Run, Play: first.Play, Host: first.Host, Seq: first.Seq, Kind: wire.Excess}}
	return nil
}

// answerBatch answers a batch whose events are delivered, at once or with what comes next for its host. had is the
// last event that was there before. A batch that was still to be answered is answered now: its session waits for
// that, and would send it again.
func answerBatch(h *Hub, m wire.Msg, f *wire.Frame, p *peer, t *host, b *wire.Batch, had uint64) {
	h.members.mu.Lock()
	news := t.seq > had
	var before []dueAck
	if t.deferredAck != nil && news { // else this one was sent in its place
		before = append(before, takeDueAck(h.cfg.Run, t, time.Now()))
	}
	over := goes(h, t, b)
	later := !over && t.deferAck(m, f, b, news)
	acked := wire.Acked{StopVerdict: t.verdict, Run: b.Run, Host: b.Host, Seq: t.seq}
	acked.Over = over
	h.members.mu.Unlock()
	sendAcks(h, before)
	if !later {
		h.replies.reply(m, f, p, acked)
	}
}

// goes reports whether a session has sent its end, and nothing comes for its host any more: the answer ends it, and
// the end of the run need not be told to its agent, unless that serves another host, or does a call. members.mu is
// held.
func goes(h *Hub, t *host, b *wire.Batch) bool {
	n := len(b.Events)
	if !t.last || n == 0 || b.Events[n-1].Kind != wire.Ended || b.Events[n-1].Seq != t.seq {
		return false
	}
	for name := range t.peer.hosts {
		if name != t.name {
			return true
		}
	}
	for _, x := range h.members.calls {
		if x.peer == t.peer {
			return true
		}
	}
	if t.went = true; t.peer.is(reportsEnd) {
		t.peer.end(hasEnded)
	}
	return true
}

// deliver hands on an event if it is the next of its host. It is false if the batch cannot go on.
func (h *Hub) deliver(t *host, e wire.Event, turn uint64) bool {
	fresh, ok := h.members.note(t, e, turn)
	if !fresh {
		return ok
	}
	e.Own = t.peer.local
	select {
	case h.events <- e:
		return true
	case <-h.ctx.Done():
		return false
	}
}
