package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/argparse"
)

// newVersionCommand is hark version.
func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		Args:  argparse.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprintln(a.term.Out, versionText(a, "hark"))
			return nil
		},
	}
}
