package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/runs/ledger"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
)

// runsStop is one call of hark runs stop.
type runsStop struct {
	*app
	asJSON bool
}

func (j *runsStop) command() *cobra.Command {
	cmd := &cobra.Command{
		Use: "stop", Short: "Stop a run as Ctrl-C at its terminal does; a second time it ends at once",
		Annotations: map[string]string{"args": "run"},
		Example:     "  hark runs stop last",
	}
	fs := ofRuns(j.app, cmd, 1, 1, func(ctx context.Context, runs []record.Entry) error { return j.stop(ctx, &runs[0]) })
	fs.json(&j.asJSON)
	return cmd
}

func (j *runsStop) stop(ctx context.Context, e *record.Entry) error {
	if e.State != record.Running {
		return ansibleerror.Errorf("run %s is not under way: it is %s", e.Head.Run, e.Word())
	}
	stop := func() error { return runStore(j.app).Stop(e.Head.Run) }
	if e.Origin == ledger.Origin {
		stop = func() error { return stopRemote(ctx, j.app, e) }
	}
	if err := stop(); err != nil {
		return err
	}
	return sayDone(j.app, j.asJSON, e, "stopping",
		"was asked to stop; `hark runs tail -f "+e.Head.Run+"` shows how it ends")
}

// sayDone returns what was done with a run.
func sayDone(a *app, asJSON bool, e *record.Entry, word, text string) error {
	if asJSON {
		return a.term.PrintJSON(map[string]string{"run": e.Head.Run, "state": word})
	}
	a.display.Print(view.NoColor, fmt.Sprintf("run %s %s", e.Head.Run, text))
	return nil
}

// runsKeep is one call of hark runs keep.
type runsKeep struct {
	*app
	no, asJSON bool
}

func (j *runsKeep) command() *cobra.Command {
	cmd := &cobra.Command{
		Use: "keep", Short: "Keep a run for ever, whatever HARK_RUNS_KEEP says",
		Annotations: map[string]string{"args": "run"}, Example: "  hark runs keep k3f9",
	}
	fs := ofRuns(j.app, cmd, 1, 1, func(_ context.Context, runs []record.Entry) error { return j.keep(&runs[0]) })
	fs.Toggle(&j.no, "no", "", false, "keep it as long as others again")
	fs.json(&j.asJSON)
	return cmd
}

func (j *runsKeep) keep(e *record.Entry) error {
	if err := here(e); err != nil {
		return err
	}
	if err := runStore(j.app).Pin(e.Head.Run, !j.no); err != nil {
		return err
	}
	if j.no {
		return sayDone(j.app, j.asJSON, e, "not kept", "is kept as long as others")
	}
	return sayDone(j.app, j.asJSON, e, "kept", "is kept")
}
