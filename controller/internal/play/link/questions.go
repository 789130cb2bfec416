package link

import (
	"errors"
	"fmt"

	"hark/agent/wire"
)

// takeQuestion takes the requests of agents. They are not signed: only the agent and this Hub have the key that opens
// them.
func (h *Hub) takeQuestion(m wire.Msg) {
	f, p, err := h.fromPeer(m)
	if err == nil {
		switch f.Header.Kind {
		case wire.KindAsk:
			err = h.takeAsk(m, f, p)
		case wire.KindRenew:
			err = h.takeRenew(m, f, p)
		default:
			err = fmt.Errorf("nothing of kind %q is awaited", f.Header.Kind)
		}
	}
	if err != nil {
		h.replies.refused(m, err)
	}
}

// takeRenew answers a sign of life with the Advances that were missed.
func (h *Hub) takeRenew(m wire.Msg, f *wire.Frame, p *peer) error {
	var r wire.Renew
	if err := h.replies.open(f, p, &r); err != nil {
		return err
	}
	if r.Turn == 0 {
		h.replies.reply(m, f, p, h.members.renewCall(p, r, h.times.Fresh))
		return nil
	}
	var out wire.Renewed
	h.members.mu.Lock()
	is := h.members.match(p, r.Host, r.Session)
	if is == current {
		out.StopVerdict = h.members.hosts[r.Host].verdict
	}
	out.Over = is == refused
	for _, a := range h.advances {
		if is == current && a.Seq > r.Advanced {
			out.Advances = append(out.Advances, a)
		}
	}
	h.members.mu.Unlock()
	if is == left {
		h.presence.takeLeave(r.Host)
	}
	h.replies.reply(m, f, p, out)
	return nil
}

// takeAsk answers a question once, however often it comes.
func (h *Hub) takeAsk(m wire.Msg, f *wire.Frame, p *peer) error {
	var asked wire.Question
	if err := h.replies.open(f, p, &asked); err != nil {
		return err
	}
	a := asked.Ask
	if !p.local && !answered(a.Kind) {
		err := fmt.Errorf("agents do not ask for %q: the controller evaluates what needs it", a.Kind)
		h.replies.reply(m, f, p, wire.Answer{Err: "refused: " + err.Error()})
		return err
	}
	h.members.mu.Lock()
	if !p.hosts[a.Host] || a.Run != h.cfg.Run {
		h.members.mu.Unlock()
		return fmt.Errorf("its agent does not serve host %q", a.Host)
	}
	if asked.Turn != 0 && h.members.match(p, a.Host, asked.Session) != current {
		h.members.mu.Unlock()
		h.replies.reply(m, f, p, wire.Answer{StopVerdict: wire.StopVerdict{Over: true}})
		return nil
	}
	q, fresh := h.asked.get(p.id+f.Header.Nonce, a.Kind)
	h.members.mu.Unlock()
	h.work.Go(func() {
		if fresh {
			q.frame = h.replies.pack(f, p, h.blobs.answer(p, a))
			h.members.mu.Lock()
			h.asked.answered(q)
			h.members.mu.Unlock()
			close(q.done)
		}
		select {
		case <-q.done:
		case <-h.ctx.Done():
			return
		}
		if q.frame != nil && errors.Is(h.replies.respond(m, p, q.frame), wire.ErrTooLarge) {
			large := fmt.Sprintf("the answer has %d MB, which is too much to be sent", len(q.frame)>>20)
			h.replies.reply(m, f, p, wire.Answer{Err: large})
		}
	})
	return nil
}

// answered tells the questions that agents beyond this process may ask: about a step that the controller does for
// them, and for content that the controller has named to them or wants of them. All else is asked by sessions of this
// process only.
func answered(k wire.AskKind) bool {
	switch k {
	case wire.AskStep, wire.AskOwn, wire.AskPlan, wire.AskBlob, wire.AskUpload:
		return true
	}
	return false
}

// answer is a question that came, and what it was answered with.
type answer struct {
	nonce string
	done  chan struct{} // closed when frame is set
	frame []byte        // nil if it could not be packed
}

// answers remembers questions, so that one that comes again because its answer was lost is not answered twice: a
// delegated call must not run twice. Of those that were answered the last are remembered. Pieces of files are not,
// they can be read again. Its methods assume members.mu held.
type answers struct {
	by    map[string]*answer
	order []string // of those that were answered, oldest first
	held  int      // bytes of their frames
}

// How many answered questions are remembered, and how many bytes their answers may have: more than a large fleet asks
// in the time in which an agent asks again.
const (
	remembered      = 1 << 16
	rememberedBytes = 256 << 20
)

func newAnswers() *answers { return &answers{by: map[string]*answer{}} }

// get finds a question by its nonce; fresh says that the caller has to answer it.
func (s *answers) get(nonce string, k wire.AskKind) (q *answer, fresh bool) {
	if q := s.by[nonce]; q != nil {
		return q, false
	}
	q = &answer{nonce: nonce, done: make(chan struct{})}
	if k != wire.AskBlob && k != wire.AskPlan {
		s.by[nonce] = q
	}
	return q, true
}

// answered notes that a question has its frame, and forgets the oldest ones beyond the limits.
func (s *answers) answered(q *answer) {
	if s.by[q.nonce] != q {
		return // a piece of a file
	}
	s.order = append(s.order, q.nonce)
	s.held += len(q.frame)
	for len(s.order) > remembered || s.held > rememberedBytes {
		oldest := s.order[0]
		s.held -= len(s.by[oldest].frame)
		delete(s.by, oldest)
		s.order = s.order[1:]
	}
}
