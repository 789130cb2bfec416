package play

import (
	"context"
	"fmt"
	"testing"
	"time"

	"hark/controller/internal/play/link"
	"hark/controller/internal/play/playtest"
	"hark/controller/internal/runs/rollout"
)

// TestPauseBetweenStagesEndsWithTheRun: an interrupt ends it, the next stage does not begin, and the recap comes.
func TestPauseBetweenStagesEndsWithTheRun(t *testing.T) {
	in, _ := caseInput(t, "hosts: a b\nstages: 1", "- hosts: all\n  tasks:\n  - {name: one, command: x}\n")
	screen := &playtest.Script{}
	in.View, in.Messages = screen, &notes{}
	in.Connect = func(_ context.Context, s Serve) (link.Link, error) {
		return &company{theatre: *newTheatre(nil), asks: s.Asks}, nil
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	in.Stages.Pause = time.Hour
	in.Stages.Tell = func(s Stage) {
		tell(screen, s)
		if s.Pause > 0 {
			cancel(context.Canceled)
		}
	}
	res, err := Run(ctx, in)
	if res.Status != Cancelled || err == nil || len(res.Stats.Hosts) != 1 || len(screen.Lines) != 6 {
		t.Errorf("%+v, %v, %q", res, err, screen.Lines)
	}
}

// TestHostsOfStagesAreOfOneStage, whichever plays they have, and in each play the first is a canary.
func TestHostsOfStagesAreOfOneStage(t *testing.T) {
	s := newStaging(&Staging{Stages: rollout.Stages{{Count: 1}, {Percent: 50}}})
	s.meet([]string{"a", "b", "c", "d"})
	s.meet([]string{"d", "e"})
	var got [][]string
	for s.advance() {
		s.meet([]string{"c", "a"}) // who has a stage keeps it
		if s.now == 1 {
			s.meet([]string{"new", "newer"}) // made by the run: not in a stage that is over
		}
		got = append(got, s.hosts())
	}
	want := "[[a d] [b new] [c e newer]]"
	if text := fmt.Sprint(got); text != want {
		t.Errorf("the stages are %s, want %s", text, want)
	}
}
