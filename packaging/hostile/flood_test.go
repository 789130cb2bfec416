//go:build hostile

package hostile

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"hark/agent/wire"
)

// An agent that begins messages and never finishes them uses up no place of another's: what honest hosts send in
// parts arrives.
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

// What an agent says at length is shown, or refused, while others' plays go on: warnings that wrap badly, diffs of
// which every line differs, values that are deep and wide. Each of these held up the controller for minutes.
func TestLongWordsHoldUpNobody(t *testing.T) {
	s := newSite(t)
	lines := func(form string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, form, i)
		}
		return b.String()
	}
	quote := func(v any) string {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	const size = 4 << 20
	for name, result := range map[string]string{
		"one word": quote(map[string]any{"warnings": []string{strings.Repeat("a", size)}}),
		"hyphens":  quote(map[string]any{"warnings": []string{"a" + strings.Repeat("-", size)}}),
		"many":     quote(map[string]any{"warnings": strings.Split(lines("w%d a-b\n", size/16), "\n")}),
		"diff":     quote(map[string]any{"changed": true, "diff": []any{map[string]string{"before": lines("a\n%d\n", size/16), "after": lines("a\n-%d\n", size/16)}}}),
		"depth":    `{"_ansible_verbose_always": true, "x": ` + strings.Repeat("[", 400) + strings.Repeat("1,", size/4) + "1" + strings.Repeat("]", 400) + `}`,
	} {
		t.Log(name)
		s.attack(project{"site.yml": "- hosts: all\n  gather_facts: false\n  tasks:\n  - ping:\n  - debug: msg=end\n"}, func(h *hostile) {
			h.onEvent = func(x *session, e wire.Event) []wire.Event {
				if e.Kind == wire.Done && e.Step == x.step("ping") {
					e.Outcome.Result = []byte(result)
				}
				return []wire.Event{e}
			}
		}, "--diff")
	}
}
