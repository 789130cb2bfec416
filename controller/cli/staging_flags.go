package cli

import (
	"fmt"
	"strings"
	"time"

	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/play"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/runs/rollout"
	"hark/controller/internal/ui/view"
)

// staging are the flags of a run in stages.
type staging struct {
	text, stopAt string
	pause        time.Duration
}

func (s *staging) flags(fs flags) {
	fs.Text(&s.text, "stages", "", "", "N,...",
		"bring the plays to so many hosts first, then to more: numbers of hosts or parts of them, such as 1,10%,100%")
	fs.Span(&s.pause, "pause", 0, "DURATION", "with --stages: how long to wait between them")
	fs.Text(&s.stopAt, "stop-at", "", "", "N",
		"with --stages: end the run when so many of the hosts so far, or such a part of them, failed or were not reached "+
			"(default: 1)")
}

// read returns what the flags say, nil without stages. Quiet is a flag that has nothing run, "" for none.
func (s *staging) read(fs flags, quiet string) (*play.Staging, error) {
	if !fs.Changed("stages") {
		for _, name := range []string{"pause", "stop-at"} {
			if fs.Changed(name) {
				return nil, &argparse.UsageError{Text: fmt.Sprintf("argument --%s: it is for runs with --stages", name)}
			}
		}
		return nil, nil
	}
	if quiet != "" {
		return nil, &argparse.UsageError{Text: "argument --stages: not allowed with argument --" + quiet +
			", which runs nothing"}
	}
	out := &play.Staging{Pause: s.pause, StopAt: rollout.Share{Count: 1}}
	var err error
	if out.Stages, err = rollout.Parse(s.text); err != nil {
		return nil, &argparse.UsageError{Text: "argument --stages: " + err.Error()}
	}
	if fs.Changed("stop-at") {
		if out.StopAt, err = rollout.ParseShare(s.stopAt); err != nil {
			return nil, &argparse.UsageError{Text: "argument --stop-at: " + err.Error()}
		}
	}
	if s.pause < 0 {
		return nil, &argparse.UsageError{Text: "argument --pause: it cannot be negative"}
	}
	return out, nil
}

// tellStage prints a stage on stderr, since stdout belongs to the views.
func (p *run) tellStage(s play.Stage) {
	hosts := view.Fold(s.Hosts)
	say := func(format string, a ...any) {
		p.display.PrintErr(view.NoColor, fmt.Sprintf("stage %d of %d", s.N, s.Of)+fmt.Sprintf(format, a...))
	}
	switch {
	case !s.Over:
		if p.recording != nil {
			p.recording.StageStart(record.Stage{N: s.N, Of: s.Of, Name: s.Name, Hosts: record.Fold(s.Hosts)})
		}
		say(" (%s), %s: %s", s.Name, hostCount(len(s.Hosts)), view.OneLine(strings.Join(hosts, " ")))
	case s.Stop:
		say(" ends the run: %d of %s failed or were not reached, %s had no turn", s.Lost, hostCount(s.SoFar),
			hostCount(s.Left))
	case s.Left > 0:
		next := ""
		if s.Pause > 0 {
			next = "; the next begins at " + time.Now().Add(s.Pause).Format(time.DateTime)
		}
		say(" is over: %d of %s failed or were not reached%s", s.Lost, hostCount(s.SoFar), next)
	}
}
