package link

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hark/agent/wire"
)

// unheard is a transport on which openings arrive, and nobody seems to listen.
type unheard struct{ wire.Transport }

func (u unheard) Request(ctx context.Context, subject string, frame []byte) ([]byte, error) {
	raw, err := u.Transport.Request(ctx, subject, frame)
	if strings.HasSuffix(subject, "."+string(wire.KindPlan)) {
		return nil, wire.ErrNoResponder
	}
	return raw, err
}

// A session may have spoken, and may count on the answer, when its opening fails: nobody listens any more. Its host is
// not reported before nothing can begin there.
func TestAHostWhoseOpeningFailsBeginsNothingAfterwards(t *testing.T) {
	for seed := range uint64(10) {
		synctest.Test(t, func(t *testing.T) {
			m := makeModel(t, seed, true)
			defer m.close()
			m.patience = 10 * time.Second
			h := m.hosts["h1"]
			h.process.line.noise.delay = time.Second
			m.hub.cfg.Broker = unheard{m.line}
			var texts []string
			for i := range 200 {
				texts = append(texts, fmt.Sprint(i))
			}
			p := steps("0.0", false, "test.t.work", texts...)
			s := start(t, "r1", "h1", p)
			body := s.Plan
			s.Plan = nil // so it is asked for, and the acknowledgement goes alone
			m.hub.cfg.Asks = answerFunc(func(context.Context, wire.Ask) wire.Answer {
				time.Sleep(100 * time.Millisecond)
				return wire.Answer{Data: body, EOF: true}
			})
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			go func() {
				for {
					select {
					case <-m.hub.Events():
					case <-ctx.Done():
						return
					}
				}
			}()
			err := m.hub.Start(t.Context(), s)
			failed := time.Now()
			if err == nil {
				t.Fatal("it was opened")
			}
			time.Sleep(time.Minute)
			h.mu.Lock()
			defer h.mu.Unlock()
			if len(h.began) == 0 {
				t.Fatal("nothing began at all: the session did not speak")
			}
			for text, times := range h.began {
				if late := times[0].Sub(failed); late > 0 {
					t.Errorf("seed %d: step %s began %s after the host was reported: %v", seed, text, late, err)
				}
			}
		})
	}
}
