package link

import (
	"errors"
	"fmt"
	"time"

	"hark/agent/wire"
)

// takeQuestion takes the requests of agents. They are not signed: only the agent and this Hub have the key that opens them.
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
		h.refused(m, err)
	}
}

// takeRenew answers a sign of life with the Advances that were missed.
func (h *Hub) takeRenew(m wire.Msg, f *wire.Frame, p *peer) error {
	var r wire.Renew
	if err := f.Body(&h.codec, wire.SealHost, wire.Keys{Host: &p.hostKey}, &r); err != nil {
		return err
	}
	p.hear(time.Now())
	var out wire.Renewed
	h.mu.Lock()
	out.Over = !p.hosts[r.Host]
	for _, a := range h.advances {
		if a.Seq > r.Advanced {
			out.Advances = append(out.Advances, a)
		}
	}
	h.mu.Unlock()
	h.reply(m, f, p, out)
	return nil
}

// takeAsk answers a question once, however often it comes.
func (h *Hub) takeAsk(m wire.Msg, f *wire.Frame, p *peer) error {
	var a wire.Ask
	if err := f.Body(&h.codec, wire.SealHost, wire.Keys{Host: &p.hostKey}, &a); err != nil {
		return err
	}
	p.hear(time.Now())
	h.mu.Lock()
	ours := p.hosts[a.Host] && a.Run == h.cfg.Run
	q, fresh := h.asked.get(p.id+f.Header.Nonce, a.Kind)
	h.mu.Unlock()
	if !ours {
		return fmt.Errorf("its agent does not serve host %q", a.Host)
	}
	h.work.Go(func() {
		if fresh {
			q.frame = h.pack(f, p, h.cfg.Asks.Answer(h.ctx, a))
			close(q.done)
		}
		select {
		case <-q.done:
		case <-h.ctx.Done():
			return
		}
		if q.frame != nil && errors.Is(h.respond(m, p, q.frame), wire.ErrTooLarge) {
			h.reply(m, f, p, wire.Answer{Err: fmt.Sprintf("the answer has %d MB, which is too much to be sent", len(q.frame)>>20)})
		}
	})
	return nil
}

// answer is a question that came, and what it was answered with.
type answer struct {
	done  chan struct{} // closed when frame is set
	frame []byte        // nil if it could not be packed
}

// answers remembers the last questions, so that one that comes again because its answer was lost is not answered
// twice: a delegated call must not run twice. Pieces of files are not remembered, they can be read again.
type answers struct {
	by    map[string]*answer
	order []string // oldest first
}

// remembered is how many questions are remembered.
const remembered = 4096

func newAnswers() *answers { return &answers{by: map[string]*answer{}} }

// get finds a question by its nonce; fresh says that the caller has to answer it.
func (s *answers) get(nonce string, k wire.AskKind) (q *answer, fresh bool) {
	if q := s.by[nonce]; q != nil {
		return q, false
	}
	q = &answer{done: make(chan struct{})}
	if k == wire.AskBlob || k == wire.AskPlan {
		return q, true
	}
	if len(s.order) >= remembered {
		delete(s.by, s.order[0])
		s.order = s.order[1:]
	}
	s.by[nonce] = q
	s.order = append(s.order, nonce)
	return q, true
}
