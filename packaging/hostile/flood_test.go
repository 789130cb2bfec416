//go:build hostile

package hostile

import (
	"fmt"
	"sync"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"hark/agent/wire"
)

// An agent that begins messages and never finishes them uses up no place of another's: what honest hosts send in parts arrives.
func TestUnfinishedPartsDisplaceNobody(t *testing.T) {
	s := newSite(t)
	p := project{"site.yml": "- hosts: all\n  gather_facts: false\n  tasks:\n" +
		"  - shell: head -c 3000000 /dev/urandom | base64 -w0\n    changed_when: false\n    register: r\n  - debug: msg={{ r.stdout | length }}\n"}
	stop := make(chan struct{})
	var flooding sync.WaitGroup
	s.attack(p, func(h *hostile) {
		h.onPlan = func(x *session) {
			flooding.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					default:
					}
					for _, size := range []int{0, 1, 4 << 10, 64 << 10} {
						m := natsgo.NewMsg(wire.Results(x.run, h.identity.ID(), wire.KindBatch))
						m.Header.Set("Hark-Part", fmt.Sprintf("%d-%d 0 2", i, size))
						m.Data = make([]byte, size)
						if err := h.bus.Conn().PublishMsg(m); err != nil {
							return
						}
					}
					time.Sleep(100 * time.Microsecond) // thousands a second, and not all that two cores can do
				}
			})
		}
	})
	close(stop)
	flooding.Wait()
}
