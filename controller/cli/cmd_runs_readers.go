package cli

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/fleet"
	"hark/controller/internal/fleet/trust"
	"hark/controller/internal/ui/view"
)

// runsReaders is hark runs readers.
func runsReaders(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "readers", Short: "Who may read the records of this operator's runs", RunE: argparse.NeedCommand,
		Args: cobra.ArbitraryArgs,
		Long: "Records, facts and words on duties at the broker are sealed: they can be read by this operator and by the " +
			"readers that are named here. Whoever is added reads all that is there, and what comes; whoever is removed reads " +
			"nothing of later weeks, and may have kept what he has read.",
	}
	cmd.AddCommand(readersList(a), readersAdd(a), readersRemove(a))
	return cmd
}

// ownReader is the name of this operator in the list.
const ownReader = "(this operator)"

func readersList(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "list", Short: "List the readers, beginning with your own key",
		Args: argparse.NoArgs}
	fs := a.flags(cmd)
	fs.json(&asJSON)
	cmd.RunE = func(*cobra.Command, []string) error {
		self, _, err := trust.LoadOrCreate(a.cfg.Text("HARK_OPERATOR_KEY"), a.fleet.Home)
		if err != nil {
			return err
		}
		readers, err := trust.Readers(a.fleet.Home)
		if err != nil {
			return err
		}
		access, err := a.fleet.Access(a.cfg.Text("HARK_BROKER"))
		if err != nil && !errors.Is(err, fleet.ErrNoBroker) {
			return err
		}
		readers = append(append([]trust.Reader{{Name: ownReader, Key: self.XKey}}, access.Readers...), readers...)
		if asJSON {
			return a.term.PrintJSON(readers)
		}
		w := tabwriter.NewWriter(a.term.Out, 0, 8, 2, ' ', 0)
		fmt.Fprintln(w, "NAME\tKEY")
		for _, r := range readers {
			fmt.Fprintf(w, "%s\t%s\n", r.Name, r.Key)
		}
		return w.Flush()
	}
	return cmd
}

func readersAdd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "add", Short: "Let somebody read records", Annotations: map[string]string{"args": "name key"},
		Args:    exactly("name", "key"),
		Example: "  hark runs readers add bela XABC...",
	}
	onReaders(a, cmd, func(args []string) error { return trust.AddReader(a.fleet.Home, args[0], args[1]) },
		func(args []string) string {
			return args[0] + " reads records, facts and duties: what is at the broker, and what comes"
		})
	return cmd
}

func readersRemove(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove", Short: "Stop somebody from reading records of later weeks",
		Annotations: map[string]string{"args": "name"}, Args: exactly("name"),
	}
	onReaders(a, cmd, func(args []string) error { return trust.RemoveReader(a.fleet.Home, args[0]) },
		func(args []string) string { return args[0] + " reads no records of later weeks" })
	return cmd
}

// exactly demands so many arguments.
func exactly(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return &argparse.UsageError{Text: "the following arguments are required: " + names[len(args)]}
		case len(args) > len(names):
			return &argparse.UsageError{Text: "unrecognized arguments: " + args[len(names)]}
		}
		return nil
	}
}

// onReaders changes the list, and tells the broker who has this week's key now, if it is there.
func onReaders(a *app, cmd *cobra.Command, change func(args []string) error, done func(args []string) string) {
	var verbosity int
	var url string
	fs := a.flags(cmd)
	fs.verbosity(&verbosity)
	fs.broker(&url)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.begin(cmd, verbosity); err != nil {
			return err
		}
		if err := change(args); err != nil {
			return err
		}
		if err := share(cmd.Context(), a, url); err != nil {
			a.display.Warn(fmt.Sprintf("the broker was not told yet, it will be with the next run: %v", err))
		}
		a.display.Print(view.NoColor, done(args))
		return nil
	}
}

// share gives the readers the keys of all records, facts and words on duties that are at the broker.
func share(ctx context.Context, a *app, url string) error {
	b, err := a.fleet.Dial(ctx, url)
	if errors.Is(err, fleet.ErrNoBroker) {
		return nil
	}
	if err != nil {
		return err
	}
	defer b.Close()
	if err := b.MayCommand(); err != nil {
		return err
	}
	l, err := b.Ledger(a.fleet.Home)
	if err == nil {
		err = l.ShareAll(ctx)
	}
	if err != nil {
		return err
	}
	facts, err := factsOf(b, a.fleet.Home)
	if err == nil {
		err = facts.ShareAll(ctx)
	}
	if err != nil {
		return err
	}
	readers, err := b.Readers(a.fleet.Home)
	if err != nil {
		return err
	}
	duties, err := dutystate.Open(b.Conn(), b.Operator, readers, b.Believes)
	if err != nil {
		return err
	}
	return duties.ShareAll(ctx)
}
