package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/fleet"
	"hark/controller/internal/runs/collect"
	"hark/controller/internal/runs/ledger"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
)

// runsCollect is one call of hark runs collect.
type runsCollect struct {
	*app
	wait   time.Duration
	asJSON bool
}

func (j *runsCollect) command() *cobra.Command {
	cmd := &cobra.Command{
		Use: "collect", Short: "Finish a run whose controller died", Annotations: map[string]string{"args": "run"},
		Args: exactly("run"),
		Long: "Asks the agents of a run that was lost what became of it, which they keep for a day, and adds that to the " +
			"record: then the fate of every host is known, or that it did not answer. It begins nothing and ends nothing on " +
			"the hosts. It is called where the run was started, by the same operator.",
		Example: "  hark runs collect last",
	}
	fs := onBroker(j.app, cmd, j.collect)
	fs.Span(&j.wait, "wait", 2*time.Minute, "DURATION",
		"how long hosts may take to come to the end of what they are at (default: 2m)")
	fs.json(&j.asJSON)
	checkFirst(cmd, func() error {
		if j.wait <= 0 {
			return &argparse.UsageError{Text: "argument --wait: must be a time to come"}
		}
		return nil
	})
	return cmd
}

func (j *runsCollect) collect(ctx context.Context, b *fleet.Connection, args []string) error {
	store := runStore(j.app)
	e, err := record.Choose(ctx, store, args[0])
	if err != nil {
		return err
	}
	if e.Head.Who != "" && e.Head.Who != b.Operator.Key {
		return ansibleerror.Errorf("run %s is of another operator: %s", e.Head.Run, e.Head.Who)
	}
	job := collect.Job{Home: j.fleet.Home, Run: e.Head.Run, Store: store, Transport: b, Operator: b.Operator,
		Limit: j.wait, Logger: j.logTo(), Now: time.Now}
	r, err := job.Collect(ctx)
	if err != nil {
		return err
	}
	if r.Ended {
		j.send(ctx, b, e.Head.Run)
	}
	if j.asJSON {
		err = j.term.PrintJSON(r)
	} else {
		j.print(e.Head.Run, r)
	}
	if err == nil && !r.Ended {
		err = &quietError{exitError}
	}
	return err
}

// send sends what was added.
func (j *runsCollect) send(ctx context.Context, b *fleet.Connection, run string) {
	ctx, cancel := context.WithTimeout(ctx, sendLimit)
	defer cancel()
	err := ledger.Note(j.fleet.Home, run)
	if err == nil {
		var l *ledger.Ledger
		if l, err = b.Ledger(j.fleet.Home); err == nil {
			err = l.Send(ctx, runStore(j.app), run)
		}
	}
	if err != nil {
		j.display.Warn(fmt.Sprintf("the broker does not have it yet: %v", err))
	}
}

func (j *runsCollect) print(run string, r *collect.Result) {
	for _, part := range []struct {
		hosts []string
		text  string
	}{{r.Complete, "told what they had kept"}, {r.Silent, "did not answer"}, {r.Busy, "still at it"}} {
		if len(part.hosts) > 0 {
			fmt.Fprintf(j.term.Out, "%d %s: %s\n", len(part.hosts), part.text, strings.Join(view.Fold(part.hosts), " "))
		}
	}
	if r.Gap != "" {
		j.display.Warn(r.Gap)
	}
	if r.Ended {
		fmt.Fprintf(j.term.Out, "run %s has an end now: %d results were added; `hark runs show %s`\n", run, r.Events, run)
		return
	}
	fmt.Fprintf(j.term.Out, "run %s has no end yet: call this again when those hosts are done\n", run)
}
