package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/fleet"
	"hark/controller/internal/play/link"
	"hark/controller/internal/runs/files"
	"hark/controller/internal/runs/ledger"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
)

// fleetRuns returns the commands of hark runs that are about runs of other machines and of other people.
func fleetRuns(a *app) []*cobra.Command {
	return []*cobra.Command{(&runsCollect{app: a}).command(), (&runsAudit{app: a}).command(), runsPush(a), runsReaders(a)}
}

// allRuns returns the runs of this machine and of the fleet. The connection that they may need lasts as long as the
// command.
func allRuns(a *app) *fleet.Runs {
	if a.runs == nil {
		var (
			once  sync.Once
			store record.Store
			err   error
		)
		a.runs = &fleet.Runs{Local: runStore(a), Fleet: func(ctx context.Context) (record.Store, error) {
			once.Do(func() { store, err = fleetRunStore(ctx, a) })
			return store, err
		}}
	}
	return a.runs
}

// fleetRunStore connects to the records at the broker until the command ends; nil if no broker is known.
func fleetRunStore(ctx context.Context, a *app) (record.Store, error) {
	b, err := a.fleet.Dial(ctx, a.cfg.Text("HARK_BROKER"))
	if errors.Is(err, fleet.ErrNoBroker) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	a.atEnd = append(a.atEnd, func() { _ = b.Close() })
	l, err := b.Ledger(a.fleet.Home)
	if err != nil {
		return nil, err
	}
	return l.Store(), nil
}

// checkFirst has flags checked before the broker is asked for anything.
func checkFirst(cmd *cobra.Command, check func() error) {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := check(); err != nil {
			return err
		}
		return run(cmd, args)
	}
}

func runsPush(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "push", Short: "Send records that the broker missed while it was away", Args: argparse.NoArgs,
		Long: "Records go to the broker while a run goes on; what is left at its end goes with the next run, or now.",
	}
	onBroker(a, cmd, func(ctx context.Context, b *fleet.Connection, _ []string) error {
		if err := b.MayCommand(); err != nil {
			return err
		}
		l, err := b.Ledger(a.fleet.Home)
		if err != nil {
			return err
		}
		if _, err := l.Share(ctx); err != nil {
			return fmt.Errorf("cannot give the readers the key of this week's records: %w", err)
		}
		before, err := ledger.Unsent(a.fleet.Home)
		if err != nil {
			return err
		}
		left, err := l.SendAll(ctx, runStore(a))
		if err != nil {
			return err
		}
		a.display.Print(view.NoColor, fmt.Sprintf("%d records sent, %d left", max(len(before)-left, 0), left))
		return nil
	})
	return cmd
}

// here demands that the record of a run is on this machine.
func here(e *record.Entry) error {
	if e.Origin != files.Origin {
		return ansibleerror.Errorf("run %s was started on another machine (%s): its record there is needed for that",
			e.Head.Run, whence(e))
	}
	return nil
}

// whence is who started a run, and where.
func whence(e *record.Entry) string {
	if e.Head.From == "" {
		return e.Head.Name
	}
	return e.Head.From
}

// stopRemote asks the controller of a run on another machine to stop it. It obeys its own operator only.
func stopRemote(ctx context.Context, a *app, e *record.Entry) error {
	b, err := a.fleet.Dial(ctx, a.cfg.Text("HARK_BROKER"))
	if err != nil {
		return err
	}
	defer b.Close()
	if e.Head.Who != b.Operator.Key {
		return ansibleerror.Errorf(
			"run %s is of another operator, and its controller obeys only that one: ask %s (%s) to stop it", e.Head.Run,
			whence(e), e.Head.Who)
	}
	ctx, cancel := context.WithTimeout(ctx, sendLimit)
	defer cancel()
	if err := link.RequestRunStop(ctx, b, b.Operator, e.Head.Run); err != nil {
		return fmt.Errorf("cannot stop run %s on %s: %w", e.Head.Run, whence(e), err)
	}
	return nil
}
