package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// versionCommand is hark version.
func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprintln(a.Out, a.versionText("hark"))
			return nil
		},
	}
}

func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &usageError{text: "unrecognized arguments: " + args[0]}
	}
	return nil
}

// needs demands at least one argument, which it names when there is none.
func needs(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return &usageError{text: "the following arguments are required: " + name}
		}
		return nil
	}
}
