package cli

import (
	"fmt"
	"hark/controller/internal/argparse"

	"github.com/spf13/cobra"
)

// versionCommand is hark version.
func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		Args:  argparse.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprintln(a.term.Out, a.versionText("hark"))
			return nil
		},
	}
}
