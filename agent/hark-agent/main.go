// Command hark-agent is the resident side of hark: it serves one host.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// version is set by the linker.
var version = "dev"

func main() {
	if err := root().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "hark-agent:", err)
		var config *configError
		if errors.As(err, &config) {
			os.Exit(exitConfig)
		}
		os.Exit(1)
	}
}

// exitConfig tells the service manager that starting again does not help (EX_CONFIG of sysexits.h).
const exitConfig = 78

// configError is a configuration that the agent cannot run with.
type configError struct{ error }

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "hark-agent",
		Short:         "The resident agent of hark",
		Long:          "hark-agent lives on every target, listens for what its operators have signed and does it where the work is.",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.AddCommand(runCommand(), joinCommand(), setupCommand(), selftestCommand(), guardCommand(), ephemeralCommand(), versionCommand(), checkCommand(), jobCommand(), workerCommand())
	cmd.AddCommand(serviceCommands()...)
	cmd.AddCommand(extraCommands()...)
	return cmd
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		Run:   func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), "hark-agent", version) },
	}
}
