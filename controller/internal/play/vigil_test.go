package play

import (
	"strings"
	"testing"
	"time"

	"hark/controller/internal/play/stall"
	"hark/playbook/plan"
)

// ear hears the warnings.
type ear struct {
	notes
	heard chan string // with room for all
}

func (e *ear) Warn(text string) {
	e.notes.Warn(text)
	e.heard <- text
}

func TestARunThatStandsSaysOnceWhomItWaitsFor(t *testing.T) {
	for _, strategy := range []string{"linear", "free"} {
		p := linear("1!", "2!")
		p.Play.Strategy = strategy
		s := newStage(p, "a", "b")
		said := &ear{heard: make(chan string, 1000)}
		s.r.messages = said
		s.stalls = stall.NewDetector(time.Millisecond, time.Now)
		s.theatre.hold = func(host string, step plan.ID) {
			if host == "b" && step == "1" {
				for text := range said.heard {
					if strings.Contains(text, "b at task [t1]") {
						return
					}
				}
			}
		}
		s.play(t)
		for i, line := range said.lines {
			for _, other := range said.lines[i+1:] {
				if line == other {
					t.Errorf("%s: it was said again: %s", strategy, line)
				}
			}
		}
	}
}
