// Command hark-agent is the resident side of hark: it serves one host.
package main

import (
	"errors"
	"fmt"
	"os"

	"hark/agent/version"

	"github.com/spf13/cobra"
)

func main() { os.Exit(execute(root())) }

// execute runs a command and gives the exit code.
func execute(cmd *cobra.Command) int {
	begun := false
	cmd.PersistentPreRun = func(*cobra.Command, []string) { begun = true }
	err := cmd.Execute()
	var config *configError
	var child childError
	if errors.As(err, &child) {
		return int(child)
	}
	if err != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "hark-agent:", err)
	}
	switch {
	case err == nil:
		return 0
	case errors.As(err, &config):
		return exitConfig
	case !begun:
		return exitUsage
	}
	return 1
}

// exitUsage says that the command line makes no sense.
const exitUsage = 2

// exitConfig tells the service manager that starting again does not help (EX_CONFIG of sysexits.h).
const exitConfig = 78

// configError is a configuration that the agent cannot run with.
type configError struct{ error }

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hark-agent",
		Short: "The resident agent of hark",
		Long: "hark-agent lives on every target, listens for what its operators have signed and does it where the " +
			"work is.",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	// A version of cobra's own brings text/template, with which the linker keeps every exported method: 5 MB.
	shown := cmd.Flags().BoolP("version", "v", false, "print the version")
	cmd.Run = func(cmd *cobra.Command, _ []string) {
		if *shown {
			printVersion(cmd, nil)
			return
		}
		_ = cmd.Help()
	}
	cmd.AddCommand(runCommand(), joinCommand(), setupCommand(), selftestCommand(), guardCommand(), ephemeralCommand(),
		versionCommand(), checkCommand(), holdCommand(), releaseCommand(), jobCommand(), workerCommand())
	cmd.AddCommand(serviceCommands()...)
	cmd.AddCommand(extraCommands()...)
	return cmd
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		Run:   printVersion,
	}
}

func printVersion(cmd *cobra.Command, _ []string) {
	fmt.Fprintln(cmd.OutOrStdout(), "hark-agent", version.String())
}
