package display

import (
	"fmt"
	"testing"
	"time"

	"hark/agent/wire"
)

func TestAwaitedJobsAreShownAsOftenAsTheirTaskSays(t *testing.T) {
	now := time.Unix(1700000000, 0)
	p := NewJobPolls()
	p.now = func() time.Time { return now }
	awaited := func(host, job string, every time.Duration) wire.Event {
		return wire.Event{Kind: wire.Progress, Host: host, Every: every,
			Outcome: &wire.Outcome{Result: fmt.Appendf(nil, `{"ansible_job_id": %q, "finished": 0}`, job)}}
	}
	if _, waits := p.Wake(); waits {
		t.Error("there is something to wait for")
	}
	if !p.Heed(awaited("a", "j1", 3*time.Second)) || !p.Heed(awaited("a", "j2", 5*time.Second)) ||
		!p.Heed(awaited("b", "j3", 4*time.Second)) {
		t.Error("an event that begins the wait is shown")
	}
	shown := map[string]int{}
	for range 12 {
		now = now.Add(time.Second)
		for _, e := range p.Due() {
			shown[jobOf(e)]++
		}
	}
	if want := map[string]int{"j1": 4, "j2": 2, "j3": 3}; fmt.Sprint(shown) != fmt.Sprint(want) {
		t.Errorf("shown %v, want %v", shown, want)
	}
	end := awaited("a", "j1", 0)
	end.Text = "ok"
	if p.Heed(end) || p.Heed(wire.Event{Kind: wire.Ended, Host: "b"}) {
		t.Error("an end is not shown")
	}
	if d, waits := p.Wake(); !waits || d != 3*time.Second || len(p.waiting) != 1 {
		t.Errorf("the next is in %s of %v", d, p.waiting)
	}
}
