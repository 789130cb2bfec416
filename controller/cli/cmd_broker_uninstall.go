package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/argparse"
)

func newBrokerUninstallCommand(a *app) *cobra.Command {
	var verbosity int
	cmd := &cobra.Command{
		Use: "uninstall", Short: "Stop the broker's service and remove it; keys and data stay", Args: argparse.NoArgs,
		Long: "Stops the service that `hark broker install` has made and removes it. The directory with its keys, " +
			"certificates and the book of agents stays: installed again, the broker is the one that agents and operators " +
			"know. It needs root.",
	}
	a.flags(cmd).verbosity(&verbosity)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.begin(cmd, verbosity); err != nil {
			return err
		}
		was, err := brokerService().Remove()
		switch {
		case err != nil:
			return err
		case was:
			fmt.Fprintln(a.term.Out, "the broker's service is removed; its directory stays")
		default:
			fmt.Fprintln(a.term.Out, "the broker is not installed as a service")
		}
		return nil
	}
	return cmd
}
